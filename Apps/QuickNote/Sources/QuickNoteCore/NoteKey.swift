// SPDX-License-Identifier: Apache-2.0

import Foundation
import Security

/// The key that seals every note: a P-256 key pair of the app, since `Security` encrypts with key pairs. Its private
/// key is 97 bytes (X9.63: 04 ‖ X ‖ Y ‖ K) and exists only in the keychain and in this object.
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

    /// Creates a random key that is not in the keychain yet.
    convenience init() throws(QuickNoteError) {
        try self.init(SecKeyCreateRandomKey(Self.kind as CFDictionary, nil), "The system could not create a key.")
    }

    /// Restores a key from the bytes of its keychain item.
    convenience init(_ data: Data) throws(QuickNoteError) {
        let attributes = Self.kind.merging([kSecAttrKeyClass as String: kSecAttrKeyClassPrivate]) { $1 }
        try self.init(
            SecKeyCreateWithData(data as CFData, attributes as CFDictionary, nil),
            "The key in the keychain is damaged.")
    }

    /// The private key, for its keychain item.
    var data: Data {
        get throws(QuickNoteError) {
            guard let data = SecKeyCopyExternalRepresentation(privateKey, nil) else {
                throw .internalFault("The key cannot be exported.")
            }
            return data as Data
        }
    }
}
