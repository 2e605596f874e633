// SPDX-License-Identifier: Apache-2.0

public import Foundation
import LatchkeyCrypto
import LatchkeyModel

/// Generates a random key pair, and stores it in the keychain if the parameters ask for it.
///
/// - Parameters:
///   - parameters: the type, the size and the attributes of the pair:
///     - `kSecAttrKeyType`, required: `kSecAttrKeyTypeRSA` or `kSecAttrKeyTypeECSECPrimeRandom`.
///     - `kSecAttrKeySizeInBits`, required: 256, 384 or 521 for elliptic curves; for RSA a multiple of 8 from 1024 to
///       4096.
///     - `kSecAttrTokenID`: `kSecAttrTokenIDSecureEnclave` for a key of the Secure Enclave, which must be a 256-bit
///       elliptic curve key.
///     - `kSecPrivateKeyAttrs`, `kSecPublicKeyAttrs`: dictionaries with the attributes of one half. They override the
///       attributes at the top level, which apply to both halves.
///     - `kSecAttrIsPermanent`: whether a half is stored. By default true for the private half of a Secure Enclave key,
///       and false for every other half.
///   - error: set to a retained error of `NSOSStatusErrorDomain` on failure; unchanged otherwise. May be nil. Code
///     `errSecParam` (-50): a parameter is missing or wrong. For a key that is stored or created in the Secure
///     Enclave also the codes of `SecItemAdd`; `errSecNotAvailable` when there is no Secure Enclave.
/// - Returns: the private key, or nil on failure; then no half is stored.
///
/// Blocks: generating an RSA key takes from a tenth of a second to several seconds, and storing a key waits for the
/// daemon. Prompts only when `SecItemAdd` would.
///
/// Apple: `SecKeyCreateRandomKey(_:_:)`.
@discardableResult
public func SecKeyCreateRandomKey(
    _ parameters: CFDictionary, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> SecKey? {
    reporting(to: error) { () throws(Failure) in try SecKey.makeRandom(parameters) }
}

/// Creates a key in memory from its external representation.
///
/// - Parameters:
///   - keyData: the bytes of the key, without further bytes after them. RSA: PKCS#1 in DER (RFC 8017, appendix A.1),
///     for a public key also SubjectPublicKeyInfo in DER (RFC 5280, section 4.1.2.7). Elliptic curve: ANSI X9.63, 04 ‖
///     X ‖ Y for a public key and 04 ‖ X ‖ Y ‖ K for a private key.
///   - attributes: `kSecAttrKeyType` and `kSecAttrKeyClass`, both required. `kSecAttrKeySizeInBits` is ignored: the
///     size follows from the data. `kSecAttrIsPermanent` is ignored: the key is not stored.
///   - error: set to a retained error of `NSOSStatusErrorDomain` on failure; unchanged otherwise. May be nil. Code
///     `errSecParam` (-50): an attribute is missing or wrong, or the data is not a key of this type and class;
///     `errSecUnimplemented` (-4): `kSecAttrKeyClass` is `kSecAttrKeyClassSymmetric`.
/// - Returns: the key, or nil on failure.
///
/// Does not prompt and does not contact the daemon.
///
/// Apple: `SecKeyCreateWithData(_:_:_:)`.
@discardableResult
public func SecKeyCreateWithData(
    _ keyData: CFData, _ attributes: CFDictionary, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> SecKey? {
    reporting(to: error) { () throws(Failure) in try SecKey.read(keyData, attributes) }
}

/// Generates a random key pair; former form of `SecKeyCreateRandomKey`.
///
/// - Parameters:
///   - parameters: the parameters of `SecKeyCreateRandomKey`.
///   - publicKey: set to the public key; unchanged on failure. May be nil.
///   - privateKey: set to the private key; unchanged on failure. May be nil.
/// - Returns: `errSecSuccess`, or one of the codes that `SecKeyCreateRandomKey` reports.
///
/// Blocks and prompts as `SecKeyCreateRandomKey` does.
///
/// Apple: `SecKeyGeneratePair(_:_:_:)`.
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
        // Behaviour SK-08: kSecAttrIsPermanent is false by default, except for private keys of the Secure Enclave.
        let publicIsPermanent = publicHalf.boolean(kSecAttrIsPermanent) ?? false
        let isForToken = try parameters.isForToken()
        // Apple's function reads kSecAttrTokenID at the top level only and would generate a key in memory, which is
        // not what the app asks for.
        guard try privateHalf.isForToken() == isForToken, try publicHalf.isForToken() == isForToken else {
            throw KeyParameters.refusal("kSecAttrTokenID must be at the top level of the parameters.")
        }
        let isPermanent = privateHalf.boolean(kSecAttrIsPermanent) ?? isForToken
        let key: SecKey
        if isForToken {
            // Behaviour SE-01: the Secure Enclave generates 256-bit elliptic curve keys only.
            guard family == .ellipticCurve, bitCount == 256 else {
                throw KeyParameters.refusal("The Secure Enclave supports P-256 keys only.")
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
            // Stores the public half first: if the process ends between the two, only a public key remains.
            if publicIsPermanent {
                let half = try StoredHalf(key.publicHalf, attributes: publicHalf.dictionary(isPermanent: true))
                stored = stored ?? half
            }
            if !isForToken, isPermanent {
                _ = try StoredHalf(key, attributes: privateHalf.dictionary(isPermanent: true))
            }
        } catch {
            // The call fails, so no half may remain in the keychain.
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
                throw KeyParameters.refusal("Elliptic curve keys have 256, 384 or 521 bits.")
            }
            return try PrivateKey.generate(curve)
        }
    }

    fileprivate static func read(_ data: NSData, _ dictionary: NSDictionary) throws(Failure) -> SecKey {
        let parameters = try KeyParameters(dictionary)
        let family = try parameters.family()
        let isPrivate = try parameters.isPrivate()
        guard try !parameters.isForToken() else {
            throw KeyParameters.refusal("Keys of the Secure Enclave are generated there and cannot be imported.")
        }
        // Like Apple's function, stores nothing, even when kSecAttrIsPermanent is true.
        let attributes = parameters.reported
        let bytes = data.withUnsafeBytes { SecretBytes(copying: $0) }
        if isPrivate, let key = privateKey(bytes, family) { return SecKey(key, attributes: attributes) }
        if !isPrivate, let key = publicKey(bytes.copyBytes(), family) { return SecKey(key, attributes: attributes) }
        throw KeyParameters.refusal("The data is not a \(isPrivate ? "private" : "public") key of this type.")
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
