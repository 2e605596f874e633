// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyModel

// The older functions, which name a padding in place of an algorithm and write into the caller's memory.

/// Signs a digest. Apple: `SecKeyRawSign`.
///
/// - Parameters:
///   - key: a private key.
///   - padding: for RSA how the digest is padded, none for data as long as the key; for curves `sigRaw` for r ‖ s, else
///     DER is written.
///   - dataToSign: the digest.
///   - dataToSignLen: its bytes.
///   - sig: room for the signature; untouched on failure.
///   - sigLen: bytes of the room; set to those of the signature.
/// - Returns: `errSecSuccess`; `errSecParam` when key, padding and data do not fit or the room is too small.
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

/// Checks a signature of a digest. Apple: `SecKeyRawVerify`.
///
/// - Parameters:
///   - key: a public key; for RSA the private one does as well.
///   - padding: the one that was signed with.
///   - signedData: the digest.
///   - signedDataLen: its bytes.
///   - sig: the signature.
///   - sigLen: its bytes.
/// - Returns: `errSecSuccess`; `errSecVerifyFailed` when it is no signature of that digest; `errSecParam`.
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

/// Encrypts one block with RSA. Apple: `SecKeyEncrypt`.
///
/// - Parameters:
///   - key: an RSA public key.
///   - padding: PKCS#1, OAEP with SHA-1, or none for data as long as the key.
///   - plainText: the data.
///   - plainTextLen: its bytes.
///   - cipherText: room for the ciphertext; untouched on failure.
///   - cipherTextLen: bytes of the room; set to those of the ciphertext.
/// - Returns: `errSecSuccess`; `errSecParam` when key, padding and data do not fit or the room is too small.
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

/// Decrypts one block with RSA. Apple: `SecKeyDecrypt`.
///
/// - Parameters:
///   - key: an RSA private key.
///   - padding: the one that was encrypted with.
///   - cipherText: the ciphertext.
///   - cipherTextLen: its bytes.
///   - plainText: room for the data; untouched on failure.
///   - plainTextLen: bytes of the room; set to those of the data.
/// - Returns: `errSecSuccess`; `errSecParam` when key, padding and data do not fit or the room is too small.
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
            throw Failure(.invalidParameter, "The key does not sign with this padding.")
        }
        return algorithm
    }
}

private func encryption(_ padding: SecPadding) throws(Failure) -> SecKeyAlgorithm {
    guard let algorithm = padding.encryption else {
        throw Failure(.invalidParameter, "There is no encryption with this padding.")
    }
    return algorithm
}

private func region(_ start: UnsafePointer<UInt8>, _ count: Int) throws(Failure) -> UnsafeRawBufferPointer {
    guard count >= 0 else { throw Failure(.invalidParameter, "A number of bytes is negative.") }
    return UnsafeRawBufferPointer(start: start, count: count)
}

private func data(_ start: UnsafePointer<UInt8>, _ count: Int) throws(Failure) -> NSData {
    NSData(bytes: start, length: try region(start, count).count)
}

/// Writes all or nothing.
private func write(
    _ bytes: some Collection<UInt8>, to room: UnsafeMutablePointer<UInt8>, _ count: UnsafeMutablePointer<Int>
) throws(Failure) {
    guard bytes.count <= count.pointee else { throw Failure(.invalidParameter, "There is no room for the result.") }
    UnsafeMutableRawBufferPointer(start: room, count: bytes.count).copyBytes(from: bytes)
    count.pointee = bytes.count
}
