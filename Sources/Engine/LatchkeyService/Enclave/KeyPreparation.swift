// SPDX-License-Identifier: Apache-2.0

import LatchkeyKeychain
import LatchkeyModel
import LatchkeySeams
import Synchronization

/// What a key module does for a use of a key while the person is asked. The preparation, the use and the end of the
/// preparation are in the queue of key operations in this order, so the reply is sent before the end.
final class KeyPreparation: Sendable {
    private struct State: Sendable {
        var hasEnded = false
        var end: (@Sendable (_ isUsed: Bool) -> Void)?
    }
    private let state = Mutex(State())
    private let queue: any WorkQueue

    /// Begins a preparation; nil if the keys of the enclave need none.
    init?(
        _ name: EnclaveKeyName, _ caller: Caller, _ keychain: Keychain, _ enclave: Enclave, on queue: any WorkQueue
    ) {
        guard enclave.prepares else { return nil }
        self.queue = queue
        queue.submit(.any) { [self] in
            guard !state.withLock({ $0.hasEnded }), let blob = keychain.keyToPrepare(name, caller: caller) else {
                return
            }
            let end = enclave.prepare(blob)
            state.withLock { $0.end = end }
        }
    }

    /// Ends the preparation; called once.
    ///
    /// - Parameter isUsed: whether the key was used. Otherwise nothing remains in the device.
    func end(isUsed: Bool) {
        state.withLock { $0.hasEnded = true }
        queue.submit(.any) { [self] in
            let end = state.withLock { state in
                defer { state.end = nil }
                return state.end
            }
            end?(isUsed)
        }
    }
}
