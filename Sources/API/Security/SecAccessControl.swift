// SPDX-License-Identifier: Apache-2.0

public import Foundation
package import LatchkeyModel

/// The access control of an item: when the item can be read, and which proofs of the user are required first.
///
/// Immutable, and safe to use from any thread. Created by `SecAccessControlCreateWithFlags`.
///
/// Apple: `SecAccessControl`.
public final class SecAccessControl: NSObject, @unchecked Sendable {
    // Unchecked only because of NSObject: the one stored property is a constant of a Sendable type.
    package let value: AccessControl

    package init(_ value: AccessControl) { self.value = value }

    /// Returns whether another object is an access control with the same accessibility and constraints.
    ///
    /// - Parameter object: the object to compare with.
    /// - Returns: true for an equal `SecAccessControl`; false for any other object and for nil.
    ///
    /// Apple: `CFEqual(_:_:)`.
    public override func isEqual(_ object: Any?) -> Bool { (object as? SecAccessControl)?.value == value }

    /// Hash value, equal for equal access controls. Apple: `CFHash(_:)`.
    public override var hash: Int { value.hashValue }
}

/// Constraints of an access control: the proofs that are required before an item is read or a key is used.
///
/// Several constraints must all be satisfied, unless `or` is set.
///
/// Apple: `SecAccessControlCreateFlags`.
public struct SecAccessControlCreateFlags: OptionSet, Hashable, Sendable {
    /// The flags as a bit mask, with Apple's bit numbers. Apple: `SecAccessControlCreateFlags.rawValue`.
    public let rawValue: CFOptionFlags

    /// Creates a set of flags from a bit mask.
    ///
    /// - Parameter rawValue: any bit mask; `SecAccessControlCreateWithFlags` refuses unknown bits.
    ///
    /// Apple: `SecAccessControlCreateFlags.init(rawValue:)`.
    public init(rawValue: CFOptionFlags) { self.rawValue = rawValue }

    /// The user proves presence by biometry or by the passcode. Apple: `kSecAccessControlUserPresence`.
    public static let userPresence = Self(rawValue: 1)
    /// The user proves biometry with any enrolled finger or face, including ones enrolled later.
    /// Apple: `kSecAccessControlBiometryAny`.
    public static let biometryAny = Self(rawValue: 1 << 1)
    /// The user proves biometry with the set that is enrolled now; any change of the set makes the item inaccessible
    /// for good. Apple: `kSecAccessControlBiometryCurrentSet`.
    public static let biometryCurrentSet = Self(rawValue: 1 << 3)
    /// The user proves knowledge of the passcode. Apple: `kSecAccessControlDevicePasscode`.
    public static let devicePasscode = Self(rawValue: 1 << 4)
    /// The user confirms on a paired companion device that is nearby. Apple: `kSecAccessControlCompanion`.
    public static let companion = Self(rawValue: 1 << 5)
    /// One of the constraints is sufficient. Apple: `kSecAccessControlOr`.
    public static let or = Self(rawValue: 1 << 14)
    /// All constraints must be satisfied; the default. Apple: `kSecAccessControlAnd`.
    public static let and = Self(rawValue: 1 << 15)
    /// A private key of the Secure Enclave may be used: to sign, decrypt and derive shared secrets.
    /// Apple: `kSecAccessControlPrivateKeyUsage`.
    public static let privateKeyUsage = Self(rawValue: 1 << 30)
    /// The item is also encrypted under a password that the app passes to `LAContext.setCredential(_:type:)`.
    /// Apple: `kSecAccessControlApplicationPassword`.
    public static let applicationPassword = Self(rawValue: 1 << 31)

    /// Former name of `biometryAny`, with the same value. Apple: `kSecAccessControlTouchIDAny`.
    @available(*, deprecated, renamed: "biometryAny")
    public static var touchIDAny: Self { biometryAny }
    /// Former name of `biometryCurrentSet`, with the same value. Apple: `kSecAccessControlTouchIDCurrentSet`.
    @available(*, deprecated, renamed: "biometryCurrentSet")
    public static var touchIDCurrentSet: Self { biometryCurrentSet }
    /// Former name of `companion`, with the same value. Apple: `kSecAccessControlWatch`.
    @available(*, deprecated, renamed: "companion")
    public static var watch: Self { companion }
}

/// Creates an access control from an accessibility class and constraints.
///
/// - Parameters:
///   - allocator: ignored; pass nil.
///   - protection: one of the `kSecAttrAccessible...` values.
///   - flags: the constraints; empty for none. These combinations are refused: `or` with `and`; `or` or `and` without
///     another constraint, where `privateKeyUsage` does not count; `biometryAny` with `biometryCurrentSet`;
///     `userPresence` with anything but `applicationPassword` and `privateKeyUsage`; unknown bits.
///   - error: set to a retained error of `NSOSStatusErrorDomain` with code `errSecParam` when the function returns nil;
///     unchanged otherwise. May be nil.
/// - Returns: the access control; nil when the protection or the combination of flags is not allowed.
///
/// Does not block, does not prompt and does not contact the daemon: whether a passcode is set and biometry is enrolled
/// is checked when an item is added.
///
/// Apple: `SecAccessControlCreateWithFlags(_:_:_:_:)`.
@discardableResult
public func SecAccessControlCreateWithFlags(
    _ allocator: CFAllocator?, _ protection: CFTypeRef, _ flags: SecAccessControlCreateFlags,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> SecAccessControl? {
    if let name = protection as? NSString, let accessibility = Accessibility(constant: name as String),
        let bits = UInt32(exactly: flags.rawValue)
    {
        let value = AccessControl(accessibility: accessibility, constraints: AccessConstraints(rawValue: bits))
        if value.isValid { return SecAccessControl(value) }
    }
    error?.pointee = Unmanaged.passRetained(
        .status(errSecParam, "The protection or the combination of flags is not allowed."))
    return nil
}

/// Returns the type identifier of `SecAccessControl`, as `CFGetTypeID` returns it.
/// Apple: `SecAccessControlGetTypeID()`.
@discardableResult
public func SecAccessControlGetTypeID() -> CFTypeID { 0x4c4b_0001 }

extension Accessibility {
    private static let constants: [(String, Accessibility)] = [
        (kSecAttrAccessibleWhenUnlocked as String, .whenUnlocked),
        (kSecAttrAccessibleAfterFirstUnlock as String, .afterFirstUnlock),
        // Literals of kSecAttrAccessibleAlways and kSecAttrAccessibleAlwaysThisDeviceOnly: the constants are
        // deprecated, and using them would be a warning.
        ("dk", .always), ("dku", .alwaysThisDeviceOnly),
        (kSecAttrAccessibleWhenUnlockedThisDeviceOnly as String, .whenUnlockedThisDeviceOnly),
        (kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly as String, .afterFirstUnlockThisDeviceOnly),
        (kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly as String, .whenPasscodeSetThisDeviceOnly),
    ]

    /// The accessibility with a `kSecAttrAccessible...` value; nil for any other string.
    init?(constant: String) {
        guard let entry = Accessibility.constants.first(where: { $0.0 == constant }) else { return nil }
        self = entry.1
    }

    /// The `kSecAttrAccessible...` value.
    var constant: String {
        // The table above contains every case.
        Accessibility.constants.first { $0.1 == self }?.0 ?? ""
    }
}
