// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyCrypto
import LatchkeyModel

/// The operation and parameters that a `SecKeyAlgorithm` selects.
enum KeyScheme: Sendable {
    case ecdsa(SignatureForm, SignedInput)
    case rsaSignature(RSASignaturePadding, SignedInput)
    case rsaEncryption(RSAEncryptionPadding)
    case wrappedKey(WrappedKeyEncryption)
    case integrated(IntegratedEncryption)
    /// ECDH; the digest selects the X9.63 key derivation, nil returns the X coordinate without derivation.
    case agreement(DigestAlgorithm?)

    /// The encoding of an ECDSA signature.
    enum SignatureForm: Sendable {
        /// A DER SEQUENCE of r and s.
        case x962
        /// r ‖ s, each as long as the curve's order.
        case rfc4754
    }

    /// What the app passes to be signed.
    enum SignedInput: Sendable {
        case message(DigestAlgorithm)
        case digest(DigestAlgorithm)
        /// Bytes that are signed as they are: a digest of any length, or a padded block.
        case bytes

        /// The bytes that the key signs (behaviour SK-04); throws for a digest of the wrong length and for empty data.
        func prepare(_ data: NSData) throws(Failure) -> [UInt8] {
            switch self {
            case .message(let digest):
                return try withExtendedLifetime(data) { () throws(Failure) in
                    try digest.hash(UnsafeRawBufferPointer(start: data.bytes, count: data.length))
                }
            case .digest(let digest):
                guard data.length == digest.byteCount else {
                    throw Failure(.invalidParameter, "The digest must be \(digest.byteCount) bytes long.")
                }
                return data.withUnsafeBytes { Array($0) }
            case .bytes:
                guard data.length > 0 else { throw Failure(.invalidParameter, "The data to sign is empty.") }
                return data.withUnsafeBytes { Array($0) }
            }
        }
    }

    /// The schemes by algorithm name, as listed in Tests/Vectors/security.tsv.
    private static let byName: [String: KeyScheme] = {
        var schemes: [String: KeyScheme] = [
            "algid:sign:ECDSA:RFC4754": .ecdsa(.rfc4754, .bytes),
            "algid:sign:ECDSA:digest-RFC4754": .ecdsa(.rfc4754, .bytes),
            "algid:sign:ECDSA:digest-X962": .ecdsa(.x962, .bytes),
            "algid:sign:RSA:raw": .rsaSignature(.none, .bytes),
            "algid:sign:RSA:digest-PKCS1v15": .rsaSignature(.pkcs1, .bytes),
            "algid:encrypt:RSA:raw": .rsaEncryption(.none),
            "algid:encrypt:RSA:PKCS1": .rsaEncryption(.pkcs1),
            "algid:keyexchange:ECDH": .agreement(nil),
            "algid:keyexchange:ECDHC": .agreement(nil),
        ]
        for digest in DigestAlgorithm.allCases {
            let name = digest.name
            schemes["algid:sign:ECDSA:message-X962:\(name)"] = .ecdsa(.x962, .message(digest))
            schemes["algid:sign:ECDSA:digest-X962:\(name)"] = .ecdsa(.x962, .digest(digest))
            schemes["algid:sign:ECDSA:message-RFC4754:\(name)"] = .ecdsa(.rfc4754, .message(digest))
            schemes["algid:sign:ECDSA:digest-RFC4754:\(name)"] = .ecdsa(.rfc4754, .digest(digest))
            schemes["algid:sign:RSA:message-PKCS1v15:\(name)"] = .rsaSignature(.pkcs1Digest(digest), .message(digest))
            schemes["algid:sign:RSA:digest-PKCS1v15:\(name)"] = .rsaSignature(.pkcs1Digest(digest), .digest(digest))
            // Apple's algorithm name says 24 for SHA-224, but its documentation gives a salt as long as the digest: 28.
            let mask = "\(name):\(name):\(digest == .sha224 ? 24 : digest.byteCount)"
            schemes["algid:sign:RSA:message-PSS:\(mask)"] = .rsaSignature(.pss(digest), .message(digest))
            schemes["algid:sign:RSA:digest-PSS:\(mask)"] = .rsaSignature(.pss(digest), .digest(digest))
            schemes["algid:encrypt:RSA:OAEP:\(name)"] = .rsaEncryption(.oaep(digest))
            schemes["algid:encrypt:RSA:OAEP:\(name):AESGCM"] = .wrappedKey(WrappedKeyEncryption(digest))
            // The NIST curves have cofactor 1, so standard and cofactor ECDH give the same secret.
            for kind in ["ECDH", "ECDHC"] {
                schemes["algid:keyexchange:\(kind):KDFX963:\(name)"] = .agreement(digest)
                let cipher = "algid:encrypt:ECIES:\(kind):KDFX963:\(name):AESGCM"
                schemes[cipher] = .integrated(IntegratedEncryption(digest, derivesNonce: false))
                // Apple defines no VariableIV algorithm with SHA-1.
                guard digest != .sha1 else { continue }
                schemes["\(cipher)-KDFIV"] = .integrated(IntegratedEncryption(digest, derivesNonce: true))
            }
        }
        return schemes
    }()

    /// The scheme of an algorithm; nil for an unknown name.
    init?(_ algorithm: SecKeyAlgorithm) {
        guard let scheme = KeyScheme.byName[algorithm.name] else { return nil }
        self = scheme
    }

    /// Whether a key supports this scheme for an operation (behaviour SK-05): an RSA private key also supports
    /// verification, and an RSA public key also reports decryption, since without padding both are the same
    /// computation.
    func isSupported(_ operation: SecKeyOperationType, by key: any KeyBacking) -> Bool {
        let isRSA = key.publicKey.type == .rsa
        switch (self, operation) {
        case (.ecdsa, .sign): return !isRSA && key.isPrivate
        case (.ecdsa, .verify): return !isRSA && !key.isPrivate
        case (.rsaSignature, .sign): return isRSA && key.isPrivate
        case (.rsaSignature, .verify): return isRSA
        case (.rsaEncryption, .encrypt), (.wrappedKey, .encrypt): return isRSA && !key.isPrivate
        case (.rsaEncryption, .decrypt), (.wrappedKey, .decrypt): return isRSA
        case (.integrated, .encrypt): return !isRSA && !key.isPrivate
        case (.integrated, .decrypt), (.agreement, .keyExchange): return !isRSA && key.isPrivate
        default: return false
        }
    }
}

extension DigestAlgorithm {
    fileprivate var name: String {
        switch self {
        case .sha1: "SHA1"
        case .sha224: "SHA224"
        case .sha256: "SHA256"
        case .sha384: "SHA384"
        case .sha512: "SHA512"
        }
    }
}
