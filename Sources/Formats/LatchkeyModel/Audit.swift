// SPDX-License-Identifier: Apache-2.0

/// The kind of event that an audit log entry records. Raw values are part of the store format.
public enum AuditEvent: UInt8, CaseIterable, Sendable {
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
    case passcodeChanged = 8
    case passcodeRemoved = 9
    /// Fingers or faces were enrolled or deleted.
    case enrollmentChanged = 10
    /// A store that looks restored from a copy was accepted.
    case rollbackAccepted = 11
    /// The stored failure counters were modified or removed from the file.
    case countersLost = 12
    /// A row that fails authentication was moved to the quarantine.
    case quarantined = 13
    /// A quarantined row authenticates again and was moved back.
    case restored = 14
    /// A passcode was wrong, or a finger or face was not recognised.
    case tryFailed = 15
    /// The rows differ from those that were stored: rows were put back, changed or removed in the file.
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
    /// Biometry or passcode entry was locked after too many failed tries.
    case lockedOut = 22
    /// All items that require a proof were deleted, together with the passcode.
    case protectedDiscarded = 23
    /// The store generation was advanced, so that older copies of the database are refused.
    case anchored = 24
    /// The user allowed the items of their own store to be added.
    case migrationAllowed = 25
    /// The items of the user's own store were added.
    case migrated = 26
    /// The items of this store were handed to the system's keychain.
    case movedAway = 27
    /// The user allowed a program to identify the device to a relying party.
    case deviceIdentified = 28
    /// A proof was made that a key cannot leave the device.
    case keyAttested = 29
    /// A message or a service that claims to be a sensor was not trusted.
    case sensorRefused = 30
    /// A message or a service that claims to report login sessions was not trusted.
    case sessionsRefused = 31
    /// The user allowed a program to list the names of the items of every app.
    case namesListed = 32
    /// The PAM service file was not trusted, or a PAM module broke the rules of the conversation.
    case accountsRefused = 33
    /// The audit log did not match the record of its end: entries were cut off, or the record was changed or removed.
    case trailCut = 34
    /// The user answered that a program may always read an item of another one.
    case alwaysAllowed = 35
    /// The user answered that a program may never read it.
    case neverAllowed = 36
    /// The user answered that a program may read it until the login session ends.
    case allowedUntilLogout = 37
    /// Such an answer was withdrawn, or deleted with its item.
    case answerEnded = 38
}

/// A decrypted entry of the audit log.
package struct AuditLine: Equatable, Sendable {
    package var sequence: Int64
    /// When it happened, in microseconds since 1970-01-01 UTC; of several events, the newest. Later entries may be of
    /// earlier times.
    package var time: Int64
    /// The event; nil if the entry cannot be decrypted or a newer version wrote it.
    package var event: AuditEvent?
    /// The 16-byte identifier of the item; empty if the event concerns no item.
    package var item: [UInt8]
    /// The identifier of the row of an answer about the item; empty for other events, and in messages.
    package var answer: [UInt8]
    /// The caller's label at the time; empty if no caller requested the event.
    package var caller: String
    /// The process that requested the event; 0 if none did, or if the entry summarises events of several.
    package var processID: Int32
    /// How many equal events the entry summarises.
    package var count: UInt64
    /// Why the program got what it asked for, or did not.
    package var ground: AuditGround

    package init(
        sequence: Int64, time: Int64 = 0, event: AuditEvent? = nil, item: [UInt8] = [], caller: String = "",
        processID: Int32 = 0, count: UInt64 = 1, answer: [UInt8] = [], ground: AuditGround = .allowed([])
    ) {
        self.count = count
        self.ground = ground
        self.answer = answer
        self.sequence = sequence
        self.time = time
        self.event = event
        self.item = item
        self.caller = caller
        self.processID = processID
    }
}

/// A page of the audit log, in ascending order.
package struct AuditPage: Equatable, Sendable {
    package var lines: [AuditLine]
    /// Number of the newest entry of the whole audit log; 0 if it is empty.
    package var last: Int64
    /// The first break of the hash chain on this page; nil if there is none or verification was not requested.
    package var finding: Finding?

    package init(lines: [AuditLine], last: Int64, finding: Finding? = nil) {
        (self.lines, self.last, self.finding) = (lines, last, finding)
    }
}
