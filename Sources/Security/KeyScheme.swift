// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyKeys
import LatchkeyModel

/// What an algorithm of the API asks for.
enum KeyScheme: Sendable {
    case ecdsa(SignatureForm, SignedInput)
    case rsaSignature(RSASignaturePadding, SignedInput)
    case rsaEncryption(RSAEncryptionPadding)
    case wrappedKey(WrappedKeyEncryption)
    case integrated(IntegratedEncryption)
    /// nil: the bare X coordinate.
    case agreement(DigestAlgorithm?)

    /// How an ECDSA signature is written.
    enum SignatureForm: Sendable {
        /// DER.
        case x962
        /// r ‖ s.
        case rfc4754
    }

    /// What the app hands over to be signed.
    enum SignedInput: Sendable {
        case message(DigestAlgorithm)
        case digest(DigestAlgorithm)
        /// A digest of whatever algorithm, or what takes its place.
        case bytes

        /// What the key signs (behaviour SK-04).
        func prepare(_ data: NSData) throws(Failure) -> [UInt8] {
            switch self {
            case .message(let digest):
                return try withExtendedLifetime(data) { () throws(Failure) in
                    try digest.hash(UnsafeRawBufferPointer(start: data.bytes, count: data.length))
                }
            case .digest(let digest):
                guard data.length == digest.byteCount else {
                    throw Failure(.invalidParameter, "The digest has to be \(digest.byteCount) bytes long.")
                }
                return data.withUnsafeBytes { Array($0) }
            case .bytes:
                guard data.length > 0 else { throw Failure(.invalidParameter, "There is nothing to sign.") }
                return data.withUnsafeBytes { Array($0) }
            }
        }
    }

    /// By the names that Tests/Vectors/security.tsv lists.
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
            // Apple's name says 24 for SHA-224, whose digests and, by its documentation, salts have 28 bytes.
            let mask = "\(name):\(name):\(digest == .sha224 ? 24 : digest.byteCount)"
            schemes["algid:sign:RSA:message-PSS:\(mask)"] = .rsaSignature(.pss(digest), .message(digest))
            schemes["algid:sign:RSA:digest-PSS:\(mask)"] = .rsaSignature(.pss(digest), .digest(digest))
            schemes["algid:encrypt:RSA:OAEP:\(name)"] = .rsaEncryption(.oaep(digest))
            schemes["algid:encrypt:RSA:OAEP:\(name):AESGCM"] = .wrappedKey(WrappedKeyEncryption(digest))
            // The cofactor of the curves is 1: both kinds give the same secret.
            for kind in ["ECDH", "ECDHC"] {
                schemes["algid:keyexchange:\(kind):KDFX963:\(name)"] = .agreement(digest)
                let cipher = "algid:encrypt:ECIES:\(kind):KDFX963:\(name):AESGCM"
                schemes[cipher] = .integrated(IntegratedEncryption(digest, derivesNonce: false))
                // Apple has no such algorithm with SHA-1.
                guard digest != .sha1 else { continue }
                schemes["\(cipher)-KDFIV"] = .integrated(IntegratedEncryption(digest, derivesNonce: true))
            }
        }
        return schemes
    }()

    /// What the algorithm means; nil for a name that is none.
    init?(_ algorithm: SecKeyAlgorithm) {
        guard let scheme = KeyScheme.byName[algorithm.name] else { return nil }
        self = scheme
    }

    /// Whether a key can do it (behaviour SK-05): an RSA private key also verifies, and an RSA public key also counts
    /// as one that decrypts, since without padding both are the same computation.
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
