// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
import LatchkeyModel

/// The file with the private key that approves uses of keys: a mark, the checksum of the public key, the scalar. It is
/// read and written in memory that is wiped.
struct ApprovalKeyFile {
    /// Bytes of the private key.
    static let scalarBytes = 32
    private static let codeBytes = 32

    let scalar: SecretBytes
    /// The public key, 65 bytes.
    let point: [UInt8]
    let code: [UInt8]

    /// Reads a file; nil unless it has this form and a private key.
    init?(_ bytes: SecretBytes) {
        let mark = FileMark.approvalKey.bytes
        let parts: (code: [UInt8], scalar: SecretBytes)? = bytes.withBytes { bytes in
            guard bytes.count == mark.count + Self.codeBytes + Self.scalarBytes, bytes.starts(with: mark) else {
                return nil
            }
            let code = Array(bytes[mark.count..<mark.count + Self.codeBytes])
            let scalar = UnsafeRawBufferPointer(rebasing: bytes[(mark.count + Self.codeBytes)...])
            return (code, SecretBytes(copying: scalar))
        }
        guard let parts, let point = PrivateScalar(parts.scalar, curve: .p256)?.publicPoint else { return nil }
        (scalar, self.point, code) = (parts.scalar, point, parts.code)
    }

    static func encode(_ scalar: SecretBytes, code: [UInt8]) -> SecretBytes {
        let head = FileMark.approvalKey.bytes + code
        return SecretBytes(count: head.count + scalar.count) { target in
            UnsafeMutableRawBufferPointer(rebasing: target[..<head.count]).copyBytes(from: head)
            scalar.withBytes {
                UnsafeMutableRawBufferPointer(rebasing: target[head.count...]).copyMemory(from: $0)
            }
        }
    }
}
