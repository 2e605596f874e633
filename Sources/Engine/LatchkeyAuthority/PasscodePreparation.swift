// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
package import LatchkeySeams
import Synchronization

/// Prepares a chip for the passcode that a prompt asks for, so that a person who has typed it waits for little. It runs on
/// the queue of verifications, so that a passcode which comes early is verified after it.
package final class PasscodePreparation: Sendable {
    private struct State: Sendable {
        var prompts: Set<UInt64> = []
        var alarm: (any Alarm)?
        /// Whether the preparation that waits in the queue, of which there is at most one, is for keys too; nil for none.
        var queued: Bool?
    }
    private let state = Mutex(State())
    private let verification: PasscodeVerification
    private let records: any PasscodeRecordStore
    private let queue: any StretchQueue
    private let clock: any Clock

    /// Seconds from the end of the last prompt until the chip is cleaned up: the use that the person waits for comes first.
    private static let restSeconds: Int64 = 1

    /// Prepares nothing so far.
    ///
    /// - Parameter queue: the queue on which the passcodes of these records are verified.
    package init(
        _ verification: PasscodeVerification, _ records: any PasscodeRecordStore, on queue: any StretchQueue,
        clock: any Clock
    ) {
        (self.verification, self.records, self.queue, self.clock) = (verification, records, queue, clock)
    }

    /// Prepares the chip for a prompt that asks for the passcode. Does not block.
    ///
    /// - Parameter forKeys: whether a key of the chip may demand the passcode, too.
    func begin(_ prompt: UInt64, forKeys: Bool) {
        let isQueued = state.withLock { state in
            state.prompts.insert(prompt)
            state.alarm?.cancel()
            state.alarm = nil
            defer { state.queued = forKeys || state.queued == true }
            return state.queued != nil
        }
        guard !isQueued else { return }
        submit { [self] in
            let forKeys = state.withLock { state in
                defer { state.queued = nil }
                return state.prompts.isEmpty ? nil : state.queued
            }
            // Without records nothing is prepared, and the verification says why.
            guard let forKeys, let records = try? records.passcodeRecords() else { return }
            verification.prepare(records, forKeys: forKeys)
        }
    }

    /// Ends the preparation for a prompt, if there is one. Does not block.
    func end(_ prompt: UInt64) {
        guard state.withLock({ $0.prompts.remove(prompt) != nil && $0.prompts.isEmpty }) else { return }
        let alarm = clock.alarm(after: Self.restSeconds) { [self] in
            submit { [self] in
                guard state.withLock({ $0.prompts.isEmpty }) else { return }
                verification.endPreparation()
            }
        }
        let isOver = state.withLock { state in
            guard state.prompts.isEmpty else { return true }
            state.alarm = alarm
            return false
        }
        if isOver { alarm.cancel() }
    }

    /// Work of a person is never refused. If it were, nothing would be prepared.
    private func submit(_ work: @escaping @Sendable () -> Void) { try? queue.submit(.person, work) }
}
