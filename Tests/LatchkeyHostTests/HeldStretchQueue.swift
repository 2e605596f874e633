// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import Synchronization

/// Keeps stretches, in the turns of the real queue, until a test has them done.
final class HeldStretchQueue: StretchQueue {
    private struct State: Sendable {
        var line = StretchLine<@Sendable () -> Void>()
        var count = 0
    }
    private let state = Mutex(State())

    /// How many wait.
    var count: Int { state.withLock { $0.count } }

    func submit(_ client: StretchClient, _ work: @escaping @Sendable () -> Void) throws(Failure) {
        try state.withLock { (state) throws(Failure) in
            try state.line.add(work, of: client)
            state.count += 1
        }
    }

    /// Does the next one; false when none waited.
    @discardableResult
    func step() -> Bool {
        let next = state.withLock { (state) -> (@Sendable () -> Void)? in
            guard let next = state.line.next() else { return nil }
            state.count -= 1
            return next
        }
        next?()
        return next != nil
    }

    /// Does all, and what comes of them.
    func run() { while step() {} }
}
