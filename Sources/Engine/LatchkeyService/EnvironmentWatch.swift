// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyPolicy
import LatchkeySeams
import Synchronization

/// Detects changes of the state that `EnvironmentReport` describes, and calls the waiting callbacks.
final class EnvironmentWatch: Sendable {
    /// The part of the policy state that is compared; leaves out what every evaluation changes.
    private struct Picture: Equatable, Sendable {
        var sensor: SensorState
        var isPasscodeSet: Bool
        var isLockedOut: Bool
        var isPasscodeDue: Bool
        var facePermissions: [String: Bool]
        var biometrySessions: BiometrySessions
    }

    private struct State: Sendable {
        var picture: Picture?
        var revision: UInt64
        var waiting: [(id: UInt64, seen: UInt64, notify: @Sendable () -> Void)] = []
        var nextID: UInt64 = 0
    }

    private let state: Mutex<State>

    /// Starts at a random revision, so that the revision that a client knows from an earlier daemon is not mistaken for
    /// the current one.
    init(_ random: any RandomSource) {
        // Without random bytes it starts at zero: such a client may then be notified once too often, or miss one
        // change.
        let bytes = (try? random.bytes(7))?.copyBytes() ?? []
        state = Mutex(State(revision: bytes.reduce(0) { $0 << 8 | UInt64($1) }))
    }

    /// Incremented by every change.
    var revision: UInt64 { state.withLock { $0.revision } }

    /// Compares the state with the previous one; if it changed, increments the revision and calls all waiting
    /// callbacks.
    func apply(_ policy: PolicyState) {
        let picture = Picture(
            sensor: policy.sensor, isPasscodeSet: policy.isPasscodeSet, isLockedOut: policy.isBiometryLocked,
            isPasscodeDue: policy.isPasscodeDue, facePermissions: policy.facePermissions,
            biometrySessions: policy.biometrySessions)
        let due: [@Sendable () -> Void] = state.withLock { state in
            guard state.picture != picture else { return [] }
            state.picture = picture
            state.revision += 1
            defer { state.waiting = [] }
            return state.waiting.map(\.notify)
        }
        for notify in due { notify() }
    }

    /// Calls `notify` once, as soon as the revision differs from `seen`; before this returns if it differs already.
    ///
    /// - Returns: a number for `forget` and `isWaiting`; nil if `notify` was called.
    func wait(unlike seen: UInt64, _ notify: @escaping @Sendable () -> Void) -> UInt64? {
        let number: UInt64? = state.withLock { state in
            guard state.revision == seen else { return nil }
            state.nextID += 1
            state.waiting.append((state.nextID, seen, notify))
            return state.nextID
        }
        if number == nil { notify() }
        return number
    }

    /// Returns whether the callback with that number is still waiting.
    func isWaiting(_ number: UInt64) -> Bool { state.withLock { $0.waiting.contains { $0.id == number } } }

    /// Removes a waiting callback.
    ///
    /// - Returns: whether it was still waiting and will not be called.
    @discardableResult
    func forget(_ number: UInt64) -> Bool {
        state.withLock { state in
            let count = state.waiting.count
            state.waiting.removeAll { $0.id == number }
            return state.waiting.count < count
        }
    }
}
