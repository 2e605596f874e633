// SPDX-License-Identifier: Apache-2.0

/// Selects the keys of a list.
public enum KeyState: String, CaseIterable, Sendable {
    case all, active, frozen, revoked
}

/// A user in a list.
public struct ListedUser: Sendable {
    /// The name.
    public let user: String
    /// The number of keys that are not revoked.
    public let keys: Int64
    /// How many of them are frozen.
    public let frozenKeys: Int64
    /// The number of open sessions.
    public let sessions: Int64
    /// Whether the user is an administrator.
    public let isAdministrator: Bool

    init?(_ row: [SQLValue]) {
        guard row.count == 5, case .text(let user) = row[0], case .integer(let keys) = row[1],
            case .integer(let frozen) = row[2], case .integer(let sessions) = row[3],
            case .integer(let administrators) = row[4]
        else { return nil }
        (self.user, self.keys, frozenKeys, self.sessions) = (user, keys, frozen, sessions)
        isAdministrator = administrators == 1
    }
}

/// A key in a list of the keys of all users.
public struct ListedKey: Sendable {
    /// The name of the user.
    public let user: String
    /// The key.
    public let key: RegisteredKey
}

/// An open session in a list.
public struct ListedSession: Sendable {
    /// The SHA-256 of its token, 32 bytes, by which it can be ended.
    public let identifier: [UInt8]
    /// The key that opened it.
    public let key: [UInt8]
    /// The name of the user.
    public let user: String
    /// The name of the key's device.
    public let device: String
    /// When it was opened, in seconds since 1970.
    public let created: Int64
    /// When it was used last, with an error of a tenth of the permitted idle time.
    public let used: Int64
    /// When it ends, in seconds since 1970.
    public let expiry: Int64
    /// Whether it is one of a browser.
    public let isBrowser: Bool

    init?(_ row: [SQLValue]) {
        guard row.count == 8, case .blob(let identifier) = row[0], case .blob(let key) = row[1],
            case .integer(let created) = row[2], case .integer(let used) = row[3], case .integer(let expiry) = row[4],
            case .integer(let browser) = row[5], case .text(let user) = row[6], case .text(let device) = row[7]
        else { return nil }
        (self.identifier, self.key, self.user, self.device) = (identifier, key, user, device)
        (self.created, self.used, self.expiry, isBrowser) = (created, used, expiry, browser != 0)
    }
}

/// A row of the audit log with everything that its hash covers.
public struct ListedAuditRow: Sendable {
    /// The number of the row in the chain of its node, from 1.
    public let number: Int64
    /// When it happened, in seconds since 1970.
    public let time: Int64
    /// What happened, such as `login`.
    public let event: String
    /// The pseudonym of the user, or empty.
    public let user: String
    /// The identifier of a key, or empty.
    public let key: [UInt8]
    /// More about it.
    public let detail: String
    /// The hash of the row and of the one before, 32 bytes.
    public let hash: [UInt8]
    /// The name that the pseudonym stands for; nil for a deleted user and for rows without one.
    public let name: String?
    /// The administrator who acted; nil for rows of users and of the operator, and for one who was deleted.
    public let actor: String?

    init?(_ row: [SQLValue]) {
        guard row.count == 9, case .integer(let number) = row[0], case .integer(let time) = row[1],
            case .text(let event) = row[2], case .text(let user) = row[3], case .blob(let key) = row[4],
            case .text(let detail) = row[5], case .blob(let hash) = row[6]
        else { return nil }
        (self.number, self.time, self.event, self.user) = (number, time, event, user)
        (self.key, self.detail, self.hash) = (key, detail, hash)
        if case .text(let name) = row[7] { self.name = name } else { name = nil }
        if case .text(let actor) = row[8] { self.actor = actor } else { actor = nil }
    }
}

/// A chain of the audit log.
public struct ListedChain: Sendable {
    /// The name of the node; empty for a server with a database of its own.
    public let node: String
    /// The number of its last row; 0 if it has none, which only a change of the database explains.
    public let count: Int64
}

/// What the administration shows of one user.
public struct UserDetail: Sendable {
    /// Whether the user is an administrator.
    public let isAdministrator: Bool
    /// What the audit log has in place of the name; nil if it has no row of the user.
    public let pseudonym: String?
    /// When the enrolment code expires, in seconds since 1970; nil if there is none that is valid.
    public let codeExpiry: Int64?
    /// The keys, from the first that was registered.
    public let keys: [RegisteredKey]
    /// The open sessions, the newest first.
    public let sessions: [ListedSession]
    /// The newest rows of the audit log, with the names of their nodes.
    public let events: [(node: String, row: ListedAuditRow)]
}
