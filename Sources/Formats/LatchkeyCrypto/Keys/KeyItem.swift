// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

extension KeyType {
    /// The value of this type in the attributes of a keychain item.
    package var family: KeyFamily {
        switch self {
        case .rsa: .rsa
        case .ellipticCurve: .ellipticCurve
        }
    }
}

// MARK: - Keys to keychain items

extension PublicKey {
    /// SHA-1 of the external representation. Public key, private key and their certificates share it (behaviour SK-09).
    package func itemHash() throws(Failure) -> [UInt8] { try DigestAlgorithm.sha1.hash(externalRepresentation) }

    /// The attributes of a keychain item that holds this key, or the private key of its pair (behaviour SK-09).
    package func itemAttributes(_ half: KeyHalf) throws(Failure) -> Attributes {
        var attributes = Attributes.ofKey(half, type.family, bitCount: bitCount, isPermanent: true)
        attributes[.applicationLabel] = .data(try itemHash())
        return attributes
    }
}

// MARK: - Keychain items to keys

/// A key read from a keychain item.
package enum StoredKey: Sendable {
    case publicKey(PublicKey)
    case privateKey(PrivateKey)

    /// Reads the key of an item from its attributes and its secret; nil when they do not describe a supported key.
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
