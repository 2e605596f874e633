// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams

/// How much of the disk a user's store may use, where users share it: one who fills it would take the room of all others.
///
/// Three kinds of writes differ. Items may use `bytes`, and must leave `freeBytes` to the others. Entries of the audit log about
/// what a program asks for may use `auditBytes` more, and must leave half as much to the others; when these are used up, what
/// would have to be recorded is refused. Deletions and security events are never refused: the former are bounded by the items,
/// and the latter by the person who causes them.
package struct StoreQuota: Equatable, Sendable {
    /// Maximum bytes of the database and its log after an item was added or has grown.
    package var bytes: Int64 = Limits.storeBytes
    /// Bytes beyond `bytes` for entries about requests of programs.
    package var auditBytes: Int64 = Limits.storeAuditBytes
    /// Bytes of the file system that items must leave free, unless it is small.
    package var freeBytes: Int64 = Limits.freeDiskBytes
    /// The part of a small file system that items must leave free: one in so many bytes.
    package var freePart: Int64 = Limits.freeDiskPart

    /// The quota of a tier; nil where each user has a disk or a home of their own.
    static func of(_ tier: Tier) -> StoreQuota? { tier.bindsAccount ? StoreQuota() : nil }

    /// Throws unless there is room for more bytes of items.
    func check(_ more: Int, _ usage: StoreUsage) throws(Failure) {
        guard usage.bytes + Int64(more) <= bytes else {
            throw Failure(
                .limitExceeded, "The keychain of this user has reached its limit of \(Self.words(bytes)).",
                hint: "Delete items that are not needed.")
        }
        guard let disk = usage.disk else { return }
        let reserve = reserve(of: disk)
        guard disk.freeBytes - Int64(more) >= reserve else {
            throw Failure(
                .diskFull,
                "The disk of the keychains has less than \(Self.words(reserve)) left, which items must leave free.",
                hint: "Free some space on that disk. Items can be read and deleted meanwhile.")
        }
    }

    private func reserve(of disk: StoreUsage.Disk) -> Int64 { min(freeBytes, disk.bytes / freePart) }

    /// Throws unless there is room for an entry of the audit log about a request of a program.
    func checkEntry(_ usage: StoreUsage) throws(Failure) {
        guard usage.bytes <= bytes + auditBytes else {
            throw Failure(
                .limitExceeded,
                "The audit log of this user has reached its limit of \(Self.words(bytes + auditBytes)), with the items.",
                hint:
                    "Delete items that are not needed. The log itself ends with the keychain only: latchkey admin remove-user"
            )
        }
        guard let disk = usage.disk else { return }
        let reserve = reserve(of: disk) / 2
        guard disk.freeBytes >= reserve else {
            throw Failure(
                .diskFull,
                "The disk of the keychains has less than \(Self.words(reserve)) left, which the audit log must leave free.",
                hint: "Free some space on that disk. Items can be deleted meanwhile.")
        }
    }

    private static func words(_ bytes: Int64) -> String { bytes < 1 << 20 ? "\(bytes) bytes" : "\(bytes >> 20) MiB" }
}

extension AuditEvent {
    /// Whether the entry is about what a program asks for, which it may do again without end and without a person.
    var isOfARequest: Bool {
        switch self {
        case .added, .updated, .used, .refused, .exported, .imported, .migrated, .migrationAllowed, .deviceIdentified,
            .keyAttested, .sensorRefused, .sessionsRefused, .namesListed, .accountsRefused:
            true
        case .deleted, .invalidated, .passcodeSet, .passcodeChanged, .passcodeRemoved, .enrollmentChanged,
            .rollbackAccepted, .countersLost, .quarantined, .restored, .tryFailed, .rowsChanged, .locked, .unlocked,
            .facePermissionChanged, .lockedOut, .protectedDiscarded, .anchored, .movedAway, .trailCut, .alwaysAllowed,
            .neverAllowed, .allowedUntilLogout, .answerEnded:
            false
        }
    }
}

extension Keychain {
    /// Throws unless the row may be added, or may replace a smaller one.
    func checkRoom(for row: StoredRow, insteadOf old: StoredRow? = nil, in store: any ItemReading) throws(Failure) {
        guard let quota else { return }
        let more = bytes(of: row) - (old.map(bytes) ?? 0)
        let usage = try store.usage()
        if more > 0 { try quota.check(more, usage) } else { try quota.checkEntry(usage) }
    }

    /// Throws unless an entry about a request of a program may be written.
    func checkRoom(for event: AuditEvent, in store: any ItemReading) throws(Failure) {
        guard let quota, event.isOfARequest else { return }
        try quota.checkEntry(store.usage())
    }

    /// The bytes of a row with its entries in the indexes.
    private func bytes(of row: StoredRow) -> Int { 256 + row.attributes.count + (row.secret?.count ?? 0) }

    /// Runs a write that the quota may refuse. If it does while the log is long, the log is merged and the write repeated: the
    /// log of a large transaction remains long until then.
    func writeWithinQuota<R>(_ body: (any ItemWriting) throws(Failure) -> R) throws(Failure) -> R {
        do throws(Failure) {
            return try write(body)
        } catch {
            guard let quota, error.status == .limitExceeded,
                try store.read({ (store) throws(Failure) in try store.usage().logBytes }) > quota.bytes / 64,
                try store.mergeLog()
            else { throw error }
            return try write(body)
        }
    }
}
