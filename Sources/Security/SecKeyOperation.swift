// SPDX-License-Identifier: Apache-2.0

public import Foundation
import LatchkeyCrypto
import LatchkeyKeys
import LatchkeyModel

/// What a key is asked for. Apple: `SecKeyOperationType`.
public enum SecKeyOperationType: CFIndex, Sendable {
    /// Sign.
    case sign = 0
    /// Verify a signature.
    case verify = 1
    /// Encrypt.
    case encrypt = 2
    /// Decrypt.
    case decrypt = 3
    /// Agree on a secret.
    case keyExchange = 4
}

/// Whether a key can do it with that algorithm. Apple: `SecKeyIsAlgorithmSupported`.
///
/// An RSA private key also verifies and an RSA public key also counts as one that decrypts, as on Apple systems. Whether
/// data fits a key's size shows when it is used.
@discardableResult
public func SecKeyIsAlgorithmSupported(
    _ key: SecKey, _ operation: SecKeyOperationType, _ algorithm: SecKeyAlgorithm
) -> Bool {
    KeyScheme(algorithm)?.isSupported(operation, by: key.backing) ?? false
}

/// Signs. Apple: `SecKeyCreateSignature`.
///
/// - Parameters:
///   - key: a private key.
///   - algorithm: one of the `...Signature...` algorithms of the key's type.
///   - dataToSign: a message of any length, or a digest of exactly the algorithm's length, as the algorithm's name says.
///   - error: set to an error with code -50 when the key does not support the algorithm or the data does not fit.
/// - Returns: the signature: DER for X962, r ‖ s for RFC 4754, as long as the key for RSA; or nil.
///
/// Blocks, and may prompt for a key with access control.
@discardableResult
public func SecKeyCreateSignature(
    _ key: SecKey, _ algorithm: SecKeyAlgorithm, _ dataToSign: CFData,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
    reporting(to: error, of: key) { () throws(Failure) in
        Data(try key.sign(dataToSign, try key.scheme(algorithm, for: .sign))) as NSData
    }
}

/// Checks a signature. Apple: `SecKeyVerifySignature`.
///
/// - Parameters:
///   - key: the public key; for RSA the private one does as well.
///   - algorithm: the one that was signed with.
///   - signedData: the message or digest.
///   - signature: what `SecKeyCreateSignature` gave.
///   - error: set to an error with code -67808 (`errSecVerifyFailed`) when it is no signature of that data, -50 when the
///     key does not support the algorithm or the digest's length is wrong.
/// - Returns: whether it is a signature of that data by that key. Never prompts.
@discardableResult
public func SecKeyVerifySignature(
    _ key: SecKey, _ algorithm: SecKeyAlgorithm, _ signedData: CFData, _ signature: CFData,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> Bool {
    let isGenuine = reporting(to: error) { () throws(Failure) in
        try key.verifies(signedData, signature, try key.scheme(algorithm, for: .verify))
    }
    if isGenuine == false {
        let refusal = CFError.status(errSecVerifyFailed, "The signature is not one of this data by this key.")
        error?.pointee = Unmanaged.passRetained(refusal)
    }
    return isGenuine ?? false
}

/// Encrypts. Apple: `SecKeyCreateEncryptedData`.
///
/// - Parameters:
///   - key: a public key.
///   - algorithm: one of the `...Encryption...` algorithms of the key's type.
///   - plaintext: of any length for ECIES and the algorithms with AES-GCM; for RSA alone, what the padding has room for.
///   - error: set to an error with code -50 when the key does not support the algorithm or the data does not fit.
/// - Returns: the ciphertext, or nil. Never prompts.
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

/// Decrypts. Apple: `SecKeyCreateDecryptedData`.
///
/// - Parameters:
///   - key: a private key.
///   - algorithm: the one that was encrypted with.
///   - ciphertext: what `SecKeyCreateEncryptedData` gave.
///   - error: set to an error with code -50 when the key does not support the algorithm, or the data was changed or
///     encrypted for another key.
/// - Returns: the plaintext, or nil.
///
/// Blocks, and may prompt for a key with access control.
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
    /// What the algorithm means, if this key can do it.
    func scheme(_ algorithm: SecKeyAlgorithm, for operation: SecKeyOperationType) throws(Failure) -> KeyScheme {
        guard let scheme = KeyScheme(algorithm) else {
            throw Failure(.invalidParameter, "There is no algorithm \(algorithm.name).")
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

    /// `KeyScheme.isSupported` lets none of these through.
    private static let wrongScheme = Failure(.invalidParameter, "The algorithm is for another operation.")
}
