// SPDX-License-Identifier: Apache-2.0

import Foundation
package import LatchkeyKeys
package import LatchkeyModel

/// Where a key lives: what it alone can do. Hashing, forms of signatures, key derivation and ciphers stand above it.
///
/// May be called by any number of threads at once. Operations of a private key may block and prompt.
package protocol KeyBacking: Sendable {
    /// The public key itself, or that of the pair.
    var publicKey: PublicKey { get }

    /// Whether it is the private half.
    var isPrivate: Bool { get }

    /// What only the place knows, as `kSecAttrTokenID`: added to what `SecKeyCopyAttributes` reports.
    var attributes: [String: Any] { get }

    /// PKCS#1 or X9.63. A key that never leaves its place refuses with `unimplemented`.
    func externalRepresentation() throws(Failure) -> SecretBytes

    /// ECDSA of a digest of at least one byte: r ‖ s.
    func signECDSA(_ digest: [UInt8]) throws(Failure) -> [UInt8]

    /// The X coordinate in common with a point of the same curve.
    func agree(with peer: PublicKey) throws(Failure) -> SecretBytes

    /// An RSA signature as long as the key.
    func signRSA(_ input: [UInt8], _ padding: RSASignaturePadding) throws(Failure) -> [UInt8]

    /// The plaintext of one RSA block.
    func decryptRSA(_ ciphertext: [UInt8], _ padding: RSAEncryptionPadding) throws(Failure) -> SecretBytes
}

extension KeyBacking {
    package var attributes: [String: Any] { [:] }

    private var refusal: Failure { Failure(.invalidParameter, "The key cannot do this.") }

    package func signECDSA(_ digest: [UInt8]) throws(Failure) -> [UInt8] { throw refusal }

    package func agree(with peer: PublicKey) throws(Failure) -> SecretBytes { throw refusal }

    package func signRSA(_ input: [UInt8], _ padding: RSASignaturePadding) throws(Failure) -> [UInt8] {
        throw refusal
    }

    package func decryptRSA(_ ciphertext: [UInt8], _ padding: RSAEncryptionPadding) throws(Failure) -> SecretBytes {
        throw refusal
    }
}

/// A public key.
struct PublicKeyBacking: KeyBacking {
    let publicKey: PublicKey

    var isPrivate: Bool { false }

    func externalRepresentation() throws(Failure) -> SecretBytes { SecretBytes(publicKey.externalRepresentation) }

    func decryptRSA(_ ciphertext: [UInt8], _ padding: RSAEncryptionPadding) throws(Failure) -> SecretBytes {
        guard case .none = padding else {
            throw Failure(.invalidParameter, "A public key cannot decrypt what was encrypted with it.")
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
