// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
import LatchkeySeams
import Synchronization

/// Equal refusals that follow each other are one entry of the trail: a program that is refused in a loop must not make the
/// trail grow without bound.
final class GatheredRefusals: Sendable {
    private struct State: Sendable {
        /// Refusals that are not written, by the label of the caller.
        var waiting: [String: (caller: Caller, count: UInt64)] = [:]
        /// When a refusal of that caller was last written, in nanoseconds of the boot clock.
        var written: [String: Int64] = [:]
    }

    /// Nanoseconds in which one entry is written for each caller.
    static let window: Int64 = 60_000_000_000
    /// Callers that are told apart; refusals of further ones are counted together.
    private static let callers = 64
    private let state = Mutex(State())

    /// How many refusals to write now: 1, or more than 1 when earlier ones were gathered; nil when this one is gathered.
    func note(_ caller: Caller, at now: Int64) -> (caller: Caller, count: UInt64)? {
        state.withLock { state in
            if state.written.count >= Self.callers {
                state.written = state.written.filter { now - $0.value < Self.window }
            }
            let isKnown = state.written[caller.label] != nil || state.written.count < Self.callers
            var caller = caller
            // No label of a program is empty.
            if !isKnown { caller.label = "" }
            let waiting = state.waiting[caller.label]?.count ?? 0
            if let last = state.written[caller.label], now >= last, now - last < Self.window {
                state.waiting[caller.label] = (caller, waiting + 1)
                return nil
            }
            state.written[caller.label] = now
            state.waiting[caller.label] = nil
            return (caller, waiting + 1)
        }
    }

    /// What was gathered and is not written.
    func take() -> [(caller: Caller, count: UInt64)] {
        state.withLock { state in
            defer { state.waiting = [:] }
            return state.waiting.values.sorted { $0.caller.label < $1.caller.label }
        }
    }

    /// Whether something waits to be written.
    var isEmpty: Bool { state.withLock { $0.waiting.isEmpty } }
}

extension Keychain {
    /// Commits that something happened to the store as a whole.
    package func record(_ event: AuditEvent, caller: Caller?) throws(Failure) {
        try write { (store) throws(Failure) in _ = try audit.append(event, caller: caller, to: store) }
    }

    /// Commits that a caller was refused. Further refusals of that caller within a minute are counted and written together.
    package func recordRefusal(of caller: Caller) throws(Failure) {
        guard let (caller, count) = gathered.note(caller, at: clock.uptime) else { return }
        try write { (store) throws(Failure) in
            _ = try audit.append(.refused, caller: caller, count: count, to: store)
        }
    }

    /// Writes the refusals that were gathered.
    package func recordGatheredRefusals() throws(Failure) {
        guard !gathered.isEmpty else { return }
        let waiting = gathered.take()
        try write { (store) throws(Failure) in
            for (caller, count) in waiting { try audit.append(.refused, caller: caller, count: count, to: store) }
        }
    }
}
