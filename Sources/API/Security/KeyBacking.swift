// SPDX-License-Identifier: Apache-2.0

import Foundation
package import LatchkeyCrypto
package import LatchkeyModel

/// The raw operations of a key, with one implementation for keys in this process's memory and one for private keys of
/// the Secure Enclave. Hashing, signature encodings, key derivation and AES-GCM are implemented on top of them.
///
/// Safe to call from any number of threads at once. Operations of a private key may block and may prompt.
package protocol KeyBacking: Sendable {
    /// The public key itself, or the public half of a private key.
    var publicKey: PublicKey { get }

    var isPrivate: Bool { get }

    /// Attributes that depend on where the key is held, such as `kSecAttrTokenID`; `SecKeyCopyAttributes` reports them.
    var attributes: [String: Any] { get }

    /// The key as PKCS#1 (RSA) or X9.63 (elliptic curves). Throws `exportNotAllowed` or `unimplemented` for a key that
    /// cannot be exported.
    func externalRepresentation() throws(Failure) -> SecretBytes

    /// The ECDSA signature r ‖ s of a digest of at least one byte.
    func signECDSA(_ digest: [UInt8]) throws(Failure) -> [UInt8]

    /// The X coordinate of the ECDH shared point with a public key of the same curve.
    func agree(with peer: PublicKey) throws(Failure) -> SecretBytes

    /// An RSA signature, as long as the modulus.
    func signRSA(_ input: [UInt8], _ padding: RSASignaturePadding) throws(Failure) -> [UInt8]

    /// The plaintext of one RSA block.
    func decryptRSA(_ ciphertext: [UInt8], _ padding: RSAEncryptionPadding) throws(Failure) -> SecretBytes
}

extension KeyBacking {
    package var attributes: [String: Any] { [:] }

    private var refusal: Failure { Failure(.invalidParameter, "The key does not support this operation.") }

    package func signECDSA(_ digest: [UInt8]) throws(Failure) -> [UInt8] { throw refusal }

    package func agree(with peer: PublicKey) throws(Failure) -> SecretBytes { throw refusal }

    package func signRSA(_ input: [UInt8], _ padding: RSASignaturePadding) throws(Failure) -> [UInt8] { throw refusal }

    package func decryptRSA(_ ciphertext: [UInt8], _ padding: RSAEncryptionPadding) throws(Failure) -> SecretBytes {
        throw refusal
    }
}

struct PublicKeyBacking: KeyBacking {
    let publicKey: PublicKey

    var isPrivate: Bool { false }

    func externalRepresentation() throws(Failure) -> SecretBytes { SecretBytes(publicKey.externalRepresentation) }

    func decryptRSA(_ ciphertext: [UInt8], _ padding: RSAEncryptionPadding) throws(Failure) -> SecretBytes {
        guard case .none = padding else {
            throw Failure(.invalidParameter, "A public key cannot decrypt data encrypted with a padding.")
        }
        return SecretBytes(try publicKey.encryptRSA(SecretBytes(ciphertext), .none))
    }
}

/// A private key in the memory of this process.
struct SoftwareKeyBacking: KeyBacking {
    let privateKey: PrivateKey

    var publicKey: PublicKey { privateKey.publicKey }
    var isPrivate: Bool { true }

    func externalRepresentation() throws(Failure) -> SecretBytes { privateKey.externalRepresentation }

    func signECDSA(_ digest: [UInt8]) throws(Failure) -> [UInt8] { try privateKey.signECDSA(digest) }

    func agree(with peer: PublicKey) throws(Failure) -> SecretBytes { try privateKey.agree(with: peer) }

    func signRSA(_ input: [UInt8], _ padding: RSASignaturePadding) throws(Failure) -> [UInt8] {
        try privateKey.signRSA(input, padding)
    }

    func decryptRSA(_ ciphertext: [UInt8], _ padding: RSAEncryptionPadding) throws(Failure) -> SecretBytes {
        try privateKey.decryptRSA(ciphertext, padding)
    }
}
