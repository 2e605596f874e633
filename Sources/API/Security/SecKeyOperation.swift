// SPDX-License-Identifier: Apache-2.0

public import Foundation
import LatchkeyCrypto
import LatchkeyModel

/// An operation of a key, for `SecKeyIsAlgorithmSupported`. Apple: `SecKeyOperationType`.
public enum SecKeyOperationType: CFIndex, Sendable {
    /// Creating a signature, as `SecKeyCreateSignature` does. Apple: `SecKeyOperationType.sign`.
    case sign = 0
    /// Verifying a signature, as `SecKeyVerifySignature` does. Apple: `SecKeyOperationType.verify`.
    case verify = 1
    /// Encrypting data, as `SecKeyCreateEncryptedData` does. Apple: `SecKeyOperationType.encrypt`.
    case encrypt = 2
    /// Decrypting data, as `SecKeyCreateDecryptedData` does. Apple: `SecKeyOperationType.decrypt`.
    case decrypt = 3
    /// Deriving a shared secret, as `SecKeyCopyKeyExchangeResult` does. Apple: `SecKeyOperationType.keyExchange`.
    case keyExchange = 4
}

/// Returns whether a key supports an algorithm for an operation.
///
/// - Parameters:
///   - key: a public or private key.
///   - operation: the operation.
///   - algorithm: the algorithm.
/// - Returns: true when the key's type and half support the operation with the algorithm. As on Apple systems, an RSA
///   private key also supports verification and an RSA public key also reports decryption. The sizes of key and data
///   are not considered: an operation may still fail because the data does not fit.
///
/// Does not block and does not prompt.
///
/// Apple: `SecKeyIsAlgorithmSupported(_:_:_:)`.
@discardableResult
public func SecKeyIsAlgorithmSupported(
    _ key: SecKey, _ operation: SecKeyOperationType, _ algorithm: SecKeyAlgorithm
) -> Bool {
    KeyScheme(algorithm)?.isSupported(operation, by: key.backing) ?? false
}

/// Creates a signature with a private key.
///
/// - Parameters:
///   - key: a private key.
///   - algorithm: one of the `...Signature...` algorithms of the key's type.
///   - dataToSign: for `...Message...` algorithms a message of any length; for `...Digest...` algorithms a digest of
///     exactly the length that the algorithm's name gives, or of at least one byte when it gives none; for
///     `rsaSignatureRaw` a block as long as the modulus.
///   - error: set to a retained error on failure; unchanged otherwise. May be nil. Code `errSecParam` (-50) of
///     `NSOSStatusErrorDomain`: the key does not support the algorithm, or the data has the wrong length. For a key of
///     the Secure Enclave, failed authentication is reported with a code of `com.apple.LocalAuthentication`, and a
///     daemon that cannot be reached with `errSecNotAvailable`.
/// - Returns: the signature, or nil on failure. `...X962...`: DER SEQUENCE of r and s; `...RFC4754...`: r ‖ s, each
///   big-endian and as long as a coordinate of the curve (RFC 4754, section 7); RSA: as long as the modulus (RFC 8017).
///
/// With a key in memory, computes in this process and never prompts. With a key of the Secure Enclave, blocks while the
/// daemon answers, and prompts when the key's access control requires it.
///
/// Apple: `SecKeyCreateSignature(_:_:_:_:)`.
@discardableResult
public func SecKeyCreateSignature(
    _ key: SecKey, _ algorithm: SecKeyAlgorithm, _ dataToSign: CFData,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
    reporting(to: error, of: key) { () throws(Failure) in
        Data(try key.sign(dataToSign, try key.scheme(algorithm, for: .sign))) as NSData
    }
}

