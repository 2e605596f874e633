// SPDX-License-Identifier: Apache-2.0

import LatchkeyKeychain
import LatchkeyModel
import LatchkeySeams
import Synchronization

/// What a key module does for uses of keys while persons are asked.
///
/// A preparation begins when a prompt of its program is shown: a request that waits for its prompt, or that gets none, keeps
/// the device from nothing. At most one waits in the queue of key operations, and a program has at most one that has begun.
/// It is in that queue before its use, and its end after the reply.
final class KeyPreparations: Sendable {
    private struct Preparation: Sendable {
        let number: UInt64
        let processID: Int32
        let prepare: @Sendable () -> (@Sendable (_ isUsed: Bool) -> Void)?
        var hasBegun = false
        /// Ends what the device has prepared; nil before it has.
        var end: (@Sendable (_ isUsed: Bool) -> Void)?
    }
    private struct State: Sendable {
        var all: [Preparation] = []
        var nextNumber: UInt64 = 0
        var isQueued = false

        /// Takes the first one whose program is shown a prompt and has none that has begun.
        mutating func takeNext(_ prompts: [StatusReport.ShownPrompt]) -> Preparation? {
            let busy = Set(all.filter(\.hasBegun).map(\.processID))
            let shown = Set(prompts.map(\.processID)).subtracting(busy)
            guard !isQueued, let index = all.firstIndex(where: { shown.contains($0.processID) }) else { return nil }
            all[index].hasBegun = true
            isQueued = true
            return all[index]
        }
    }
    private let state = Mutex(State())
    private let authority: any AuthenticationAuthority
    private let queue: any WorkQueue

    init(_ authority: any AuthenticationAuthority, on queue: any WorkQueue) {
        (self.authority, self.queue) = (authority, queue)
    }

    /// Adds the preparation of a use, which begins with its prompt.
    ///
    /// - Parameter asker: the program that the prompt names; nil for the caller.
    /// - Returns: its number, with which its end is reported once; nil if the keys of the enclave need none.
    func add(
        _ name: EnclaveKeyName, _ caller: Caller, shownAs asker: Caller?, _ keychain: Keychain, _ enclave: Enclave
    ) -> UInt64? {
        guard enclave.prepares else { return nil }
        let number = state.withLock { state in
            state.nextNumber += 1
            state.all.append(
                Preparation(number: state.nextNumber, processID: (asker ?? caller).processID) {
                    keychain.keyToPrepare(name, caller: caller).flatMap { enclave.prepare($0) }
                })
            return state.nextNumber
        }
        promptsChanged()
        return number
    }

    /// Begins the next preparation. Called when other prompts may be shown than before.
    func promptsChanged() {
        let prompts = authority.shownPrompts
        guard let next = state.withLock({ $0.takeNext(prompts) }) else { return }
        queue.submit(.any) { [self] in
            // A request that has ended meanwhile prepares nothing.
            if state.withLock({ state in state.all.contains { $0.number == next.number } }) {
                let end = next.prepare()
                let isOver = state.withLock { state in
                    guard let index = state.all.firstIndex(where: { $0.number == next.number }) else { return true }
                    state.all[index].end = end
                    return false
                }
                if isOver { end?(false) }
            }
            state.withLock { $0.isQueued = false }
            promptsChanged()
        }
    }

    /// Ends a preparation.
    ///
    /// - Parameter isUsed: whether the key was used. Otherwise nothing remains in the device.
    func end(_ number: UInt64, isUsed: Bool) {
        let ended = state.withLock { state in
            state.all.firstIndex { $0.number == number }.map { state.all.remove(at: $0) }
        }
        if let end = ended?.end { queue.submit(.any) { end(isUsed) } }
        promptsChanged()
    }
}
