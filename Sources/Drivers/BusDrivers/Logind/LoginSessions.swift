// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams

/// All sessions of the machine, and what they mean for each user. Values only; `LogindMonitor` updates them.
struct LoginSessions: Equatable, Sendable {
    /// By object path.
    private var sessions: [String: LoginSession] = [:]
    var isSleeping = false

    subscript(path: String) -> LoginSession? { sessions[path] }

    func state(of user: UInt32) -> SessionState {
        let own = sessions.values.filter { $0.user == user }
        // A few sessions only: with more of them than a message may have, biometry is refused in the others.
        let usable = own.filter(\.isAtTheMachine).map(\.id).sorted().prefix(Limits.loginSessions)
        return SessionState(
            isLocked: isSleeping || own.contains(where: \.isLocked), biometry: .only(isSleeping ? [] : Set(usable)))
    }

    /// Adds or replaces a session and returns the event for its user; nil if nothing has changed for the user.
    mutating func put(_ session: LoginSession, at path: String) -> SessionEvent? {
        let (before, earlier) = (state(of: session.user), sessions[path])
        sessions[path] = session
        // Also while another session of the user is locked: a person may have unlocked the keychain since then.
        if session.isLocked, earlier?.isLocked != true {
            return SessionEvent(user: session.user, session: session.id, .locked)
        }
        guard state(of: session.user) != before else { return nil }
        return SessionEvent(user: session.user, session: session.id, .changed)
    }

    /// Removes a session and returns the event for its user; nil if nothing has changed for the user.
    mutating func remove(_ path: String) -> SessionEvent? {
        guard let session = sessions[path] else { return nil }
        let before = state(of: session.user)
        sessions[path] = nil
        if session.isLogin, !sessions.values.contains(where: { $0.user == session.user && $0.isLogin }) {
            return SessionEvent(user: session.user, session: session.id, .ended)
        }
        guard state(of: session.user) != before else { return nil }
        return SessionEvent(user: session.user, session: session.id, .changed)
    }

    var paths: Set<String> { Set(sessions.keys) }

    /// Refuses biometry in all sessions: what is known of them may be outdated. Locks remain, also when logind says
    /// otherwise after its restart, because it does not store the hint of the desktop.
    mutating func doubt() {
        for (path, session) in sessions {
            sessions[path]?.isActive = false
            guard session.isLocked else { continue }
            sessions[path]?.isLockRequested = true
            sessions[path]?.isLockedHint = false
        }
    }
}

/// The names of logind's D-Bus interface (org.freedesktop.login1(5)).
enum LogindName {
    static let service = "org.freedesktop.login1"
    static let manager = "org.freedesktop.login1.Manager"
    static let managerPath = "/org/freedesktop/login1"
    static let session = "org.freedesktop.login1.Session"
    static let sessions = "/org/freedesktop/login1/session"
    static let properties = "org.freedesktop.DBus.Properties"
}
