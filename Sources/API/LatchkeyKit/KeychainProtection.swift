// SPDX-License-Identifier: Apache-2.0

import Foundation
public import Security

/// When an item can be read, and what the user has to prove first.
public struct KeychainProtection: Equatable, Sendable {
    /// When an item can be read. Apple: `kSecAttrAccessible`.
    public enum Availability: Hashable, Sendable, CaseIterable {
        /// While the device is unlocked; the keychain's default. Apple: `kSecAttrAccessibleWhenUnlocked`.
        case whenUnlocked
        /// While the device is unlocked; never leaves the device. Apple:
        /// `kSecAttrAccessibleWhenUnlockedThisDeviceOnly`.
        case whenUnlockedThisDeviceOnly
        /// After the first unlock since the device started. Apple: `kSecAttrAccessibleAfterFirstUnlock`.
        case afterFirstUnlock
        /// After the first unlock since the device started; never leaves the device. Apple:
        /// `kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly`.
        case afterFirstUnlockThisDeviceOnly
        /// While the device is unlocked and has a passcode; never leaves the device, and is deleted with the
        /// passcode. Apple: `kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly`.
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
    /// What the user has to prove before the item is read; empty for nothing.
    public var constraints: SecAccessControlCreateFlags

    /// Creates a protection. Apple: `SecAccessControlCreateWithFlags`.
    ///
    /// - Parameters:
    ///   - availability: when the item can be read.
    ///   - constraints: what the user has to prove; empty for nothing. Constraints that contradict each other make
    ///     the keychain call fail with `badParameter`.
    public init(_ availability: Availability = .whenUnlocked, constraints: SecAccessControlCreateFlags = []) {
        (self.availability, self.constraints) = (availability, constraints)
    }

    /// The keychain's default: readable while the device is unlocked, without a proof.
    public static var standard: KeychainProtection { KeychainProtection() }

    /// Biometry of the set that is enrolled now; the item is deleted after any enrolment change. Never leaves the
    /// device.
    public static var currentBiometry: KeychainProtection {
        KeychainProtection(.whenPasscodeSetThisDeviceOnly, constraints: .biometryCurrentSet)
    }

    /// Biometry or the passcode. Never leaves the device.
    public static var userPresence: KeychainProtection {
        KeychainProtection(.whenPasscodeSetThisDeviceOnly, constraints: .userPresence)
    }

    /// A password of the app, which `KeychainPrompt.password` provides: the item cannot be read without it.
    public static var applicationPassword: KeychainProtection {
        KeychainProtection(.whenUnlockedThisDeviceOnly, constraints: .applicationPassword)
    }

    /// The attributes that an add or an update sets.
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
