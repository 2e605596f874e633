// SPDX-License-Identifier: Apache-2.0

/// The public or private half of a key pair. Raw values are those of `kSecAttrKeyClass...` and part of the store
/// format.
package enum KeyHalf: Int64, Sendable {
    case publicKey = 0
    case privateKey = 1
}

/// The algorithm family of a key. Raw values are those of `kSecAttrKeyType...` and part of the store format.
package enum KeyFamily: Int64, Sendable {
    case rsa = 42
    case ellipticCurve = 73
}

extension Attributes {
    /// Returns the attributes of a key item, wherever the key is held (behaviour SK-09). The caller adds label and tag.
    package static func ofKey(_ half: KeyHalf, _ family: KeyFamily, bitCount: Int, isPermanent: Bool) -> Attributes {
        let isPrivate = half == .privateKey
        return [
            .keyClass: .number(half.rawValue), .keyType: .number(family.rawValue),
            .keySizeInBits: .number(Int64(bitCount)), .effectiveKeySize: .number(Int64(bitCount)),
            .isPermanent: .boolean(isPermanent), .canEncrypt: .boolean(!isPrivate), .canDecrypt: .boolean(isPrivate),
            .canDerive: .boolean(true), .canSign: .boolean(isPrivate), .canVerify: .boolean(!isPrivate),
            .canWrap: .boolean(!isPrivate), .canUnwrap: .boolean(isPrivate),
        ]
    }
}
