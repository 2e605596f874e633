// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyModel

// The older functions, which take a padding instead of an algorithm and write into the caller's memory.

/// Signs a digest with a private key.
///
/// - Parameters:
///   - key: a private key.
///   - padding: RSA: the padding of the digest; the empty set signs a block as long as the modulus without padding.
///     Elliptic curve: `sigRaw` writes the signature as r ‖ s, any other padding as DER.
///   - dataToSign: the digest.
///   - dataToSignLen: the number of bytes at `dataToSign`.
///   - sig: receives the signature; unchanged on failure.
///   - sigLen: on entry the number of bytes available at `sig`; on success set to the length of the signature in bytes.
/// - Returns: `errSecSuccess`; `errSecParam` when the key does not support the padding, the data has the wrong length
///   or the buffer is too small; for a key of the Secure Enclave also `errSecUserCanceled`, `errSecAuthFailed`,
///   `errSecInteractionNotAllowed` and `errSecNotAvailable`.
///
/// Blocks and may prompt when the key is in the Secure Enclave.
///
/// Apple: `SecKeyRawSign(_:_:_:_:_:_:)`.
@available(*, deprecated, message: "Use SecKeyCreateSignature")
@discardableResult
public func SecKeyRawSign(
    _ key: SecKey, _ padding: SecPadding, _ dataToSign: UnsafePointer<UInt8>, _ dataToSignLen: Int,
    _ sig: UnsafeMutablePointer<UInt8>, _ sigLen: UnsafeMutablePointer<Int>
) -> OSStatus {
    status { () throws(Failure) in
        let scheme = try key.scheme(try key.signature(padding), for: .sign)
        try write(try key.sign(try data(dataToSign, dataToSignLen), scheme), to: sig, sigLen)
    }
}

/// Verifies the signature of a digest with a public key.
///
/// - Parameters:
///   - key: a public key, or an RSA private key.
///   - padding: the padding that the signature was created with, as in `SecKeyRawSign`.
///   - signedData: the digest.
///   - signedDataLen: the number of bytes at `signedData`.
///   - sig: the signature.
///   - sigLen: the number of bytes at `sig`.
/// - Returns: `errSecSuccess` when the signature is valid; `errSecVerifyFailed` when it is not; `errSecParam` when the
///   key does not support the padding or the digest has the wrong length.
///
/// Does not prompt and does not contact the daemon.
///
/// Apple: `SecKeyRawVerify(_:_:_:_:_:_:)`.
@available(*, deprecated, message: "Use SecKeyVerifySignature")
@discardableResult
public func SecKeyRawVerify(
    _ key: SecKey, _ padding: SecPadding, _ signedData: UnsafePointer<UInt8>, _ signedDataLen: Int,
    _ sig: UnsafePointer<UInt8>, _ sigLen: Int
) -> OSStatus {
    var isGenuine = false
    let result = status { () throws(Failure) in
        let scheme = try key.scheme(try key.signature(padding), for: .verify)
        isGenuine = try key.verifies(try data(signedData, signedDataLen), try data(sig, sigLen), scheme)
    }
    return result == errSecSuccess && !isGenuine ? errSecVerifyFailed : result
}

/// Encrypts one block with an RSA public key.
///
/// - Parameters:
///   - key: an RSA public key.
///   - padding: `PKCS1`, `OAEP` (with SHA-1), or the empty set for a block as long as the modulus without padding.
///   - plainText: the plaintext.
///   - plainTextLen: the number of bytes at `plainText`.
///   - cipherText: receives the ciphertext; unchanged on failure.
///   - cipherTextLen: on entry the number of bytes available at `cipherText`; on success set to the length of the
///     ciphertext in bytes, which is the length of the modulus.
/// - Returns: `errSecSuccess`; `errSecParam` when the key does not support the padding, the data does not fit one block
///   or the buffer is too small.
///
/// Does not prompt and does not contact the daemon.
///
/// Apple: `SecKeyEncrypt(_:_:_:_:_:_:)`.
@available(*, deprecated, message: "Use SecKeyCreateEncryptedData")
@discardableResult
public func SecKeyEncrypt(
    _ key: SecKey, _ padding: SecPadding, _ plainText: UnsafePointer<UInt8>, _ plainTextLen: Int,
    _ cipherText: UnsafeMutablePointer<UInt8>, _ cipherTextLen: UnsafeMutablePointer<Int>
) -> OSStatus {
    status { () throws(Failure) in
        let scheme = try key.scheme(try encryption(padding), for: .encrypt)
        let plaintext = SecretBytes(copying: try region(plainText, plainTextLen))
        try write(try key.encrypt(plaintext, scheme), to: cipherText, cipherTextLen)
    }
}

