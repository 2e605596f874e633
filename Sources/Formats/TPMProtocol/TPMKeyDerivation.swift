// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
package import LatchkeyModel

/// `KDFa` with SHA-256 (Part 1, section 11.4.10.2): the key derivation of sessions and of protected structures.
package enum TPMKeyDerivation {
    /// Derives a key.
    ///
    /// - Parameters:
    ///   - label: the purpose, in ASCII.
    ///   - first: the first context value of the specification (`contextU`); often empty.
    ///   - second: the second one (`contextV`).
    ///   - bits: the length of the key, a multiple of 8 and at most 256. It takes part in the derivation.
    package static func derive(
        _ key: SecretBytes, _ label: String, _ first: [UInt8] = [], _ second: [UInt8] = [], bits: UInt32 = 256
    ) throws(Failure) -> SecretBytes {
        guard bits <= 256, bits.isMultiple(of: 8) else { throw Failure(.internalFailure, "wrong length of a key") }
        var writer = TPMWriter()
        writer.add(UInt32(1))
        writer.add(label.utf8)
        writer.add(UInt8(0))
        writer.add(first)
        writer.add(second)
        writer.add(bits)
        var code = try HMACSHA256.code(key: key, message: writer.bytes)
        defer { wipe(&code) }
        return SecretBytes(code.prefix(Int(bits / 8)))
    }
}
