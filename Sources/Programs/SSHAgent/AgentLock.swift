// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
package import LatchkeyModel
import Synchronization

/// The passphrase that locks the agent (`ssh-add -x`), stored only as a salted scrypt hash.
///
/// Each wrong passphrase doubles the time before the next one is compared, up to `SSHAgentLimits.unlockSeconds`. One
/// attempt is made at a time; others are refused meanwhile, so that many connections give no more attempts.
package final class AgentLock: Sendable {
    private struct Hash: Sendable {
        var salt: [UInt8]
        var key: SymmetricKey
    }
    private struct State: Sendable {
        var hash: Hash?
        var isBusy = false
        var failures: Int64 = 0
        /// When the next attempt is compared, in nanoseconds of `now`.
        var next: Int64 = 0
    }

    private static let cost: UInt8 = 15
    private static let saltBytes = 16
    private static let firstPause: Int64 = 100_000_000
    private let state = Mutex(State())
    private let now: @Sendable () -> Int64
    private let makeSalt: @Sendable () throws(Failure) -> [UInt8]

    /// Creates a lock that is open.
    ///
    /// - Parameter now: a monotonic clock, in nanoseconds.
    package init(
        now: @escaping @Sendable () -> Int64,
        makeSalt: @escaping @Sendable () throws(Failure) -> [UInt8] = { () throws(Failure) in
            try randomBytes(AgentLock.saltBytes)
        }
    ) {
        (self.now, self.makeSalt) = (now, makeSalt)
    }

    /// Whether no key is listed or used.
    package var isLocked: Bool { state.withLock { $0.hash != nil } }

    /// Locks the agent; false if it is locked, or the passphrase is empty.
    package func lock(_ passphrase: SecretBytes) -> Bool {
        guard passphrase.count > 0, begin(locked: false) != nil else { return false }
        // A failure of libcrypto leaves the agent open and is reported.
        let hash = try? Self.hash(passphrase, salt: try makeSalt())
        state.withLock { state in
            state.isBusy = false
            state.hash = hash
        }
        return hash != nil
    }

    /// Unlocks the agent; false for a wrong passphrase, or while another attempt is made.
    ///
    /// - Parameter wait: blocks until a time of the clock, and returns false to give up.
    package func unlock(_ passphrase: SecretBytes, wait: (Int64) -> Bool) -> Bool {
        guard let begun = begin(locked: true), let known = begun.hash else { return false }
        // Counted before the comparison, so that an attempt that never ends counts, too.
        let mayCompare = begun.next <= now() || wait(begun.next)
        if mayCompare { countFailure() }
        let isRight = mayCompare && (try? Self.hash(passphrase, salt: known.salt))?.key.secret == known.key.secret
        state.withLock { state in
            state.isBusy = false
            guard isRight else { return }
            state.hash = nil
            state.failures = 0
            state.next = 0
        }
        return isRight
    }

    /// Begins an attempt; nil if another one is made, or the lock is not in this state.
    private func begin(locked: Bool) -> State? {
        state.withLock { state in
            guard !state.isBusy, (state.hash != nil) == locked else { return nil }
            state.isBusy = true
            return state
        }
    }

    private func countFailure() {
        let now = now()
        state.withLock { state in
            state.failures += 1
            let pause = Self.firstPause << min(state.failures, 10)
            state.next = now + min(pause, SSHAgentLimits.unlockSeconds * 1_000_000_000)
        }
    }

    private static func hash(_ passphrase: SecretBytes, salt: [UInt8]) throws(Failure) -> Hash {
        Hash(salt: salt, key: try SymmetricKey.stretching(passphrase, salt: salt, cost: cost))
    }
}
