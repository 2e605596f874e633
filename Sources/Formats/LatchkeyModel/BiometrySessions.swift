// SPDX-License-Identifier: Apache-2.0

/// The login sessions of a user in which biometry may be used: those at the machine that are active (abuse case 22).
package enum BiometrySessions: Hashable, Sendable {
    /// Every session, and processes outside of sessions: nothing reports login sessions.
    case every
    case only(Set<String>)

    /// The identifier that `ControlGroup` gives to processes of the user's service manager, which belong to no single
    /// session: programs of a desktop are among them.
    package static let userManager = "user"

    /// Whether biometry may be used for a process of a session.
    ///
    /// - Parameter session: the identifier as `latchkey-authd` determined it; empty for a process outside of sessions,
    ///   for which biometry is refused.
    package func permits(_ session: String) -> Bool {
        switch self {
        case .every: true
        case .only(let sessions): session == Self.userManager ? !sessions.isEmpty : sessions.contains(session)
        }
    }
}
