// SPDX-License-Identifier: Apache-2.0

import Foundation
import Security

/// The key that every note is sealed with: a P-256 pair of the app's own, since a pair is what `Security` encrypts with.
/// Its private half is 97 bytes (X9.63: 04 ‖ X ‖ Y ‖ K), and nothing but the keychain and this object holds it.
final class NoteKey: Sendable {
    let privateKey: SecKey
    let publicKey: SecKey

    private static var kind: [String: Any] {
        [kSecAttrKeyType as String: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeySizeInBits as String: 256]
    }

    private init(_ privateKey: SecKey?, _ words: String) throws(QuickNoteError) {
        guard let privateKey, let publicKey = SecKeyCopyPublicKey(privateKey) else { throw .internalFault(words) }
        self.privateKey = privateKey
        self.publicKey = publicKey
    }

    /// A new random key, which is in no keychain.
    convenience init() throws(QuickNoteError) {
        try self.init(SecKeyCreateRandomKey(Self.kind as CFDictionary, nil), "The system made no key.")
    }

    /// Takes a key out of the keychain.
    convenience init(_ data: Data) throws(QuickNoteError) {
        let attributes = Self.kind.merging([kSecAttrKeyClass as String: kSecAttrKeyClassPrivate]) { $1 }
        try self.init(
            SecKeyCreateWithData(data as CFData, attributes as CFDictionary, nil),
            "The key in the keychain is damaged.")
    }

    /// The private half for the keychain.
    var data: Data {
        get throws(QuickNoteError) {
            guard let data = SecKeyCopyExternalRepresentation(privateKey, nil) else {
                throw .internalFault("The key cannot be kept.")
            }
            return data as Data
        }
    }
}
