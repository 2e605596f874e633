// SPDX-License-Identifier: Apache-2.0

/// The accessibility class of an item, which says when its key is available (`kSecAttrAccessible...`).
///
/// Raw values are part of the wire format and of the store format.
package enum Accessibility: UInt8, CaseIterable, Sendable {
    case whenUnlocked = 1
    case afterFirstUnlock = 2
    case always = 3
    case whenUnlockedThisDeviceOnly = 4
    case afterFirstUnlockThisDeviceOnly = 5
    case alwaysThisDeviceOnly = 6
    case whenPasscodeSetThisDeviceOnly = 7

    /// Whether items of this class never leave the machine (`...ThisDeviceOnly`).
    package var isThisDeviceOnly: Bool {
        switch self {
        case .whenUnlocked, .afterFirstUnlock, .always: false
        case .whenUnlockedThisDeviceOnly, .afterFirstUnlockThisDeviceOnly, .alwaysThisDeviceOnly,
            .whenPasscodeSetThisDeviceOnly:
            true
        }
    }
}

/// The constraints of an access control. Raw values are those of Apple's `SecAccessControlCreateFlags`.
package struct AccessConstraints: OptionSet, Hashable, Sendable {
    package let rawValue: UInt32
    package init(rawValue: UInt32) { self.rawValue = rawValue }

    package static let userPresence = AccessConstraints(rawValue: 1)
    package static let biometryAny = AccessConstraints(rawValue: 1 << 1)
    package static let biometryCurrentSet = AccessConstraints(rawValue: 1 << 3)
    package static let devicePasscode = AccessConstraints(rawValue: 1 << 4)
    package static let companion = AccessConstraints(rawValue: 1 << 5)
    package static let or = AccessConstraints(rawValue: 1 << 14)
    package static let and = AccessConstraints(rawValue: 1 << 15)
    package static let privateKeyUsage = AccessConstraints(rawValue: 1 << 30)
    package static let applicationPassword = AccessConstraints(rawValue: 1 << 31)

    /// All known flags; an access control with any other flag is refused.
    package static let known: AccessConstraints = [
        .userPresence, .biometryAny, .biometryCurrentSet, .devicePasscode, .companion, .or, .and, .privateKeyUsage,
        .applicationPassword,
    ]
    /// The flags that require the user to authenticate or the app to supply a password.
    package static let demands: AccessConstraints = [
        .userPresence, .biometryAny, .biometryCurrentSet, .devicePasscode, .companion, .applicationPassword,
    ]
}

/// The access control of an item: when its key is available, and which proofs a use requires.
package struct AccessControl: Hashable, Sendable {
    /// When the item's key is available.
    package var accessibility: Accessibility
    /// The required proofs and how they combine; empty if the item requires no proof.
    package var constraints: AccessConstraints

    /// Creates an access control without validating the combination of constraints; see `isValid`.
    package init(accessibility: Accessibility = .whenUnlocked, constraints: AccessConstraints = []) {
        (self.accessibility, self.constraints) = (accessibility, constraints)
    }

    /// Whether the constraints are a permitted combination (behaviour AC-01).
    package var isValid: Bool {
        guard constraints.isSubset(of: .known) else { return false }
        if constraints.contains([.or, .and]) { return false }
        if constraints.contains([.biometryAny, .biometryCurrentSet]) { return false }
        if constraints.contains(.userPresence),
            !constraints.subtracting([.userPresence, .applicationPassword, .privateKeyUsage]).isEmpty
        {
            return false
        }
        // `.or` or `.and` without any demand would look like a protection and require no proof.
        return constraints.isDisjoint(with: [.or, .and]) || isProtected
    }

    /// Whether reading the item requires a proof or an application password.
    package var isProtected: Bool { !constraints.isDisjoint(with: .demands) }

    /// Whether a discarded passcode takes the item along: only a finger, a face or the passcode opens it, or its class needs
    /// a passcode. Otherwise the next passcode, or a finger enrolled after it, would open what the forgotten one protected.
    ///
    /// An app's own password is no such proof. The item of one is sealed under it before and afterwards, and nothing of a
    /// passcode ever opened it.
    package var isDiscardedWithPasscode: Bool {
        !plan.stages.isEmpty || accessibility == .whenPasscodeSetThisDeviceOnly
    }

    /// The associated data that binds records to this access control, 5 bytes: the accessibility, then the constraints
    /// as a big-endian 32-bit integer.
    package var boundBytes: [UInt8] {
        let raw = constraints.rawValue
        return [
            accessibility.rawValue, UInt8(truncatingIfNeeded: raw >> 24), UInt8(truncatingIfNeeded: raw >> 16),
            UInt8(truncatingIfNeeded: raw >> 8), UInt8(truncatingIfNeeded: raw),
        ]
    }

    /// The authentication required before the item can be read; empty if none is.
    package var plan: AuthenticationPlan {
        if constraints.contains(.userPresence) { return AuthenticationPlan([[.biometry, .passcode]]) }
        var stages: [Set<AuthenticationMethod>] = []
        if !constraints.isDisjoint(with: [.biometryAny, .biometryCurrentSet]) { stages.append([.biometry]) }
        if constraints.contains(.devicePasscode) { stages.append([.passcode]) }
        // No device can be paired on Linux, so no method completes the stage; it must not be dropped.
        if constraints.contains(.companion) { stages.append([]) }
        guard constraints.contains(.or), !stages.isEmpty else { return AuthenticationPlan(stages) }
        return AuthenticationPlan([stages.reduce([]) { $0.union($1) }])
    }
}
