// SPDX-License-Identifier: Apache-2.0

/// When an item's key is available: `kSecAttrAccessible...`. Numbers are part of the wire and the store format.
package enum Accessibility: UInt8, CaseIterable, Sendable {
    case whenUnlocked = 1
    case afterFirstUnlock = 2
    case always = 3
    case whenUnlockedThisDeviceOnly = 4
    case afterFirstUnlockThisDeviceOnly = 5
    case alwaysThisDeviceOnly = 6
    case whenPasscodeSetThisDeviceOnly = 7

    /// Whether items of this class never leave the machine.
    package var isThisDeviceOnly: Bool {
        switch self {
        case .whenUnlocked, .afterFirstUnlock, .always: false
        case .whenUnlockedThisDeviceOnly, .afterFirstUnlockThisDeviceOnly, .alwaysThisDeviceOnly,
            .whenPasscodeSetThisDeviceOnly:
            true
        }
    }
}

/// The constraints of an access control; raw values are Apple's (`SecAccessControlCreateFlags`).
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

    /// Every flag that is known; anything else is refused.
    package static let known: AccessConstraints = [
        .userPresence, .biometryAny, .biometryCurrentSet, .devicePasscode, .companion, .or, .and, .privateKeyUsage,
        .applicationPassword,
    ]
    /// The flags that ask a person for something.
    package static let demands: AccessConstraints = [
        .userPresence, .biometryAny, .biometryCurrentSet, .devicePasscode, .companion, .applicationPassword,
    ]
}

/// The rule of an item: when its key is there, and what its owner has to prove first.
package struct AccessControl: Hashable, Sendable {
    /// When the item's key is available.
    package var accessibility: Accessibility
    /// What has to be proven; empty means nothing.
    package var constraints: AccessConstraints

    /// Makes a rule without checking the combination: see `isValid`.
    package init(accessibility: Accessibility = .whenUnlocked, constraints: AccessConstraints = []) {
        self.accessibility = accessibility
        self.constraints = constraints
    }

    /// Whether the constraints may stand together (behaviour AC-01).
    package var isValid: Bool {
        guard constraints.isSubset(of: .known) else { return false }
        if constraints.contains([.or, .and]) { return false }
        if constraints.contains([.biometryAny, .biometryCurrentSet]) { return false }
        if constraints.contains(.userPresence),
            !constraints.subtracting([.userPresence, .applicationPassword, .privateKeyUsage]).isEmpty
        {
            return false
        }
        // An operator without a demand reads as a rule and asks for nothing.
        return constraints.isDisjoint(with: [.or, .and]) || isProtected
    }

    /// Whether the item asks for a proof before it is read.
    package var isProtected: Bool { !constraints.isDisjoint(with: .demands) }

    /// The bytes that records are bound to: accessibility, then the constraints in network order.
    package var boundBytes: [UInt8] {
        let raw = constraints.rawValue
        return [
            accessibility.rawValue, UInt8(truncatingIfNeeded: raw >> 24), UInt8(truncatingIfNeeded: raw >> 16),
            UInt8(truncatingIfNeeded: raw >> 8), UInt8(truncatingIfNeeded: raw),
        ]
    }

    /// What a person has to do before the item is read; empty when nothing.
    package var plan: AuthenticationPlan {
        if constraints.contains(.userPresence) { return AuthenticationPlan([[.biometry, .passcode]]) }
        var single: [AuthenticationMethod] = []
        if !constraints.isDisjoint(with: [.biometryAny, .biometryCurrentSet]) { single.append(.biometry) }
        if constraints.contains(.devicePasscode) { single.append(.passcode) }
        if constraints.contains(.companion) { single.append(.companion) }
        if constraints.contains(.or), !single.isEmpty { return AuthenticationPlan([Set(single)]) }
        return AuthenticationPlan(single.map { [$0] })
    }
}
