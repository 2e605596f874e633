// SPDX-License-Identifier: Apache-2.0

public import Foundation
import LatchkeyCertificates
import LatchkeyModel

/// A certificate together with the private key of its public key.
///
/// Immutable, and safe to use from any thread. Created by `SecIdentityCreate`, `SecIdentityCreateWithCertificate`,
/// `SecPKCS12Import` and `SecItemCopyMatching`.
///
/// Apple: `SecIdentity`.
public final class SecIdentity: NSObject, @unchecked Sendable {
    // Unchecked only because of NSObject: the stored properties are constants of Sendable types.
    package let certificate: SecCertificate
    package let privateKey: SecKey

    package init(_ certificate: SecCertificate, _ privateKey: SecKey) {
        (self.certificate, self.privateKey) = (certificate, privateKey)
    }

    /// Returns whether another object is an identity with an equal certificate and an equal private key.
    ///
    /// - Parameter object: the object to compare with.
    /// - Returns: true for an equal `SecIdentity`; false for any other object and for nil.
    ///
    /// Apple: `CFEqual(_:_:)`.
    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? SecIdentity else { return false }
        return certificate == other.certificate && privateKey == other.privateKey
    }

    /// Hash value, equal for equal identities. Apple: `CFHash(_:)`.
    public override var hash: Int { certificate.hash }

    /// Text for logs: the type's name and the certificate's subject summary. Apple: `CFCopyDescription(_:)`.
    public override var description: String { "<SecIdentity of \(certificate)>" }
}

/// Returns the type identifier of `SecIdentity`, as `CFGetTypeID` returns it. Apple: `SecIdentityGetTypeID()`.
@discardableResult
public func SecIdentityGetTypeID() -> CFTypeID { 0x4c4b_0004 }

/// Creates an identity from a certificate and its private key.
///
/// - Parameters:
///   - allocator: ignored; pass nil.
///   - certificate: the certificate; it need not be in the keychain.
///   - privateKey: the private key; it need not be in the keychain.
/// - Returns: the identity; nil when the key is not private or its public half is not the certificate's public key.
///
/// Does not block and does not prompt.
///
/// Apple: `SecIdentityCreate(_:_:_:)`.
@discardableResult
public func SecIdentityCreate(
    _ allocator: CFAllocator?, _ certificate: SecCertificate, _ privateKey: SecKey
) -> SecIdentity? {
    guard privateKey.backing.isPrivate, SecCertificateCopyKey(certificate) == privateKey.publicHalf else { return nil }
    return SecIdentity(certificate, privateKey)
}

/// Returns the certificate of an identity.
///
/// - Parameters:
///   - identityRef: the identity.
///   - certificateRef: set to the certificate.
/// - Returns: always `errSecSuccess`.
///
/// Does not block and does not prompt.
///
/// Apple: `SecIdentityCopyCertificate(_:_:)`.
@discardableResult
public func SecIdentityCopyCertificate(
    _ identityRef: SecIdentity, _ certificateRef: UnsafeMutablePointer<SecCertificate?>
) -> OSStatus {
    certificateRef.pointee = identityRef.certificate
    return errSecSuccess
}

/// Returns the private key of an identity.
///
/// - Parameters:
///   - identityRef: the identity.
///   - privateKeyRef: set to the private key.
/// - Returns: always `errSecSuccess`.
///
/// Does not block and does not prompt; using a key of the Secure Enclave may do both.
///
/// Apple: `SecIdentityCopyPrivateKey(_:_:)`.
@discardableResult
public func SecIdentityCopyPrivateKey(
    _ identityRef: SecIdentity, _ privateKeyRef: UnsafeMutablePointer<SecKey?>
) -> OSStatus {
    privateKeyRef.pointee = identityRef.privateKey
    return errSecSuccess
}

/// Creates an identity from a certificate and its private key in the keychain.
///
/// - Parameters:
///   - keychainOrArray: ignored, since there is one keychain; pass nil.
///   - certificateRef: the certificate; it need not be in the keychain.
///   - identityRef: set to the identity; unchanged on failure.
/// - Returns: `errSecSuccess`; `errSecItemNotFound` when the keychain has no private key for the certificate;
///   `errSecUserCanceled`, `errSecAuthFailed` or `errSecInteractionNotAllowed` when the key's access control is not
///   satisfied; `errSecNotAvailable` when the daemon cannot be reached.
///
/// Blocks while the daemon answers, and may prompt when the key has an access control.
///
/// Apple: `SecIdentityCreateWithCertificate(_:_:_:)`.
@discardableResult
public func SecIdentityCreateWithCertificate(
    _ keychainOrArray: CFTypeRef?, _ certificateRef: SecCertificate, _ identityRef: UnsafeMutablePointer<SecIdentity?>
) -> OSStatus {
    status { () throws(Failure) in
        identityRef.pointee = SecIdentity(certificateRef, try privateKey(matching: certificateRef))
    }
}
