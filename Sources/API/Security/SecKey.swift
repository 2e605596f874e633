// SPDX-License-Identifier: Apache-2.0

public import Foundation
import LatchkeyCrypto
import LatchkeyModel

/// A public or private key: RSA, or elliptic curve on P-256, P-384 or P-521.
///
/// Immutable, and safe to use from any number of threads at once. Two keys are equal when they are the same half of the
/// same pair.
///
/// Apple: `SecKey`.
public final class SecKey: NSObject, @unchecked Sendable {
    // Unchecked because of the dictionaries: they contain immutable objects and do not change after `init`.
    let backing: any KeyBacking
    private let attributes: [String: Any]
    private let publicAttributes: [String: Any]

    /// Creates a key.
    ///
    /// - Parameters:
    ///   - backing: the implementation of the key's operations.
    ///   - attributes: attributes that the app set, by `kSecAttr...` names, checked by `KeyParameters`.
    ///     `SecKeyCopyAttributes` reports them in place of the computed ones.
    ///   - publicAttributes: the attributes of the public half of a private key.
    package init(_ backing: any KeyBacking, attributes: [String: Any] = [:], publicAttributes: [String: Any] = [:]) {
        (self.backing, self.attributes, self.publicAttributes) = (backing, attributes, publicAttributes)
    }

    /// A key in the memory of this process.
    convenience init(_ privateKey: PrivateKey, attributes: [String: Any] = [:], publicAttributes: [String: Any] = [:]) {
        self.init(
            SoftwareKeyBacking(privateKey: privateKey), attributes: attributes, publicAttributes: publicAttributes)
    }

    /// A public key in the memory of this process.
    convenience init(_ publicKey: PublicKey, attributes: [String: Any] = [:]) {
        self.init(PublicKeyBacking(publicKey: publicKey), attributes: attributes)
    }

    /// Returns whether another object is the same half of the same key pair; attributes are not compared.
    ///
    /// - Parameter object: the object to compare with.
    /// - Returns: true for an equal `SecKey`; false for any other object and for nil.
    ///
    /// Apple: `CFEqual(_:_:)`.
    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? SecKey else { return false }
        return backing.isPrivate == other.backing.isPrivate && backing.publicKey == other.backing.publicKey
    }

    /// Hash value, equal for equal keys. Apple: `CFHash(_:)`.
    public override var hash: Int { backing.publicKey.hashValue ^ (backing.isPrivate ? 1 : 0) }

    /// The public half of a private key; a public key itself.
    var publicHalf: SecKey { backing.isPrivate ? SecKey(backing.publicKey, attributes: publicAttributes) : self }

    /// SHA-1 of the public key's external representation, which links a key to its certificates (behaviour SK-09).
    func publicKeyHash() throws(Failure) -> [UInt8] { try backing.publicKey.itemHash() }

    /// The external representation; throws when `kSecAttrIsExtractable` is false or the key is in the Secure Enclave.
    func exported() throws(Failure) -> SecretBytes {
        if backing.isPrivate, let number = attributes[kSecAttrIsExtractable as String] as? NSNumber, !number.boolValue {
            throw Failure(.unimplemented, "The key cannot be exported: its kSecAttrIsExtractable is false.")
        }
        return try backing.externalRepresentation()
    }

    /// The attributes that `SecKeyCopyAttributes` returns.
    func allAttributes() throws(Failure) -> [String: Any] {
        let key = backing.publicKey
        let isPrivate = backing.isPrivate
        var all: [String: Any] = [:]
        for (code, value) in try key.itemAttributes(isPrivate ? .privateKey : .publicKey) {
            if let name = code.constant { all[name] = value.object }
        }
        // Apple's constants for the key class and the key type are strings of digits.
        let ofKey: [CFString: AnyObject] = [
            kSecClass: kSecClassKey,
            kSecAttrKeyClass: isPrivate ? kSecAttrKeyClassPrivate : kSecAttrKeyClassPublic,
            kSecAttrKeyType: key.type == .rsa ? kSecAttrKeyTypeRSA : kSecAttrKeyTypeECSECPrimeRandom,
            // Behaviour SK-11: the values that Apple's function reports for every key in memory.
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

/// Returns the type identifier of `SecKey`, as `CFGetTypeID` returns it. Apple: `SecKeyGetTypeID()`.
@discardableResult
public func SecKeyGetTypeID() -> CFTypeID { 0x4c4b_0002 }

/// Returns the public half of a key.
///
/// - Parameter key: a private key; a public key is returned itself.
/// - Returns: the public key, never nil.
///
/// Does not block and does not prompt.
///
/// Apple: `SecKeyCopyPublicKey(_:)`.
@discardableResult
public func SecKeyCopyPublicKey(_ key: SecKey) -> SecKey? { key.publicHalf }

/// Returns the attributes of a key.
///
/// - Parameter key: a public or private key.
/// - Returns: a dictionary with
///   - `kSecClass`, `kSecAttrKeyClass` and `kSecAttrKeyType`;
///   - `kSecAttrKeySizeInBits` and `kSecAttrEffectiveKeySize`, in bits;
///   - `kSecAttrApplicationLabel`: by default SHA-1 of the public key's external representation;
///   - `kSecAttrIsPermanent` (true for every key in memory), `kSecAttrIsSensitive`, `kSecAttrIsExtractable` and the
///     `kSecAttrCan...` flags;
///   - `kSecAttrTokenID` for a private key of the Secure Enclave;
///   - the attributes that the app set when it created the key, in place of computed ones;
///   - `kSecValueData`: the external representation of a key that can be exported.
///
///   nil when the attributes cannot be computed, for instance because memory ran out.
///
/// Does not block and does not prompt.
///
/// Apple: `SecKeyCopyAttributes(_:)`.
@discardableResult
public func SecKeyCopyAttributes(_ key: SecKey) -> CFDictionary? {
    reporting(to: nil) { () throws(Failure) in try key.allAttributes() as NSDictionary }
}

/// Returns the external representation of a key.
///
/// - Parameters:
///   - key: a public key, or a private key that can be exported.
///   - error: set to a retained error of `NSOSStatusErrorDomain` with code `errSecUnimplemented` (-4) for a private key
///     of the Secure Enclave, and for one whose `kSecAttrIsExtractable` is false. May be nil.
/// - Returns: the key, or nil on failure. RSA: PKCS#1 in DER (RFC 8017, appendix A.1). Elliptic curve: ANSI X9.63,
///   uncompressed: 04 ‖ X ‖ Y for a public key and 04 ‖ X ‖ Y ‖ K for a private key, each number big-endian and as long
///   as a coordinate: 32, 48 or 66 bytes.
///
/// Does not block and does not prompt.
///
/// Apple: `SecKeyCopyExternalRepresentation(_:_:)`.
@discardableResult
public func SecKeyCopyExternalRepresentation(
    _ key: SecKey, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
)
    -> CFData?
{
    reporting(to: error) { () throws(Failure) in try key.exported().withBytes { Data($0) } as NSData }
}

/// Returns the block size of a key.
///
/// - Parameter key: a public or private key.
/// - Returns: a number of bytes: the length of the modulus for RSA, the length of a coordinate for an elliptic curve.
///
/// Does not block and does not prompt.
///
/// Apple: `SecKeyGetBlockSize(_:)`.
@discardableResult
public func SecKeyGetBlockSize(_ key: SecKey) -> Int { key.backing.publicKey.blockBytes }
