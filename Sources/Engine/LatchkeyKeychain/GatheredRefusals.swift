// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
import LatchkeySeams
import Synchronization

/// Collapses repeated refusals of a caller into one audit entry: a program that is refused in a loop must not make
/// the audit log grow without bound.
final class GatheredRefusals: Sendable {
    /// Equal refusals of a caller.
    struct Refusal: Sendable {
        var caller: Caller
        /// The item; empty if it is not known, or for several.
        var item: [UInt8]
        var reason: RefusalReason
        var count: UInt64 = 1
        /// When the newest of them happened, in microseconds since 1970-01-01 UTC.
        var time: Int64

        fileprivate func isLike(_ other: Refusal) -> Bool {
            caller.label == other.caller.label && item == other.item && reason == other.reason
        }
    }

    private struct State: Sendable {
        /// Refusals that are not written yet.
        var waiting: [Refusal] = []
        /// When a refusal of that caller was last written, in nanoseconds of the boot-time clock.
        var written: [String: Int64] = [:]

        /// Counts a refusal with those like it. If there are many already, with all of its caller.
        mutating func add(_ refusal: Refusal) {
            var refusal = refusal
            var place = waiting.firstIndex { $0.isLike(refusal) }
            if place == nil, waiting.count >= GatheredRefusals.separate {
                (refusal.item, refusal.reason) = ([], .other)
                place = waiting.firstIndex { $0.isLike(refusal) }
            }
            guard let place else { return waiting.append(refusal) }
            waiting[place].caller.share(with: refusal.caller)
            waiting[place].count += refusal.count
            waiting[place].time = max(waiting[place].time, refusal.time)
        }
    }

    /// Minimum time between two entries of the same caller, in nanoseconds.
    static let window: Int64 = 60_000_000_000
    /// Callers that are counted separately; refusals of further callers are counted together.
    private static let callers = 64
    /// Refusals that wait with their items and reasons; for further ones an entry for each caller has neither.
    private static let separate = 64
    private let state = Mutex(State())

    /// Counts a refusal.
    ///
    /// - Returns: the refusals of its caller to write now, including earlier unwritten ones; none when this one is only
    ///   counted.
    func record(_ refusal: Refusal, at now: Int64) -> [Refusal] {
        // Its process may have ended when the entry is written.
        var refusal = refusal
        refusal.caller = refusal.caller.named
        return state.withLock { state in
            if state.written.count >= Self.callers {
                state.written = state.written.filter { now - $0.value < Self.window }
            }
            let isKnown = state.written[refusal.caller.label] != nil || state.written.count < Self.callers
            // Further callers share the empty label, which no program has.
            if !isKnown { refusal.caller.label = "" }
            state.add(refusal)
            let label = refusal.caller.label
            if let last = state.written[label], now >= last, now - last < Self.window { return [] }
            state.written[label] = now
            defer { state.waiting.removeAll { $0.caller.label == label } }
            return state.waiting.filter { $0.caller.label == label }
        }
    }

    /// Returns the unwritten refusals, oldest first, and clears them.
    func take() -> [Refusal] {
        state.withLock { state in
            defer { state.waiting = [] }
            return state.waiting.sorted { ($0.time, $0.caller.label) < ($1.time, $1.caller.label) }
        }
    }

    /// Takes back refusals that could not be written.
    func giveBack(_ refusals: [Refusal]) { state.withLock { state in for refusal in refusals { state.add(refusal) } } }

    /// Whether no refusal waits to be written.
    var isEmpty: Bool { state.withLock { $0.waiting.isEmpty } }
}

extension Caller {
    /// Prepares the caller for an entry that counts its events with those of another one: it names a process only if all are
    /// of that process.
    mutating func share(with other: Caller?) {
        if let other, other.processID != processID { processID = 0 }
    }
}

extension Keychain {
    /// Commits an audit entry that belongs to no other change, and represents `count` equal events.
    ///
    /// - Parameter item: the item that the event concerns, by its identifier in the audit log; empty for none.
    package func record(
        _ event: AuditEvent, item: [UInt8] = [], caller: Caller?, count: UInt64 = 1, ground: AuditGround = .allowed([])
    ) throws(Failure) {
        try writeWithinQuota { (store) throws(Failure) in
            try checkRoom(for: event, in: store)
            _ = try audit.append(event, item: item, caller: caller, count: count, ground: ground, to: store)
        }
    }

    /// Commits an audit entry for a refused caller. Further refusals of that caller within a minute are counted and
    /// written together.
    ///
    /// - Parameter item: the item that it asked for; empty if it is not known.
    package func recordRefusal(of caller: Caller, item: [UInt8] = [], _ reason: RefusalReason) throws(Failure) {
        try append(
            gathered.record(
                GatheredRefusals.Refusal(caller: caller, item: item, reason: reason, time: clock.wallTime),
                at: clock.uptime))
    }

    /// Whether refusals are counted but not written yet.
    package var hasUnrecordedRefusals: Bool { !gathered.isEmpty }

    /// Writes the refusals that are counted but not written yet.
    package func recordGatheredRefusals() throws(Failure) {
        guard !gathered.isEmpty else { return }
        try append(gathered.take())
    }

    private func append(_ refusals: [GatheredRefusals.Refusal]) throws(Failure) {
        guard !refusals.isEmpty else { return }
        do throws(Failure) {
            try writeWithinQuota { (store) throws(Failure) in
                try checkRoom(for: .refused, in: store)
                for refusal in refusals {
                    try audit.append(
                        .refused, item: refusal.item, caller: refusal.caller, count: refusal.count,
                        time: refusal.time, ground: .refused(refusal.reason), to: store)
                }
            }
        } catch {
            gathered.giveBack(refusals)
            throw error
        }
    }
}
