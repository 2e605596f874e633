// SPDX-License-Identifier: Apache-2.0

package import RelyingPartyCrypto
package import RelyingPartyJSON

/// The formats in which a public key can be given.
package enum PublicKeyInput {
    /// Reads a key; nil for another curve, another algorithm, a point that is not on the curve, and trailing bytes.
    ///
    /// - Parameters:
    ///   - format: `pem`, `der` (SubjectPublicKeyInfo), `x963` (a point without compression) or `jwk`.
    ///   - value: a text for `pem`, base64url for `der` and `x963`, an object for `jwk`.
    package static func read(_ format: String, _ value: JSONValue) throws(CryptoFailure) -> P256PublicKey? {
        switch format {
        case "pem": return try value.text.flatMap { text throws(CryptoFailure) in try P256PublicKey(pem: text) }
        case "der": return try P256PublicKey(der: bytes(value) ?? [])
        case "x963": return try P256PublicKey(x963: bytes(value) ?? [])
        case "jwk": return try jwk(value)
        default: return nil
        }
    }

    private static func bytes(_ value: JSONValue?) -> [UInt8]? {
        value?.text.flatMap { StrictBase64.url.decode($0.utf8) }
    }

    /// RFC 7517, section 4, and RFC 7518, section 6.2. An object with a private part is refused: it should never have
    /// been sent.
    private static func jwk(_ value: JSONValue) throws(CryptoFailure) -> P256PublicKey? {
        guard value.member("kty")?.text == "EC", value.member("crv")?.text == "P-256", value.member("d") == nil,
            let x = bytes(value.member("x")), let y = bytes(value.member("y")), x.count == 32, y.count == 32
        else { return nil }
        return try P256PublicKey(x963: [4] + x + y)
    }
}
