// SPDX-License-Identifier: Apache-2.0

import Foundation
public import Security

/// When an item can be read, and what a person has to prove first.
public struct KeychainProtection: Equatable, Sendable {
    /// When an item can be read.
    public enum Availability: Hashable, Sendable, CaseIterable {
        /// While the device is unlocked: the keychain's own default.
        case whenUnlocked
        /// While the device is unlocked; never leaves the device.
        case whenUnlockedThisDeviceOnly
        /// Once the device was unlocked since it started.
        case afterFirstUnlock
        /// Once the device was unlocked since it started; never leaves the device.
        case afterFirstUnlockThisDeviceOnly
        /// While the device is unlocked and has a passcode; never leaves the device, and goes with the passcode.
        case whenPasscodeSetThisDeviceOnly

        var constant: CFString {
            switch self {
            case .whenUnlocked: kSecAttrAccessibleWhenUnlocked
            case .whenUnlockedThisDeviceOnly: kSecAttrAccessibleWhenUnlockedThisDeviceOnly
            case .afterFirstUnlock: kSecAttrAccessibleAfterFirstUnlock
            case .afterFirstUnlockThisDeviceOnly: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly
            case .whenPasscodeSetThisDeviceOnly: kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly
            }
        }
    }

    /// When the item can be read.
    public var availability: Availability
    /// What has to be proven; empty for nothing.
    public var constraints: SecAccessControlCreateFlags

    /// Takes both parts.
    public init(_ availability: Availability = .whenUnlocked, constraints: SecAccessControlCreateFlags = []) {
        self.availability = availability
        self.constraints = constraints
    }

    /// The keychain's default: while unlocked, and nobody is asked.
    public static var standard: KeychainProtection { KeychainProtection() }

    /// A finger or face of those enrolled now, and no other: after any change the item is gone. Never leaves the device.
    public static var currentBiometry: KeychainProtection {
        KeychainProtection(.whenPasscodeSetThisDeviceOnly, constraints: .biometryCurrentSet)
    }

    /// Any finger or face, or the passcode. Never leaves the device.
    public static var userPresence: KeychainProtection {
        KeychainProtection(.whenPasscodeSetThisDeviceOnly, constraints: .userPresence)
    }

    /// A password of the app's own, which `KeychainPrompt.password` hands over: the item cannot be read without it.
    public static var applicationPassword: KeychainProtection {
        KeychainProtection(.whenUnlockedThisDeviceOnly, constraints: .applicationPassword)
    }

    /// What an add or update sets.
    func attributes() throws(KeychainError) -> [String: Any] {
        guard !constraints.isEmpty else { return [kSecAttrAccessible as String: availability.constant] }
        var error: Unmanaged<CFError>?
        guard let control = SecAccessControlCreateWithFlags(nil, availability.constant, constraints, &error) else {
            let reason = (error?.takeRetainedValue() as (any Error)?)?.localizedDescription
            throw KeychainError(.badParameter, status: errSecParam, message: reason)
        }
        return [kSecAttrAccessControl as String: control]
    }
}
