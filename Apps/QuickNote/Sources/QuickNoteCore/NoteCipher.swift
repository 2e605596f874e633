// SPDX-License-Identifier: Apache-2.0

import Foundation
import Security

/// ECIES with AES-GCM by `Security`. Sealed bytes consist of a version (1) and the ciphertext of the note's id (16
/// bytes) and its encoding. The id is included so that one note cannot be substituted for another.
enum NoteCipher {
    private static let version: UInt8 = 1
    private static let algorithm = SecKeyAlgorithm.eciesEncryptionStandardX963SHA256AESGCM
    /// Bytes that sealing adds: version, id, ephemeral public key (65) and tag (16).
    static let overhead = 1 + 16 + 65 + 16

    static func seal(_ text: Data, id: UUID, key: NoteKey) throws(QuickNoteError) -> Data {
        let plain = withUnsafeBytes(of: id.uuid) { Data($0) } + text
        guard let sealed = SecKeyCreateEncryptedData(key.publicKey, algorithm, plain as CFData, nil) else {
            throw .internalFault("A note could not be sealed.")
        }
        return Data([version]) + (sealed as Data)
    }

    /// Decrypts the result of `seal`; nil for anything else, or a note with another id.
    static func open(_ data: Data, id: UUID, key: NoteKey) -> Data? {
        guard data.first == version,
            let opened = SecKeyCreateDecryptedData(key.privateKey, algorithm, data.dropFirst() as CFData, nil)
        else { return nil }
        let plain = opened as Data
        guard plain.prefix(16) == withUnsafeBytes(of: id.uuid, { Data($0) }) else { return nil }
        return Data(plain.dropFirst(16))
    }
}
