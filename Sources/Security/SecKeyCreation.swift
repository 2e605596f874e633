// SPDX-License-Identifier: Apache-2.0

public import Foundation
import LatchkeyKeys
import LatchkeyModel

/// Makes a random pair. Apple: `SecKeyCreateRandomKey`.
///
/// - Parameters:
///   - parameters: `kSecAttrKeyType`; `kSecAttrKeySizeInBits` (256, 384 or 521 for curves; 1024 to 4096, a multiple of 8,
///     for RSA); for a key of the Secure Enclave `kSecAttrTokenID`; and for the halves `kSecPrivateKeyAttrs` and
///     `kSecPublicKeyAttrs`, over what the dictionary says for both. A half is stored when its `kSecAttrIsPermanent`, or
///     that of the whole dictionary, is true; the private half of the Secure Enclave also when neither is given.
///   - error: set to an error with code -50 when a parameter is missing or wrong, or the code of the keychain.
/// - Returns: the private key, or nil.
///
/// Blocks: an RSA key takes from a tenth of a second to several seconds.
@discardableResult
public func SecKeyCreateRandomKey(
    _ parameters: CFDictionary, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> SecKey? {
    reporting(to: error) { () throws(Failure) in try SecKey.makeRandom(parameters) }
}

/// Reads a key. Apple: `SecKeyCreateWithData`.
///
/// - Parameters:
///   - keyData: what `SecKeyCopyExternalRepresentation` gives: PKCS#1, 04, X, Y or 04, X, Y, K, and nothing after it; of a
///     public RSA key also its `SubjectPublicKeyInfo` (RFC 5280, section 4.1.2.7).
///   - attributes: `kSecAttrKeyType` and `kSecAttrKeyClass`. The size follows from the data; the key is not stored.
///   - error: set to an error with code -50 when an attribute is missing or wrong, or the data is no such key; -4 for the
///     symmetric class.
/// - Returns: the key, or nil. Never prompts.
@discardableResult
public func SecKeyCreateWithData(
    _ keyData: CFData, _ attributes: CFDictionary, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> SecKey? {
    reporting(to: error) { () throws(Failure) in try SecKey.read(keyData, attributes) }
}

/// Makes a random pair. Apple: `SecKeyGeneratePair`.
///
/// - Parameters:
///   - parameters: those of `SecKeyCreateRandomKey`.
///   - publicKey: set to the public key.
///   - privateKey: set to the private key. Both stay as they are on failure.
/// - Returns: `errSecSuccess`, `errSecParam` or the code of the keychain.
@available(*, deprecated, message: "Use SecKeyCreateRandomKey")
@discardableResult
public func SecKeyGeneratePair(
    _ parameters: CFDictionary, _ publicKey: UnsafeMutablePointer<SecKey?>?,
    _ privateKey: UnsafeMutablePointer<SecKey?>?
) -> OSStatus {
    status { () throws(Failure) in
        let key = try SecKey.makeRandom(parameters)
        publicKey?.pointee = key.publicHalf
        privateKey?.pointee = key
    }
}

extension SecKey {
    fileprivate static func makeRandom(_ dictionary: NSDictionary) throws(Failure) -> SecKey {
        let parameters = try KeyParameters(dictionary)
        let family = try parameters.family()
        let bitCount = try parameters.bitCount()
        let privateHalf = try parameters.half(kSecPrivateKeyAttrs)
        let publicHalf = try parameters.half(kSecPublicKeyAttrs)
        // Behaviour SK-08.
        let publicIsPermanent = publicHalf.boolean(kSecAttrIsPermanent) ?? false
        let isForToken = try parameters.isForToken()
        // Apple's looks at the whole dictionary alone and would make a key in memory, which the app does not mean.
        guard try privateHalf.isForToken() == isForToken, try publicHalf.isForToken() == isForToken else {
            throw KeyParameters.refusal("kSecAttrTokenID belongs into the whole dictionary.")
        }
        let isPermanent = privateHalf.boolean(kSecAttrIsPermanent) ?? isForToken
        let key: SecKey
        if isForToken {
            // Behaviour SE-01.
            guard family == .ellipticCurve, bitCount == 256 else {
                throw KeyParameters.refusal("The Secure Enclave keeps keys of P-256 only.")
            }
            key = try createInToken(
                privateAttributes: privateHalf.dictionary(isPermanent: isPermanent),
                publicAttributes: publicHalf.dictionary(isPermanent: publicIsPermanent))
        } else {
            key = SecKey(
                try makeRandom(family, bitCount), attributes: privateHalf.reported,
                publicAttributes: publicHalf.reported)
        }
        var stored = StoredHalf(madeInToken: key)
        do throws(Failure) {
            // The public half first: what is left behind when the process ends between the two is then no secret.
            if publicIsPermanent {
                let half = try StoredHalf(key.publicHalf, attributes: publicHalf.dictionary(isPermanent: true))
                stored = stored ?? half
            }
            if !isForToken, isPermanent {
                _ = try StoredHalf(key, attributes: privateHalf.dictionary(isPermanent: true))
            }
        } catch {
            // The app gets no key, so none stays.
            stored?.remove()
            throw error
        }
        return key
    }

    private static func makeRandom(_ family: KeyParameters.Family, _ bitCount: Int) throws(Failure) -> PrivateKey {
        switch family {
        case .rsa: return try PrivateKey.generateRSA(bitCount: bitCount)
        case .ellipticCurve:
            guard let curve = Curve(bitCount: bitCount) else {
                throw KeyParameters.refusal("Keys of curves have 256, 384 or 521 bits.")
            }
            return try PrivateKey.generate(curve)
        }
    }

    fileprivate static func read(_ data: NSData, _ dictionary: NSDictionary) throws(Failure) -> SecKey {
        let parameters = try KeyParameters(dictionary)
        let family = try parameters.family()
        let isPrivate = try parameters.isPrivate()
        guard try !parameters.isForToken() else {
            throw KeyParameters.refusal("Keys of the Secure Enclave are made there and not read.")
        }
        // Nothing is stored: behaviour of Apple's function, whatever kSecAttrIsPermanent says.
        let attributes = parameters.reported
        let bytes = data.withUnsafeBytes { SecretBytes(copying: $0) }
        if isPrivate, let key = privateKey(bytes, family) { return SecKey(key, attributes: attributes) }
        if !isPrivate, let key = publicKey(bytes.copyBytes(), family) { return SecKey(key, attributes: attributes) }
        throw KeyParameters.refusal("The data is no \(isPrivate ? "private" : "public") key of this type.")
    }

    private static func privateKey(_ bytes: SecretBytes, _ family: KeyParameters.Family) -> PrivateKey? {
        switch family {
        case .rsa: return PrivateKey(bytes, type: .rsa)
        case .ellipticCurve:
            let curve = Curve.allCases.first { $0.pointBytes + $0.byteCount == bytes.count }
            return curve.flatMap { PrivateKey(bytes, type: .ellipticCurve($0)) }
        }
    }

    private static func publicKey(_ bytes: [UInt8], _ family: KeyParameters.Family) -> PublicKey? {
        switch family {
        case .rsa: PublicKey(rsaInEitherForm: bytes)
        case .ellipticCurve: PublicKey(point: bytes)
        }
    }
}
