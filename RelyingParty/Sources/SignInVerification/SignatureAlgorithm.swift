// SPDX-License-Identifier: Apache-2.0

/// A signature algorithm of passkeys. The raw values are the numbers of COSE, which `pubKeyCredParams` of WebAuthn has as `alg`
/// (RFC 9053, sections 2.1 and 2.2, and RFC 8812, section 2).
public enum SignatureAlgorithm: Int64, CaseIterable, Sendable {
    /// ECDSA with SHA-256 on P-256; the signature is in DER.
    case es256 = -7
    /// Ed25519; the signature has 64 bytes.
    case eddsa = -8
    /// RSASSA-PKCS1-v1_5 with SHA-256; the signature has as many bytes as the modulus.
    case rs256 = -257

    /// The name in the registry of COSE.
    package var name: String {
        switch self {
        case .es256: "ES256"
        case .eddsa: "EdDSA"
        case .rs256: "RS256"
        }
    }
}
