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
