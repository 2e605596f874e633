// SPDX-License-Identifier: Apache-2.0

package import LatchkeyCrypto
package import LatchkeyModel

/// The endorsement key of a TPM, which its maker certifies and which identifies the device for as long as it exists.
///
/// Only the two templates that the TCG defines for every TPM are supported ("TCG EK Credential Profile for TPM Family
/// 2.0", appendix B.3.3 and B.3.4, templates L-1 and L-2). The key decrypts only; it is used after a proof that the
/// password of the endorsement hierarchy is known, which is empty by default.
package struct EndorsementKey: Equatable, Sendable {
    /// A template from which every TPM makes its one key.
    package enum Template: CaseIterable, Sendable {
        case p256
        case rsa2048

        /// The NV index at which the maker stores the certificate of the key (the same document, section 2.2.1.4).
        package var certificateIndex: TPMHandle {
            switch self {
            case .p256: TPMHandle(0x01c0_000a)
            case .rsa2048: TPMHandle(0x01c0_0002)
            }
        }

        /// The template that `TPM2_CreatePrimary` takes.
        package func encoded() throws(Failure) -> [UInt8] {
            let zero = [UInt8](repeating: 0, count: 256)
            switch self {
            case .p256: return try encoded([Array(zero[..<32]), Array(zero[..<32])])
            case .rsa2048: return try encoded([zero])
            }
        }

        /// A public area (`TPMT_PUBLIC`) with these numbers: the modulus, or the coordinates of the point.
        fileprivate func encoded(_ numbers: [[UInt8]]) throws(Failure) -> [UInt8] {
            var writer = TPMWriter()
            writer.add(try EndorsementKey.header(self))
            for number in numbers { try writer.add(sized: number) }
            return writer.bytes
        }
    }

    package let template: Template
    package let publicKey: PublicKey
    /// The public area (`TPMT_PUBLIC`), exactly as the TPM encodes it.
    package let encoded: [UInt8]

    /// Bytes of an encoded public area at most.
    package static let areaBytes = 512

    /// Decodes a public area. Throws `TPMReader.malformed` for any other template and for an invalid key.
    package init(decoding bytes: [UInt8]) throws(Failure) {
        for template in Template.allCases {
            let header = try Self.header(template)
            guard bytes.starts(with: header) else { continue }
            var reader = TPMReader(bytes.dropFirst(header.count))
            let key: PublicKey?
            let numbers: [[UInt8]]
            switch template {
            case .p256:
                numbers = [try reader.sized(limit: 32), try reader.sized(limit: 32)]
                key = PublicKey(
                    [4] + numbers.flatMap { [UInt8](repeating: 0, count: 32 - $0.count) + $0 },
                    type: .ellipticCurve(.p256))
            case .rsa2048:
                numbers = [try reader.sized(limit: 256)]
                // The exponent 0 of the template stands for 65537.
                key = numbers[0].count == 256 ? PublicKey(modulus: numbers[0], exponent: [1, 0, 1]) : nil
            }
            try reader.checkEnd()
            guard let key else { throw TPMReader.malformed }
            (self.template, publicKey, encoded) = (template, key, bytes)
            return
        }
        throw TPMReader.malformed
    }

    /// The name, which identifies the device.
    package func name() throws(Failure) -> [UInt8] { try TPMName.of(encoded) }

    /// Everything in the public area before the numbers of the key.
    private static func header(_ template: Template) throws(Failure) -> [UInt8] {
        var writer = TPMWriter()
        writer.add(template == .p256 ? TPMAlgorithm.ecc : .rsa)
        writer.add(.sha256)
        let attributes: TPMObjectAttributes = [
            .fixedTPM, .fixedParent, .sensitiveDataOrigin, .adminWithPolicy, .restricted, .decrypt,
        ]
        writer.add(attributes.rawValue)
        try writer.add(sized: PolicyDigest().secret(of: TPMName.of(.endorsement)).bytes)
        writer.add(.aes)
        writer.add(UInt16(128))
        writer.add(.cfb)
        // No fixed scheme.
        writer.add(TPMAlgorithm.none)
        switch template {
        case .p256:
            // Curve P-256, no key derivation scheme.
            writer.add(UInt16(3))
            writer.add(TPMAlgorithm.none)
        case .rsa2048:
            // Bits of the modulus, and the default exponent.
            writer.add(UInt16(2048))
            writer.add(UInt32(0))
        }
        return writer.bytes
    }
}
