// SPDX-License-Identifier: Apache-2.0

public import Foundation
import LatchkeyCertificates
import LatchkeyModel

/// A certificate and the private key of its public key. Apple: `SecIdentity`.
///
/// Immutable; made by `SecPKCS12Import`, `SecIdentityCreateWithCertificate` and the keychain.
public final class SecIdentity: NSObject, @unchecked Sendable {
    // The stored properties are constants of types that are safe to share; NSObject is what keeps the compiler from
    // seeing it.
    package let certificate: SecCertificate
    package let privateKey: SecKey

    package init(_ certificate: SecCertificate, _ privateKey: SecKey) {
        self.certificate = certificate
        self.privateKey = privateKey
    }

    /// Whether both have the same certificate and the same key.
    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? SecIdentity else { return false }
        return certificate == other.certificate && privateKey == other.privateKey
    }

    /// Equal for equal identities.
    public override var hash: Int { certificate.hash }

    /// Its certificate, for people.
    public override var description: String { "<SecIdentity of \(certificate)>" }
}

/// The type of `SecIdentity`, for `CFGetTypeID`.
@discardableResult
public func SecIdentityGetTypeID() -> CFTypeID { 0x4c4b_0004 }

/// Makes an identity of a certificate and a private key. Apple: `SecIdentityCreate`.
///
/// - Parameters:
///   - allocator: ignored.
///   - certificate: the certificate.
///   - privateKey: its private key.
/// - Returns: the identity; nil for a key that is not the certificate's. Never blocks; neither has to be in the keychain.
@discardableResult
public func SecIdentityCreate(
    _ allocator: CFAllocator?, _ certificate: SecCertificate, _ privateKey: SecKey
) -> SecIdentity? {
    guard privateKey.backing.isPrivate, SecCertificateCopyKey(certificate) == privateKey.publicHalf else { return nil }
    return SecIdentity(certificate, privateKey)
}

/// The certificate of an identity. Apple: `SecIdentityCopyCertificate`.
///
/// - Parameters:
///   - identityRef: the identity.
///   - certificateRef: set to the certificate.
/// - Returns: `errSecSuccess`.
@discardableResult
public func SecIdentityCopyCertificate(
    _ identityRef: SecIdentity, _ certificateRef: UnsafeMutablePointer<SecCertificate?>
) -> OSStatus {
    certificateRef.pointee = identityRef.certificate
    return errSecSuccess
}

/// The private key of an identity. Apple: `SecIdentityCopyPrivateKey`.
///
/// - Parameters:
///   - identityRef: the identity.
///   - privateKeyRef: set to the key.
/// - Returns: `errSecSuccess`. Never prompts; using the key may.
@discardableResult
public func SecIdentityCopyPrivateKey(
    _ identityRef: SecIdentity, _ privateKeyRef: UnsafeMutablePointer<SecKey?>
) -> OSStatus {
    privateKeyRef.pointee = identityRef.privateKey
    return errSecSuccess
}

/// Makes an identity of a certificate and its private key in the keychain. Apple: `SecIdentityCreateWithCertificate`.
///
/// - Parameters:
///   - keychainOrArray: ignored: there is one keychain.
///   - certificateRef: the certificate; it need not be in the keychain.
///   - identityRef: set to the identity; untouched on failure.
/// - Returns: `errSecSuccess`, or `errSecItemNotFound` when the keychain has no private key for the certificate. Blocks.
@discardableResult
public func SecIdentityCreateWithCertificate(
    _ keychainOrArray: CFTypeRef?, _ certificateRef: SecCertificate, _ identityRef: UnsafeMutablePointer<SecIdentity?>
) -> OSStatus {
    status { () throws(Failure) in
        identityRef.pointee = SecIdentity(certificateRef, try privateKey(matching: certificateRef))
    }
}
