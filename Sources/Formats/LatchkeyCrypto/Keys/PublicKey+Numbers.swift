// SPDX-License-Identifier: Apache-2.0

extension PublicKey {
    /// Modulus and exponent of an RSA key, big-endian without leading zeros; nil for an elliptic curve key.
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

    /// Creates an RSA key from its big-endian numbers; nil when `acceptedBitCount` rejects them.
    package convenience init?(modulus: some Collection<UInt8>, exponent: some Collection<UInt8>) {
        self.init(
            DERWriter.element(DERTag.sequence, DERWriter.integer(modulus), DERWriter.integer(exponent)), type: .rsa)
    }
}
