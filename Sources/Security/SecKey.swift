// SPDX-License-Identifier: Apache-2.0

public import Foundation
import LatchkeyCrypto
import LatchkeyKeys
import LatchkeyModel

/// A key, public or private, of RSA or of a NIST curve. Apple: `SecKey`.
///
/// Immutable: any number of threads may use it at once. Two are equal when they are the same half of the same pair.
public final class SecKey: NSObject, @unchecked Sendable {
    // The dictionaries hold immutable objects and are never changed after `init`.
    let backing: any KeyBacking
    private let attributes: [String: Any]
    private let publicAttributes: [String: Any]

    /// Makes a key.
    ///
    /// - Parameters:
    ///   - backing: where it lives.
    ///   - attributes: what the app said about it, by `kSecAttr...` names, checked by `KeyParameters`; reported by
    ///     `SecKeyCopyAttributes` in place of what follows from the key.
    ///   - publicAttributes: the same for the public half of a private key.
    package init(_ backing: any KeyBacking, attributes: [String: Any] = [:], publicAttributes: [String: Any] = [:]) {
        self.backing = backing
        self.attributes = attributes
        self.publicAttributes = publicAttributes
    }

    /// A key in the memory of this process.
    convenience init(_ privateKey: PrivateKey, attributes: [String: Any] = [:], publicAttributes: [String: Any] = [:]) {
        self.init(
            SoftwareKeyBacking(privateKey: privateKey), attributes: attributes, publicAttributes: publicAttributes)
    }

    /// A public key.
    convenience init(_ publicKey: PublicKey, attributes: [String: Any] = [:]) {
        self.init(PublicKeyBacking(publicKey: publicKey), attributes: attributes)
    }

    /// Whether both are the same half of the same pair.
    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? SecKey else { return false }
        return backing.isPrivate == other.backing.isPrivate && backing.publicKey == other.backing.publicKey
    }

    /// Equal for equal keys.
    public override var hash: Int { backing.publicKey.hashValue ^ (backing.isPrivate ? 1 : 0) }

    /// The public half, or the key itself.
    var publicHalf: SecKey {
        backing.isPrivate ? SecKey(backing.publicKey, attributes: publicAttributes) : self
    }

    /// SHA-1 of the public key's external form, by which a key and its certificates are found (behaviour SK-09).
    func publicKeyHash() throws(Failure) -> [UInt8] { try backing.publicKey.itemHash() }

    /// Its bytes, unless they are to stay where they are.
    func exported() throws(Failure) -> SecretBytes {
        if backing.isPrivate, let number = attributes[kSecAttrIsExtractable as String] as? NSNumber, !number.boolValue {
            throw Failure(.unimplemented, "The key cannot be exported: it was made with kSecAttrIsExtractable false.")
        }
        return try backing.externalRepresentation()
    }

    /// What is known of the key.
    func allAttributes() throws(Failure) -> [String: Any] {
        let key = backing.publicKey
        let isPrivate = backing.isPrivate
        var all: [String: Any] = [:]
        for (code, value) in try key.itemAttributes(isPrivate ? .privateKey : .publicKey) {
            if let name = code.constant { all[name] = value.object }
        }
        // Apple's constants for these two are strings of digits.
        let ofKey: [CFString: AnyObject] = [
            kSecClass: kSecClassKey,
            kSecAttrKeyClass: isPrivate ? kSecAttrKeyClassPrivate : kSecAttrKeyClassPublic,
            kSecAttrKeyType: key.type == .rsa ? kSecAttrKeyTypeRSA : kSecAttrKeyTypeECSECPrimeRandom,
            // Behaviour SK-11: what Apple's say of any key in memory.
            kSecAttrIsPermanent: NSNumber(value: true), kSecAttrIsSensitive: NSNumber(value: false),
            kSecAttrIsExtractable: NSNumber(value: true),
        ]
        for (name, value) in ofKey { all[name as String] = value }
        all.merge(attributes) { $1 }
        all.merge(backing.attributes) { $1 }
        if let bytes = try? exported() { all[kSecValueData as String] = bytes.withBytes { Data($0) } as NSData }
        return all
    }
}

/// The type of `SecKey`, for `CFGetTypeID`.
@discardableResult
public func SecKeyGetTypeID() -> CFTypeID { 0x4c4b_0002 }

/// The public half of a pair. Apple: `SecKeyCopyPublicKey`.
///
/// - Parameter key: a private key, or a public one, which is returned itself.
/// - Returns: the public key. Never blocks.
@discardableResult
public func SecKeyCopyPublicKey(_ key: SecKey) -> SecKey? { key.publicHalf }

/// What is known of a key. Apple: `SecKeyCopyAttributes`.
///
/// - Returns: `kSecAttrKeyClass`, `kSecAttrKeyType`, `kSecAttrKeySizeInBits` and `kSecAttrEffectiveKeySize` (bits),
///   `kSecAttrApplicationLabel` (SHA-1 of the public key's external form), `kSecAttrIsPermanent` (true for every key in
///   memory), `kSecAttrIsSensitive`, `kSecAttrIsExtractable`, the `kSecAttrCan...` flags, what the app said when it made the key, and `kSecValueData` of a key that can be exported.
@discardableResult
public func SecKeyCopyAttributes(_ key: SecKey) -> CFDictionary? {
    reporting(to: nil) { () throws(Failure) in try key.allAttributes() as NSDictionary }
}

/// The bytes of a key. Apple: `SecKeyCopyExternalRepresentation`.
///
/// - Parameters:
///   - key: a key that may be exported.
///   - error: set to an error with code -4 (`errSecUnimplemented`) for a key that never leaves its place.
/// - Returns: PKCS#1 (RFC 8017, appendix A.1) for RSA; 04, X, Y for the public and 04, X, Y, K for the private key of a
///   curve, each number as wide as the curve; or nil.
@discardableResult
public func SecKeyCopyExternalRepresentation(
    _ key: SecKey, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
)
    -> CFData?
{
    reporting(to: error) { () throws(Failure) in try key.exported().withBytes { Data($0) } as NSData }
}

/// Bytes of a block of the key: of its modulus, or of a coordinate. Apple: `SecKeyGetBlockSize`.
@discardableResult
public func SecKeyGetBlockSize(_ key: SecKey) -> Int { key.backing.publicKey.blockBytes }
