// SPDX-License-Identifier: Apache-2.0

public import Foundation

// Names that published code uses in tables and signatures, and that are declared only so that such code compiles. A
// call that uses one of them returns the status in its documentation.

/// The evaluation of a certificate's trust; declared so that code that names the type compiles.
///
/// > Note: Linux: trust evaluation is not available yet, and no function creates an instance.
///
/// Apple: `SecTrust`.
public final class SecTrust: NSObject, Sendable {
    private override init() {}
}

/// Match key: only certificates that satisfy this `SecPolicy`. Apple: `kSecMatchPolicy`.
///
/// > Note: Linux: there is no `SecPolicy`; a search for certificates or identities with this key returns
/// `errSecUnimplemented`.
nonisolated(unsafe) public let kSecMatchPolicy: CFString = "m_Policy"
/// Key in the results of `SecPKCS12Import`: a `SecTrust`. Apple: `kSecImportItemTrust`.
///
/// > Note: Linux: the results never contain this key.
nonisolated(unsafe) public let kSecImportItemTrust: CFString = "trust"
/// Attribute of an item: a hint for synchronisation, a string. Apple: `kSecAttrSyncViewHint`.
///
/// > Note: Linux: items are not synchronised; a query with this attribute returns `errSecNoSuchAttr`.
nonisolated(unsafe) public let kSecAttrSyncViewHint: CFString = "vwht"
/// Attribute of an item: its persistent reference. Apple: `kSecAttrPersistentReference`.
///
/// > Note: Linux: a query with this key returns `errSecParam`; use `kSecValuePersistentRef`.
nonisolated(unsafe) public let kSecAttrPersistentReference: CFString = "persistref"

/// Offers a password to the browser's password manager; here it always fails.
///
/// - Parameters:
///   - fqdn: the fully qualified domain name of the web site; ignored.
///   - account: the user name; ignored.
///   - password: the password, or nil to remove a stored one; ignored.
///   - completionHandler: called once, on a thread of its own, with an error of `NSOSStatusErrorDomain` and code
///     `errSecUnimplemented`.
///
/// Returns at once, stores nothing, never prompts and does not contact the daemon.
///
/// > Note: Linux: apps and browsers share no passwords, so the call always reports `errSecUnimplemented`.
///
/// Apple: `SecAddSharedWebCredential(_:_:_:_:)`.
@preconcurrency
public func SecAddSharedWebCredential(
    _ fqdn: CFString, _ account: CFString, _ password: CFString?,
    _ completionHandler: @escaping @Sendable (CFError?) -> Void
) {
    Thread.detachNewThread {
        completionHandler(.status(errSecUnimplemented, "Latchkey does not share passwords with browsers."))
    }
}
