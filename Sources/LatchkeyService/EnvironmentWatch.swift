// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyPolicy
import LatchkeySeams
import Synchronization

/// Notices when something that an app may know of the ways to authenticate becomes another, and tells who waits.
final class EnvironmentWatch: Sendable {
    /// What is compared: the state without what every evaluation changes.
    private struct Picture: Equatable, Sendable {
        var sensor: SensorState
        var isPasscodeSet: Bool
        var isLockedOut: Bool
        var isPasscodeDue: Bool
        var companions: CompanionState
        var facePermissions: [String: Bool]
    }

    private struct State: Sendable {
        var picture: Picture?
        var revision: UInt64
        var waiting: [(id: UInt64, seen: UInt64, tell: @Sendable () -> Void)] = []
        var nextID: UInt64 = 0
    }

    private let state: Mutex<State>

    /// Counts from a number that is another in each engine: who waits for a change of what an engine before this one told
    /// is not taken for someone who knows.
    init(_ random: any RandomSource) {
        // Without random bytes it counts from zero: a client that waits is told once too often or too seldom, no more.
        let bytes = (try? random.bytes(7))?.copyBytes() ?? []
        state = Mutex(State(revision: bytes.reduce(0) { $0 << 8 | UInt64($1) }))
    }

    /// Becomes another with each change.
    var revision: UInt64 { state.withLock { $0.revision } }

    /// Compares a state with the last one.
    func follow(_ policy: PolicyState) {
        let picture = Picture(
            sensor: policy.sensor, isPasscodeSet: policy.isPasscodeSet, isLockedOut: policy.isBiometryLocked,
            isPasscodeDue: policy.isPasscodeDue, companions: policy.companions,
            facePermissions: policy.facePermissions)
        let told: [@Sendable () -> Void] = state.withLock { state in
            guard state.picture != picture else { return [] }
            state.picture = picture
            state.revision += 1
            defer { state.waiting = [] }
            return state.waiting.map(\.tell)
        }
        for tell in told { tell() }
    }

    /// Calls `tell` once, as soon as the revision is another than `seen`: perhaps before this returns.
    /// - Returns: a number for `forget`.
    func wait(unlike seen: UInt64, _ tell: @escaping @Sendable () -> Void) -> UInt64? {
        let number: UInt64? = state.withLock { state in
            guard state.revision == seen else { return nil }
            state.nextID += 1
            state.waiting.append((state.nextID, seen, tell))
            return state.nextID
        }
        if number == nil { tell() }
        return number
    }

    /// Whether that one waits still.
    func isWaiting(_ number: UInt64) -> Bool { state.withLock { $0.waiting.contains { $0.id == number } } }

    /// Gives up waiting.
    /// - Returns: whether it waited still, and so is not told any more.
    @discardableResult
    func forget(_ number: UInt64) -> Bool {
        state.withLock { state in
            let count = state.waiting.count
            state.waiting.removeAll { $0.id == number }
            return state.waiting.count < count
        }
    }
}
