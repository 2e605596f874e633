// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel

/// An entry of the audit log: what a program asked for, and what happened.
public struct ActivityEntry: Equatable, Identifiable, Sendable {
    /// The events that the audit log records. Raw values are those of the store format.
    public enum Event: UInt8, CaseIterable, Sendable {
        /// An item was stored.
        case added = 1
        /// An item was changed.
        case updated = 2
        /// An item was deleted.
        case deleted = 3
        /// A secret was read, or a key was used.
        case used = 4
        /// A program did not get what it asked for.
        case refused = 5
        /// Items of the earlier fingers or faces became unreadable.
        case invalidated = 6
        /// The first passcode was set.
        case passcodeSet = 7
        /// The passcode was changed.
        case passcodeChanged = 8
        /// The passcode was removed.
        case passcodeRemoved = 9
        /// Fingers or faces were enrolled or deleted.
        case enrollmentChanged = 10
        /// A store that looks restored from a copy was accepted.
        case rollbackAccepted = 11
        /// The counters of wrong tries were changed in the file.
        case countersLost = 12
        /// A damaged item was set aside.
        case quarantined = 13
        /// An item that was set aside can be read again.
        case restored = 14
        /// A passcode was wrong, or a finger or face was not recognised.
        case tryFailed = 15
        /// Rows were changed in the file without the daemon.
        case rowsChanged = 16
        /// The keychain was locked.
        case locked = 17
        /// The keychain was unlocked.
        case unlocked = 18
        /// An app was allowed or refused to use Face ID.
        case facePermissionChanged = 19
        /// A backup was made.
        case exported = 20
        /// A backup was read.
        case imported = 21
        /// The sensor or the passcode was locked after too many tries.
        case lockedOut = 22
        /// Every protected item was deleted with the passcode.
        case protectedDiscarded = 23
        /// The anchor against older copies was advanced.
        case anchored = 24
        /// The user allowed items to be moved here.
        case migrationAllowed = 25
        /// Items of the user's own store were moved here.
        case migrated = 26
        /// The items of this store were moved to the system's keychain.
        case movedAway = 27
        /// The device was identified to a relying party.
        case deviceIdentified = 28
        /// A relying party got a proof about a key.
        case keyAttested = 29
        /// A sensor, or a message that claims to come from one, was not trusted.
        case sensorRefused = 30
        /// A report about login sessions was not trusted.
        case sessionsRefused = 31
        /// The user allowed a program to list the names of the items of every app.
        case namesListed = 32
        /// The check of the account's password was not trusted.
        case accountsRefused = 33
        /// Newest entries were removed from this log in the file.
        case trailCut = 34
    }

    /// The number of the entry, counted from 1.
    public let id: Int64
    /// When it happened, in seconds since 1970-01-01 UTC; 0 if the entry cannot be read.
    public let seconds: Int64
    /// What happened; nil if the entry cannot be decrypted or a newer version wrote it.
    public let event: Event?
    /// The program that asked, as the daemon named it at that time; empty if none did.
    public let app: String
    /// Its process id; 0 if none asked.
    public let process: Int32
    /// The `StoredItem.id` of the item; empty if the event concerns none.
    public let item: String
    /// How many equal events the entry stands for.
    public let count: UInt64

    init(_ line: AuditLine) {
        id = line.sequence
        seconds = line.event == nil ? 0 : line.time / 1_000_000
        event = line.event.flatMap { Event(rawValue: $0.rawValue) }
        app = line.caller
        process = line.processID
        item = Hexadecimal.encode(line.item)
        count = line.count
    }
}

extension [ActivityEntry] {
    /// Returns what is known of the log after its latest entries were read again: those, and the older ones of `self` if
    /// nothing between the two can be missing.
    ///
    /// - Parameter latest: the latest entries, the newest first, as `self`.
    public func updated(with latest: [ActivityEntry]) -> [ActivityEntry] {
        guard let last = latest.last, let known = firstIndex(of: last) else { return latest }
        return latest + self[index(after: known)...]
    }
}
