// SPDX-License-Identifier: Apache-2.0

internal import RelyingPartyCrypto

/// Public keys in the form of COSE (RFC 9052, section 7, and RFC 9053, section 7.1.1).
enum COSEKey {
    /// The algorithm ES256: ECDSA with SHA-256, on P-256 (WebAuthn Level 3, section 5.8.5).
    static let es256: Int64 = -7

    /// Reads a key of ES256: type 2, algorithm -7, curve 1 and both coordinates, and nothing else (WebAuthn Level 3,
    /// sections 5.8.5 and 6.5.1.1).
    static func read(_ value: CBORValue) throws(WebAuthnRefusal) -> P256PublicKey {
        guard value.entryCount == 5, value[.integer(1)] == .integer(2), value[.integer(3)] == .integer(es256),
            value[.integer(-1)] == .integer(1), let x = value[.integer(-2)]?.bytes, let y = value[.integer(-3)]?.bytes,
            x.count == 32, y.count == 32
        else { throw .publicKey }
        let key: P256PublicKey?
        do throws(CryptoFailure) {
            key = try P256PublicKey(x963: [4] + x + y)
        } catch {
            throw .failure
        }
        guard let key else { throw .publicKey }
        return key
    }
}
