// SPDX-License-Identifier: Apache-2.0

/// What an audit entry tells. Numbers are part of the store format.
package enum AuditEvent: UInt8, CaseIterable, Sendable {
    case added = 1
    case updated = 2
    case deleted = 3
    case used = 4
    case refused = 5
    case invalidated = 6
    case passcodeSet = 7
    case passcodeChanged = 8
    case passcodeRemoved = 9
    case enrolmentChanged = 10
    case rollbackAccepted = 11
    /// The counters of failed tries were changed or taken out of the file.
    case countersLost = 12
    /// A row that fails authentication was put aside.
    case quarantined = 13
    /// A row that had been put aside authenticates again and is back in its place.
    case restored = 14
    /// A passcode was wrong, or a finger or face was not recognised.
    case tryFailed = 15
    /// The rows are not those that were stored: some were put back, changed or taken out in the file.
    case rowsChanged = 16
    case locked = 17
    case unlocked = 18
    case facePermissionChanged = 19
    case exported = 20
    case imported = 21
    /// Biometry or passcode entry was locked after too many failed tries.
    case lockedOut = 22
    /// Everything that asks for a proof was deleted, and the passcode with it.
    case protectedDiscarded = 23
    /// The store generation moved, so that older copies of the database are refused.
    case anchored = 24
}

/// An audit entry as its reader sees it.
package struct AuditLine: Equatable, Sendable {
    package var sequence: Int64
    /// Microseconds since 1970-01-01 UTC.
    package var time: Int64
    /// nil: the entry cannot be read, or a newer program wrote it.
    package var event: AuditEvent?
    /// The 16 bytes that name the item, or none.
    package var item: [UInt8]
    /// What the caller was called; empty for what no caller asked for.
    package var caller: String
    package var processID: Int32
    /// How many equal events the entry stands for.
    package var count: UInt64

    /// Makes a line.
    package init(
        sequence: Int64, time: Int64 = 0, event: AuditEvent? = nil, item: [UInt8] = [], caller: String = "",
        processID: Int32 = 0, count: UInt64 = 1
    ) {
        self.count = count
        self.sequence = sequence
        self.time = time
        self.event = event
        self.item = item
        self.caller = caller
        self.processID = processID
    }
}

/// A part of the audit trail, in order.
package struct AuditPage: Equatable, Sendable {
    package var lines: [AuditLine]
    /// Number of the newest entry of the whole trail; 0 for an empty one.
    package var last: Int64
    /// Where the chain breaks first within this part, if that was asked and it does.
    package var finding: Finding?

    /// Makes a page.
    package init(lines: [AuditLine], last: Int64, finding: Finding? = nil) {
        self.lines = lines
        self.last = last
        self.finding = finding
    }
}