/// Verifies a signature with a public key.
///
/// - Parameters:
///   - key: a public key, or an RSA private key.
///   - algorithm: the algorithm that the signature was created with.
///   - signedData: the message or digest that was signed.
///   - signature: the signature, in the encoding that `SecKeyCreateSignature` returns.
///   - error: set to a retained error of `NSOSStatusErrorDomain` when the function returns false; unchanged otherwise.
///     May be nil. Code `errSecVerifyFailed` (-67808): the signature is not valid for the data and the key, or is
///     malformed; `errSecParam` (-50): the key does not support the algorithm, or the digest has the wrong length.
/// - Returns: true when the signature is valid.
///
/// Does not prompt and does not contact the daemon.
///
/// Apple: `SecKeyVerifySignature(_:_:_:_:_:)`.
@discardableResult
public func SecKeyVerifySignature(
    _ key: SecKey, _ algorithm: SecKeyAlgorithm, _ signedData: CFData, _ signature: CFData,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> Bool {
    let isGenuine = reporting(to: error) { () throws(Failure) in
        try key.verifies(signedData, signature, try key.scheme(algorithm, for: .verify))
    }
    if isGenuine == false {
        let refusal = CFError.status(errSecVerifyFailed, "The signature does not match the data and the key.")
        error?.pointee = Unmanaged.passRetained(refusal)
    }
    return isGenuine ?? false
}

/// Encrypts data with a public key.
///
/// - Parameters:
///   - key: a public key.
///   - algorithm: one of the `...Encryption...` algorithms of the key's type.
///   - plaintext: data of any length for ECIES and the `...AESGCM` algorithms; for the other RSA algorithms at most
///     what one padded block can hold, and for `rsaEncryptionRaw` exactly one block.
///   - error: set to a retained error of `NSOSStatusErrorDomain` on failure; unchanged otherwise. May be nil. Code
///     `errSecParam` (-50): the key does not support the algorithm, or the data does not fit.
/// - Returns: the ciphertext, or nil on failure. ECIES: the uncompressed ephemeral public key, the AES-GCM ciphertext
///   and the 16-byte tag; `rsaEncryptionOAEP...AESGCM`: the RSA block with the AES key, the AES-GCM ciphertext and the
///   16-byte tag; other RSA algorithms: one block as long as the modulus (RFC 8017).
///
/// Does not prompt and does not contact the daemon.
///
/// Apple: `SecKeyCreateEncryptedData(_:_:_:_:)`.
@discardableResult
public func SecKeyCreateEncryptedData(
    _ key: SecKey, _ algorithm: SecKeyAlgorithm, _ plaintext: CFData,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
    reporting(to: error) { () throws(Failure) in
        let secret = plaintext.withUnsafeBytes { SecretBytes(copying: $0) }
        return Data(try key.encrypt(secret, try key.scheme(algorithm, for: .encrypt))) as NSData
    }
}

/// Decrypts data with a private key.
///
/// - Parameters:
///   - key: a private key; for `rsaEncryptionRaw` also an RSA public key.
///   - algorithm: the algorithm that the data was encrypted with.
///   - ciphertext: the ciphertext, in the form that `SecKeyCreateEncryptedData` returns.
///   - error: set to a retained error on failure; unchanged otherwise. May be nil. Code `errSecParam` (-50) of
///     `NSOSStatusErrorDomain`: the key does not support the algorithm, or the ciphertext was changed or encrypted for
///     another key. For a key of the Secure Enclave, failed authentication is reported with a code of
///     `com.apple.LocalAuthentication`, and a daemon that cannot be reached with `errSecNotAvailable`.
/// - Returns: the plaintext, or nil on failure.
///
/// With a key in memory, computes in this process and never prompts. With a key of the Secure Enclave, blocks while the
/// daemon answers, and prompts when the key's access control requires it.
///
/// > Note: Linux: for a changed `rsaEncryptionPKCS1` ciphertext, newer versions of libcrypto return random bytes
/// instead of an error, so that the padding cannot be probed.
///
/// Apple: `SecKeyCreateDecryptedData(_:_:_:_:)`.
@discardableResult
public func SecKeyCreateDecryptedData(
    _ key: SecKey, _ algorithm: SecKeyAlgorithm, _ ciphertext: CFData,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
    reporting(to: error, of: key) { () throws(Failure) in
        let bytes = ciphertext.withUnsafeBytes { Array($0) }
        let plaintext = try key.decrypt(bytes, try key.scheme(algorithm, for: .decrypt))
        return plaintext.withBytes { Data($0) } as NSData
    }
}

extension SecKey {
    /// The scheme of an algorithm; throws `invalidParameter` when this key does not support it for the operation.
    func scheme(_ algorithm: SecKeyAlgorithm, for operation: SecKeyOperationType) throws(Failure) -> KeyScheme {
        guard let scheme = KeyScheme(algorithm) else {
            throw Failure(.invalidParameter, "The algorithm \(algorithm.name) is unknown.")
        }
        guard scheme.isSupported(operation, by: backing) else {
            throw Failure(.invalidParameter, "The key does not support \(algorithm.name) for this operation.")
        }
        return scheme
    }

    func sign(_ data: NSData, _ scheme: KeyScheme) throws(Failure) -> [UInt8] {
        switch scheme {
        case .ecdsa(let form, let input):
            let raw = try backing.signECDSA(try input.prepare(data))
            guard form == .x962 else { return raw }
            guard case .ellipticCurve(let curve) = backing.publicKey.type,
                let der = ECDSASignature.der(raw: raw, curve: curve)
            else { throw Failure(.internalFailure, "The signature has the wrong length.") }
            return der
        case .rsaSignature(let padding, let input): return try backing.signRSA(try input.prepare(data), padding)
        default: throw SecKey.wrongScheme
        }
    }

    func verifies(_ data: NSData, _ signature: NSData, _ scheme: KeyScheme) throws(Failure) -> Bool {
        let signature = signature.withUnsafeBytes { Array($0) }
        switch scheme {
        case .ecdsa(let form, let input):
            let digest = try input.prepare(data)
            guard form == .rfc4754 else { return backing.publicKey.verifiesECDSA(digest, der: signature) }
            guard case .ellipticCurve(let curve) = backing.publicKey.type,
                let der = ECDSASignature.der(raw: signature, curve: curve)
            else { return false }
            return backing.publicKey.verifiesECDSA(digest, der: der)
        case .rsaSignature(let padding, let input):
            return backing.publicKey.verifiesRSA(try input.prepare(data), padding, signature: signature)
        default: throw SecKey.wrongScheme
        }
    }

    func encrypt(_ plaintext: SecretBytes, _ scheme: KeyScheme) throws(Failure) -> [UInt8] {
        let recipient = backing.publicKey
        switch scheme {
        case .rsaEncryption(let padding): return try recipient.encryptRSA(plaintext, padding)
        case .wrappedKey(let encryption):
            let sessionKey = try randomSecret(WrappedKeyEncryption.sessionKeyBytes(for: recipient))
            return try encryption.seal(plaintext, sessionKey: sessionKey, for: recipient)
        case .integrated(let encryption): return try encryption.seal(plaintext, for: recipient)
        default: throw SecKey.wrongScheme
        }
    }

    func decrypt(_ ciphertext: [UInt8], _ scheme: KeyScheme) throws(Failure) -> SecretBytes {
        switch scheme {
        case .rsaEncryption(let padding): return try backing.decryptRSA(ciphertext, padding)
        case .wrappedKey(let encryption):
            return try encryption.open(ciphertext, for: backing.publicKey, unwrap: backing.decryptRSA)
        case .integrated(let encryption):
            guard case .ellipticCurve(let curve) = backing.publicKey.type else { throw SecKey.wrongScheme }
            return try encryption.open(ciphertext, curve: curve, agree: backing.agree)
        default: throw SecKey.wrongScheme
        }
    }

    /// Never thrown in practice: `KeyScheme.isSupported` rejects these combinations before.
    private static let wrongScheme = Failure(.invalidParameter, "The algorithm is for another operation.")
}
