// SPDX-License-Identifier: Apache-2.0

/// Public keys in the form of COSE (RFC 9052, section 7).
enum COSEKey {
    /// Reads a key: exactly the parameters of its algorithm, and nothing else (WebAuthn Level 3, sections 5.8.5 and 6.5.1.1).
    ///
    /// | algorithm | type (1) | parameters |
    /// | --- | --- | --- |
    /// | ES256 | 2, EC2 | curve (-1) 1, P-256; x (-2) and y (-3), 32 bytes each (RFC 9053, section 7.1.1) |
    /// | EdDSA | 1, OKP | curve (-1) 6, Ed25519; x (-2), 32 bytes (RFC 9053, section 7.2) |
    /// | RS256 | 3, RSA | modulus (-1) and exponent (-2) without leading zeros (RFC 8230, section 4) |
    static func read(_ value: CBORValue) throws(VerificationError) -> VerificationKey {
        guard let algorithm = value[.integer(3)]?.integer.flatMap(SignatureAlgorithm.init) else { throw .publicKey }
        let bytes: [UInt8]? =
            switch algorithm {
            case .es256: point(value)
            case .eddsa: edwardsPoint(value)
            case .rs256: information(value)
            }
        guard let bytes else { throw .publicKey }
        return try VerificationKey(algorithm: algorithm, bytes: bytes)
    }

    private static func point(_ value: CBORValue) -> [UInt8]? {
        guard value.entryCount == 5, value[.integer(1)] == .integer(2), value[.integer(-1)] == .integer(1),
            let x = value[.integer(-2)]?.bytes, let y = value[.integer(-3)]?.bytes, x.count == 32, y.count == 32
        else { return nil }
        return [4] + x + y
    }

    private static func edwardsPoint(_ value: CBORValue) -> [UInt8]? {
        guard value.entryCount == 4, value[.integer(1)] == .integer(1), value[.integer(-1)] == .integer(6) else {
            return nil
        }
        return value[.integer(-2)]?.bytes
    }

    private static func information(_ value: CBORValue) -> [UInt8]? {
        guard value.entryCount == 4, value[.integer(1)] == .integer(3), let modulus = value[.integer(-1)]?.bytes,
            value[.integer(-2)]?.bytes == RSAPublicKey.exponent
        else { return nil }
        return RSAPublicKey.information(modulus: modulus)
    }
}
