// SPDX-License-Identifier: Apache-2.0

public import Foundation

// Names that published code puts into tables and signatures although nothing stands behind them here. They compile, and a
// call that uses them ends with the status that is documented at each.

/// An evaluation of trust. Apple: `SecTrust`.
///
/// > Note: Linux: nothing evaluates trust yet, so nothing makes one.
public final class SecTrust: NSObject, Sendable {
    private override init() {}
}

/// Key of a search: a policy that certificates have to meet. Apple: `kSecMatchPolicy`.
///
/// > Note: Linux: there is no `SecPolicy`; a search of certificates with this key is `errSecUnimplemented`.
nonisolated(unsafe) public let kSecMatchPolicy: CFString = "m_Policy"
/// Result of an import: a `SecTrust`. Apple: `kSecImportItemTrust`.
///
/// > Note: Linux: no result has it.
nonisolated(unsafe) public let kSecImportItemTrust: CFString = "trust"
/// Attribute: how an item is synchronized. Apple: `kSecAttrSyncViewHint`.
///
/// > Note: Linux: there is no cloud behind it, and no item has it: `errSecNoSuchAttr`.
nonisolated(unsafe) public let kSecAttrSyncViewHint: CFString = "vwht"
/// Attribute: a reference to an item. Apple: `kSecAttrPersistentReference`.
///
/// > Note: Linux: `errSecParam`; use `kSecValuePersistentRef`.
nonisolated(unsafe) public let kSecAttrPersistentReference: CFString = "persistref"

/// Offers a password to the browser. Apple: `SecAddSharedWebCredential`.
///
/// - Parameters:
///   - fqdn: the name of the site.
///   - account: the account.
///   - password: the password; nil to remove it.
///   - completionHandler: called once, never on the main thread.
///
/// > Note: Linux: no browser's passwords are shared with apps: the error is always `errSecUnimplemented`. Nothing is stored.
@preconcurrency
public func SecAddSharedWebCredential(
    _ fqdn: CFString, _ account: CFString, _ password: CFString?,
    _ completionHandler: @escaping @Sendable (CFError?) -> Void
) {
    Thread.detachNewThread {
        completionHandler(.status(errSecUnimplemented, "No browser's passwords are shared with apps."))
    }
}
