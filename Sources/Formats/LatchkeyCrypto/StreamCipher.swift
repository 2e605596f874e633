// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

/// HMAC-SHA-256 (RFC 2104) with a key of any length, for formats of others. The formats of Latchkey use `SymmetricKey`.
package enum HMACSHA256 {
    /// Returns the code of a message, 32 bytes.
    package static func code(key: SecretBytes, message: [UInt8]) throws(Failure) -> [UInt8] {
        var code = [UInt8](repeating: 0, count: 32)
        let isMade = code.withUnsafeMutableBytes { output in
            key.withBytes { key in message.withUnsafeBytes { OpenSSL.hmac(key: key, $0, output: output) } }
        }
        guard isMade else { throw Failure(.internalFailure, "libcrypto could not authenticate") }
        return code
    }
}

/// SHA-256 (FIPS 180-4).
package enum SHA256 {
    /// Bytes of a hash.
    package static let byteCount = 32

    package static func hash(_ message: [UInt8]) throws(Failure) -> [UInt8] {
        var hash = [UInt8](repeating: 0, count: byteCount)
        let isMade = hash.withUnsafeMutableBytes { output in
            message.withUnsafeBytes { OpenSSL.hash($0, output: output) }
        }
        guard isMade else { throw Failure(.internalFailure, "libcrypto could not hash") }
        return hash
    }
}

/// AES-128 in CFB mode (NIST SP 800-38A, section 6.3, with segments of 128 bits), which a TPM uses for parameters. It
/// does not authenticate.
package enum StreamCipher {
    package enum Direction: Sendable {
        case encrypt
        case decrypt
    }

    /// Encrypts or decrypts.
    ///
    /// - Parameter material: the key and the initialization vector, 16 bytes each.
    package static func apply(
        _ direction: Direction, to input: SecretBytes, keyAndVector material: SecretBytes
    ) throws(Failure) -> SecretBytes {
        guard material.count == 32 else { throw Failure(.internalFailure, "wrong length of a key") }
        var isMade = false
        let output = SecretBytes(count: input.count) { target in
            isMade = material.withBytes { material in
                input.withBytes { input in
                    OpenSSL.cfb(
                        encrypts: direction == .encrypt, key: UnsafeRawBufferPointer(rebasing: material[..<16]),
                        vector: UnsafeRawBufferPointer(rebasing: material[16...]), input, output: target)
                }
            }
        }
        guard isMade else { throw Failure(.internalFailure, "libcrypto could not encrypt") }
        return output
    }
}
