// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
import LatchkeySeams
import Synchronization

/// Collapses repeated refusals of a caller into one audit entry: a program that is refused in a loop must not make
/// the audit log grow without bound.
final class GatheredRefusals: Sendable {
    private struct State: Sendable {
        /// Refusals that are not written yet, by the label of the caller.
        var waiting: [String: (caller: Caller, count: UInt64)] = [:]
        /// When a refusal of that caller was last written, in nanoseconds of the boot-time clock.
        var written: [String: Int64] = [:]
    }

    /// Minimum time between two entries of the same caller, in nanoseconds.
    static let window: Int64 = 60_000_000_000
    /// Callers that are counted separately; refusals of further callers are counted together.
    private static let callers = 64
    private let state = Mutex(State())

    /// Counts a refusal.
    ///
    /// - Returns: the caller and the number of refusals to write now, including earlier unwritten ones; nil when this
    ///   one is only counted.
    func record(_ caller: Caller, at now: Int64) -> (caller: Caller, count: UInt64)? {
        // Its process may have ended when the entry is written.
        let caller = caller.named
        return state.withLock { state in
            if state.written.count >= Self.callers {
                state.written = state.written.filter { now - $0.value < Self.window }
            }
            let isKnown = state.written[caller.label] != nil || state.written.count < Self.callers
            var caller = caller
            // Further callers share the empty label, which no program has.
            if !isKnown { caller.label = "" }
            let waiting = state.waiting[caller.label]?.count ?? 0
            caller.share(with: state.waiting[caller.label]?.caller)
            if let last = state.written[caller.label], now >= last, now - last < Self.window {
                state.waiting[caller.label] = (caller, waiting + 1)
                return nil
            }
            state.written[caller.label] = now
            state.waiting[caller.label] = nil
            return (caller, waiting + 1)
        }
    }

    /// Returns the unwritten refusals and clears them.
    func take() -> [(caller: Caller, count: UInt64)] {
        state.withLock { state in
            defer { state.waiting = [:] }
            return state.waiting.values.sorted { $0.caller.label < $1.caller.label }
        }
    }

    /// Takes back refusals that could not be written.
    func giveBack(_ refusals: [(caller: Caller, count: UInt64)]) {
        state.withLock { state in
            for (caller, count) in refusals {
                var caller = caller
                let waiting = state.waiting[caller.label]
                caller.share(with: waiting?.caller)
                state.waiting[caller.label] = (caller, (waiting?.count ?? 0) + count)
            }
        }
    }

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
    /// Commits an audit entry about the store as a whole, which represents `count` equal events.
    package func record(_ event: AuditEvent, caller: Caller?, count: UInt64 = 1) throws(Failure) {
        try writeWithinQuota { (store) throws(Failure) in
            try checkRoom(for: event, in: store)
            _ = try audit.append(event, caller: caller, count: count, to: store)
        }
    }

    /// Commits an audit entry for a refused caller. Further refusals of that caller within a minute are counted and
    /// written together.
    package func recordRefusal(of caller: Caller) throws(Failure) {
        guard let refusal = gathered.record(caller, at: clock.uptime) else { return }
        try append([refusal])
    }

    /// Writes the refusals that are counted but not written yet.
    package func recordGatheredRefusals() throws(Failure) {
        guard !gathered.isEmpty else { return }
        try append(gathered.take())
    }

    private func append(_ refusals: [(caller: Caller, count: UInt64)]) throws(Failure) {
        do throws(Failure) {
            try writeWithinQuota { (store) throws(Failure) in
                try checkRoom(for: .refused, in: store)
                for (caller, count) in refusals { try audit.append(.refused, caller: caller, count: count, to: store) }
            }
        } catch {
            gathered.giveBack(refusals)
            throw error
        }
    }
}
