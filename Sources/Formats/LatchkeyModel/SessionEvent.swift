// SPDX-License-Identifier: Apache-2.0

/// A change of login sessions.
package struct SessionEvent: Equatable, Sendable {
    package enum Change: Equatable, Sendable {
        /// A session was locked, or the machine is about to sleep.
        case locked
        case unlocked(byBiometry: Bool)
        case background(Bool)
        case ended
        /// The sessions changed otherwise; `SessionMonitor.sessions` has the present state.
        case changed
    }

    /// The user of the session (`uid_t`); nil for every user.
    package let user: UInt32?
    /// The identifier of the login session, such as that of logind; unique while the machine runs.
    package let session: String
    package let change: Change

    package init(user: UInt32?, session: String, _ change: Change) {
        (self.user, self.session, self.change) = (user, session, change)
    }
}

/// What the login sessions of a user mean for authentication.
package struct SessionState: Equatable, Sendable {
    /// Whether a session of the user is locked, or the machine sleeps.
    package var isLocked: Bool
    package var biometry: BiometrySessions

    package init(isLocked: Bool, biometry: BiometrySessions) { (self.isLocked, self.biometry) = (isLocked, biometry) }
}

/// The lock state of the device, which decides the accessibility classes that can be read.
package struct LockState: Hashable, Sendable {
    /// Whether the device is locked now.
    package var isLocked: Bool
    /// Whether the device has been unlocked since it started.
    package var wasUnlocked: Bool

    /// Creates a state; by default unlocked since the start, as on a machine without a lock.
    package init(isLocked: Bool = false, wasUnlocked: Bool = true) {
        (self.isLocked, self.wasUnlocked) = (isLocked, wasUnlocked)
    }

    /// Returns whether items of the accessibility class can be read and written (Apple: `kSecAttrAccessible...`).
    package func allows(_ accessibility: Accessibility) -> Bool {
        switch accessibility {
        case .whenUnlocked, .whenUnlockedThisDeviceOnly, .whenPasscodeSetThisDeviceOnly: !isLocked
        case .afterFirstUnlock, .afterFirstUnlockThisDeviceOnly: wasUnlocked
        case .always, .alwaysThisDeviceOnly: true
        }
    }
}
