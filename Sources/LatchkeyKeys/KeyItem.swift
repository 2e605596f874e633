// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

/// One half of a pair. Numbers are those of `kSecAttrKeyClass...` and part of the store format.
package enum KeyHalf: Int64, Sendable {
    case publicKey = 0
    case privateKey = 1
}

extension KeyType {
    /// The number of `kSecAttrKeyType...`, which is part of the store format.
    package var itemNumber: Int64 {
        switch self {
        case .rsa: 42
        case .ellipticCurve: 73
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
        let isPrivate = half == .privateKey
        return [
            .keyClass: .number(half.rawValue), .keyType: .number(type.itemNumber),
            .keySizeInBits: .number(Int64(bitCount)), .effectiveKeySize: .number(Int64(bitCount)),
            .applicationLabel: .data(try itemHash()), .isPermanent: .boolean(true),
            .canEncrypt: .boolean(!isPrivate), .canDecrypt: .boolean(isPrivate), .canSign: .boolean(isPrivate),
            .canVerify: .boolean(!isPrivate), .canDerive: .boolean(true), .canWrap: .boolean(!isPrivate),
            .canUnwrap: .boolean(isPrivate),
        ]
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
            case .number(let type) = attributes[.keyType]
        else { return nil }
        switch (half, type) {
        case (.publicKey, KeyType.rsa.itemNumber):
            guard let key = PublicKey(bytes.copyBytes(), type: .rsa) else { return nil }
            self = .publicKey(key)
        case (.publicKey, StoredKey.curveNumber):
            guard let key = PublicKey(point: bytes.copyBytes()) else { return nil }
            self = .publicKey(key)
        case (.privateKey, KeyType.rsa.itemNumber):
            guard let key = PrivateKey(bytes, type: .rsa) else { return nil }
            self = .privateKey(key)
        case (.privateKey, StoredKey.curveNumber):
            let curve = Curve.allCases.first { $0.pointBytes + $0.byteCount == bytes.count }
            guard let key = curve.flatMap({ PrivateKey(bytes, type: .ellipticCurve($0)) }) else { return nil }
            self = .privateKey(key)
        default: return nil
        }
    }

    private static let curveNumber = KeyType.ellipticCurve(.p256).itemNumber
}