/// Decrypts one block with an RSA private key.
///
/// - Parameters:
///   - key: an RSA private key.
///   - padding: the padding that the block was encrypted with, as in `SecKeyEncrypt`.
///   - cipherText: the ciphertext.
///   - cipherTextLen: the number of bytes at `cipherText`.
///   - plainText: receives the plaintext; unchanged on failure.
///   - plainTextLen: on entry the number of bytes available at `plainText`; on success set to the length of the
///     plaintext in bytes.
/// - Returns: `errSecSuccess`; `errSecParam` when the key does not support the padding, the ciphertext is not valid for
///   it or the buffer is too small.
///
/// Does not prompt and does not contact the daemon: there are no RSA keys in the Secure Enclave.
///
/// Apple: `SecKeyDecrypt(_:_:_:_:_:_:)`.
@available(*, deprecated, message: "Use SecKeyCreateDecryptedData")
@discardableResult
public func SecKeyDecrypt(
    _ key: SecKey, _ padding: SecPadding, _ cipherText: UnsafePointer<UInt8>, _ cipherTextLen: Int,
    _ plainText: UnsafeMutablePointer<UInt8>, _ plainTextLen: UnsafeMutablePointer<Int>
) -> OSStatus {
    status { () throws(Failure) in
        let scheme = try key.scheme(try encryption(padding), for: .decrypt)
        let plaintext = try key.decrypt(Array(try region(cipherText, cipherTextLen)), scheme)
        try plaintext.withBytes { (bytes) throws(Failure) in try write(bytes, to: plainText, plainTextLen) }
    }
}

extension SecKey {
    fileprivate func signature(_ padding: SecPadding) throws(Failure) -> SecKeyAlgorithm {
        guard let algorithm = backing.publicKey.type == .rsa ? padding.rsaSignature : padding.curveSignature else {
            throw Failure(.invalidParameter, "The key does not support signatures with this padding.")
        }
        return algorithm
    }
}

private func encryption(_ padding: SecPadding) throws(Failure) -> SecKeyAlgorithm {
    guard let algorithm = padding.encryption else {
        throw Failure(.invalidParameter, "This padding does not support encryption.")
    }
    return algorithm
}

private func region(_ start: UnsafePointer<UInt8>, _ count: Int) throws(Failure) -> UnsafeRawBufferPointer {
    guard count >= 0 else { throw Failure(.invalidParameter, "A length in bytes is negative.") }
    return UnsafeRawBufferPointer(start: start, count: count)
}

private func data(_ start: UnsafePointer<UInt8>, _ count: Int) throws(Failure) -> NSData {
    NSData(bytes: start, length: try region(start, count).count)
}

/// Copies the bytes to the caller's buffer and sets the length; throws without writing when the buffer is too small.
private func write(
    _ bytes: some Collection<UInt8>, to room: UnsafeMutablePointer<UInt8>, _ count: UnsafeMutablePointer<Int>
) throws(Failure) {
    guard bytes.count <= count.pointee else { throw Failure(.invalidParameter, "The result buffer is too small.") }
    UnsafeMutableRawBufferPointer(start: room, count: bytes.count).copyBytes(from: bytes)
    count.pointee = bytes.count
}
