// SPDX-License-Identifier: Apache-2.0

public import Foundation
package import LatchkeyModel

/// The rule of an item: when it can be read, and what has to be proven first. Apple: `SecAccessControl`.
///
/// Immutable; made by `SecAccessControlCreateWithFlags` only.
public final class SecAccessControl: NSObject, @unchecked Sendable {
    // The one stored property is a constant of a Sendable type; NSObject is what keeps the compiler from seeing it.
    package let rule: AccessControl

    package init(_ rule: AccessControl) { self.rule = rule }

    /// Whether both rules are the same.
    public override func isEqual(_ object: Any?) -> Bool { (object as? SecAccessControl)?.rule == rule }

    /// Equal for equal rules.
    public override var hash: Int { rule.hashValue }
}

/// What has to be proven before an item is read. Apple: `SecAccessControlCreateFlags`.
public struct SecAccessControlCreateFlags: OptionSet, Hashable, Sendable {
    /// The bits.
    public let rawValue: CFOptionFlags

    /// Takes any bits; unknown ones are refused by `SecAccessControlCreateWithFlags`.
    public init(rawValue: CFOptionFlags) { self.rawValue = rawValue }

    /// Biometry or the passcode.
    public static let userPresence = Self(rawValue: 1)
    /// Any finger or face, also one that is enrolled later.
    public static let biometryAny = Self(rawValue: 1 << 1)
    /// A finger or face of the set that is enrolled now; after any change the item is gone.
    public static let biometryCurrentSet = Self(rawValue: 1 << 3)
    /// The passcode.
    public static let devicePasscode = Self(rawValue: 1 << 4)
    /// A paired device nearby.
    public static let companion = Self(rawValue: 1 << 5)
    /// One of the constraints is enough.
    public static let or = Self(rawValue: 1 << 14)
    /// All constraints have to be met.
    public static let and = Self(rawValue: 1 << 15)
    /// A private key may sign and decrypt.
    public static let privateKeyUsage = Self(rawValue: 1 << 30)
    /// A password of the app, besides.
    public static let applicationPassword = Self(rawValue: 1 << 31)

    /// Old name of `biometryAny`.
    @available(*, deprecated, renamed: "biometryAny")
    public static var touchIDAny: Self { biometryAny }
    /// Old name of `biometryCurrentSet`.
    @available(*, deprecated, renamed: "biometryCurrentSet")
    public static var touchIDCurrentSet: Self { biometryCurrentSet }
    /// Old name of `companion`.
    @available(*, deprecated, renamed: "companion")
    public static var watch: Self { companion }
}

/// Makes a rule, or refuses it. Apple: `SecAccessControlCreateWithFlags`.
///
/// - Parameters:
///   - allocator: ignored.
///   - protection: one of the `kSecAttrAccessible...` values.
///   - flags: constraints; `or` and `and` exclude each other, so do `biometryAny` and `biometryCurrentSet`, and
///     `userPresence` stands with `applicationPassword` and `privateKeyUsage` only; `or` and `and` need a demand beside
///     them.
///   - error: set to an error of `NSOSStatusErrorDomain` with code -50 when the rule is refused.
/// - Returns: the rule, or nil. Does not block and does not prompt.
@discardableResult
public func SecAccessControlCreateWithFlags(
    _ allocator: CFAllocator?, _ protection: CFTypeRef, _ flags: SecAccessControlCreateFlags,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> SecAccessControl? {
    if let name = protection as? NSString, let accessibility = Accessibility(constant: name as String),
        let bits = UInt32(exactly: flags.rawValue)
    {
        let rule = AccessControl(accessibility: accessibility, constraints: AccessConstraints(rawValue: bits))
        if rule.isValid { return SecAccessControl(rule) }
    }
    error?.pointee = Unmanaged.passRetained(
        .status(errSecParam, "The protection or the combination of flags is not allowed."))
    return nil
}

/// The type of `SecAccessControl`, for `CFGetTypeID`.
@discardableResult
public func SecAccessControlGetTypeID() -> CFTypeID { 0x4c4b_0001 }

extension Accessibility {
    private static let constants: [(String, Accessibility)] = [
        (kSecAttrAccessibleWhenUnlocked as String, .whenUnlocked),
        (kSecAttrAccessibleAfterFirstUnlock as String, .afterFirstUnlock),
        // kSecAttrAccessibleAlways and kSecAttrAccessibleAlwaysThisDeviceOnly, which Apple has deprecated: naming them
        // would be a warning.
        ("dk", .always), ("dku", .alwaysThisDeviceOnly),
        (kSecAttrAccessibleWhenUnlockedThisDeviceOnly as String, .whenUnlockedThisDeviceOnly),
        (kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly as String, .afterFirstUnlockThisDeviceOnly),
        (kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly as String, .whenPasscodeSetThisDeviceOnly),
    ]

    /// The class that a `kSecAttrAccessible...` value names.
    init?(constant: String) {
        guard let entry = Accessibility.constants.first(where: { $0.0 == constant }) else { return nil }
        self = entry.1
    }

    /// The `kSecAttrAccessible...` value.
    var constant: String {
        // Every case stands in the table above.
        Accessibility.constants.first { $0.1 == self }?.0 ?? ""
    }
}
