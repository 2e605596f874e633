// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

extension KeyType {
    /// What items of the keychain call it.
    package var family: KeyFamily {
        switch self {
        case .rsa: .rsa
        case .ellipticCurve: .ellipticCurve
        }
    }
}

// MARK: - Into the keychain

extension PublicKey {
    /// SHA-1 of the external form, by which both halves and their certificates are found (behaviour SK-09).
    package func itemHash() throws(Failure) -> [UInt8] {
        try DigestAlgorithm.sha1.hash(externalRepresentation)
    }

    /// What an item of the keychain says of this key, or of the private half of its pair (behaviour SK-09).
    package func itemAttributes(_ half: KeyHalf) throws(Failure) -> Attributes {
        var attributes = Attributes.ofKey(half, type.family, bitCount: bitCount, isPermanent: true)
        attributes[.applicationLabel] = .data(try itemHash())
        return attributes
    }
}

// MARK: - Out of the keychain

/// A key as an item of the keychain holds it.
package enum StoredKey: Sendable {
    case publicKey(PublicKey)
    case privateKey(PrivateKey)

    /// Reads an item; nil when attributes and bytes are those of no key that is computed with.
    package init?(_ attributes: Attributes, _ bytes: SecretBytes) {
        guard case .number(let number) = attributes[.keyClass], let half = KeyHalf(rawValue: number),
            case .number(let code) = attributes[.keyType], let family = KeyFamily(rawValue: code)
        else { return nil }
        switch (half, family) {
        case (.publicKey, .rsa):
            guard let key = PublicKey(rsaInEitherForm: bytes.copyBytes()) else { return nil }
            self = .publicKey(key)
        case (.publicKey, .ellipticCurve):
            guard let key = PublicKey(point: bytes.copyBytes()) else { return nil }
            self = .publicKey(key)
        case (.privateKey, .rsa):
            guard let key = PrivateKey(bytes, type: .rsa) else { return nil }
            self = .privateKey(key)
        case (.privateKey, .ellipticCurve):
            let curve = Curve.allCases.first { $0.pointBytes + $0.byteCount == bytes.count }
            guard let key = curve.flatMap({ PrivateKey(bytes, type: .ellipticCurve($0)) }) else { return nil }
            self = .privateKey(key)
        }
    }
}
