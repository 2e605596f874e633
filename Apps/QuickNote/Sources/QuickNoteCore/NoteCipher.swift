// SPDX-License-Identifier: Apache-2.0

internal import CQuickNoteCrypto
import Foundation
import Security

/// AES-256-GCM by libcrypto. Sealed bytes are: version (1), nonce (12), ciphertext, tag (16). The note's id is bound to
/// them, so that notes cannot be put in each other's places.
enum NoteCipher {
    private static let version: UInt8 = 1
    private static let nonceBytes = 12
    private static let tagBytes = 16
    /// What sealing adds.
    static let overhead = 1 + nonceBytes + tagBytes

    static func seal(_ text: Data, id: UUID, key: NoteKey) throws(QuickNoteError) -> Data {
        // Random, 96 bits: the chance of a second use stays below 2^-32 for 2^32 saves (SP 800-38D, section 8.3).
        var nonce = [UInt8](repeating: 0, count: nonceBytes)
        guard SecRandomCopyBytes(kSecRandomDefault, nonceBytes, &nonce) == errSecSuccess else {
            throw .internalFault("The system gave no random bytes.")
        }
        guard let (sealed, tag) = run(true, Array(text), nonce, [UInt8](repeating: 0, count: tagBytes), id, key) else {
            throw .internalFault("A note could not be sealed.")
        }
        return Data([version] + nonce + sealed + tag)
    }

    /// Opens what `seal` made; nil for anything else.
    static func open(_ data: Data, id: UUID, key: NoteKey) -> Data? {
        let bytes = Array(data)
        guard bytes.count >= overhead, bytes.first == version else { return nil }
        let nonce = Array(bytes[1..<(1 + nonceBytes)])
        let sealed = Array(bytes[(1 + nonceBytes)..<(bytes.count - tagBytes)])
        return run(false, sealed, nonce, Array(bytes.suffix(tagBytes)), id, key).map { Data($0.output) }
    }

    private static func run(
        _ isSealing: Bool, _ input: [UInt8], _ nonce: [UInt8], _ tag: [UInt8], _ id: UUID, _ key: NoteKey
    ) -> (output: [UInt8], tag: [UInt8])? {
        guard let context = EVP_CIPHER_CTX_new(), let size = Int32(exactly: input.count) else { return nil }
        defer { EVP_CIPHER_CTX_free(context) }
        var (output, tag) = ([UInt8](repeating: 0, count: input.count), tag)
        var (length, ended) = (Int32(0), Int32(0))
        let direction: Int32 = isSealing ? 1 : 0
        let bound = Array("QuickNote note ".utf8) + withUnsafeBytes(of: id.uuid) { Array($0) }
        let isBegun = key.withBytes { key in
            EVP_CipherInit_ex(
                context, EVP_aes_256_gcm(), nil, key.baseAddress?.assumingMemoryBound(to: UInt8.self), nonce, direction)
        }
        guard isBegun == 1, EVP_CipherUpdate(context, nil, &length, bound, Int32(bound.count)) == 1 else { return nil }
        // The tag is set before the last step: it fails when the tag is another's.
        guard isSealing || EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_GCM_SET_TAG, Int32(tag.count), &tag) == 1,
            EVP_CipherUpdate(context, &output, &length, input, size) == 1,
            EVP_CipherFinal_ex(context, nil, &ended) == 1,
            !isSealing || EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_GCM_GET_TAG, Int32(tag.count), &tag) == 1
        else { return nil }
        return (output, tag)
    }
}
