// SPDX-License-Identifier: Apache-2.0

public import LatchkeyModel
import LatchkeyWords

/// An entry of the audit log: what a program asked for, and what happened.
public struct ActivityEntry: Equatable, Identifiable, Sendable {
    /// The number of the entry, counted from 1.
    public let id: Int64
    /// When it happened, or the newest of the events that it stands for, in seconds since 1970-01-01 UTC; 0 if the entry
    /// cannot be read.
    public let seconds: Int64
    /// The same in microseconds.
    let time: Int64
    /// What happened; nil if the entry cannot be decrypted or a newer version wrote it.
    public let event: AuditEvent?
    /// The program that asked, as the daemon named it at that time; empty if none did.
    public let app: String
    /// Its process id; 0 if none asked, or if the entry stands for requests of several.
    public let process: Int32
    /// The `StoredItem.id` of the item; empty if the event concerns none.
    public let item: String
    /// How many equal events the entry stands for.
    public let count: UInt64
    /// Why the program got what it asked for, or did not; of a failed try, what was tried.
    public let ground: AuditGround

    /// The name of the program of Latchkey that asked, in the language of the session; nil if it was another program.
    ///
    /// A keychain of the user lets each program choose its name, so the name proves nothing there.
    public var ownProgram: String? { CallerAppearance.ownName(app, .ofSession) }

    init(_ line: AuditLine) {
        id = line.sequence
        time = line.event == nil ? 0 : line.time
        seconds = time / 1_000_000
        event = line.event
        app = line.caller
        process = line.processID
        item = Hexadecimal.encode(line.item)
        count = line.count
        ground = line.ground
    }
}

extension ActivityEntry {
    /// The proofs and answers that allowed a use.
    public typealias Grounds = UseGrounds
    /// Why a program did not get what it asked for.
    public typealias Refusal = RefusalReason
    /// What was tried in vain.
    public typealias Tried = TriedProof
}

extension [ActivityEntry] {
    /// The entries by their time, the newest first. Reads that a program made without asking are written later than other
    /// events, so that the numbers are not in this order.
    public var byTime: [ActivityEntry] {
        // An entry that cannot be read has no time: it stays behind the one that was written after it.
        var (placed, time): ([(entry: ActivityEntry, seconds: Int64)], Int64) = ([], .max)
        for entry in self {
            if entry.seconds > 0 { time = entry.seconds }
            placed.append((entry, time))
        }
        return placed.sorted { ($0.seconds, $0.entry.id) > ($1.seconds, $1.entry.id) }.map(\.entry)
    }

    /// Returns what is known of the log after its latest entries were read again: those, and the older ones of `self` if
    /// nothing between the two can be missing.
    ///
    /// - Parameter latest: the latest entries, the newest first, as `self`.
    public func updated(with latest: [ActivityEntry]) -> [ActivityEntry] {
        guard let last = latest.last, let known = firstIndex(of: last) else { return latest }
        return latest + self[index(after: known)...]
    }
}
