// SPDX-License-Identifier: Apache-2.0

extension PublicKey {
    /// Modulus and exponent of an RSA key, big-endian and without leading zeros; nil for a key of a curve.
    package var rsaNumbers: (modulus: [UInt8], exponent: [UInt8])? {
        guard type == .rsa else { return nil }
        return externalRepresentation.withUnsafeBytes { bytes in
            var reader = DERReader(bytes)
            return reader.sequence { reader in
                guard let modulus = reader.unsignedInteger(), let exponent = reader.unsignedInteger() else {
                    return nil
                }
                return (Array(modulus), Array(exponent))
            }
        }
    }

    /// Makes an RSA key of its numbers, big-endian; nil when a key of these is not accepted.
    package convenience init?(modulus: some Collection<UInt8>, exponent: some Collection<UInt8>) {
        self.init(
            DERWriter.element(DERTag.sequence, DERWriter.integer(modulus), DERWriter.integer(exponent)), type: .rsa)
    }
}
