// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import Synchronization

/// A stretch queue that holds work, in the order of the real queue, until the test runs it.
final class HeldStretchQueue: StretchQueue {
    private struct State: Sendable {
        var line = StretchLine<@Sendable () -> Void>()
        var count = 0
    }
    private let state = Mutex(State())

    /// The number of waiting pieces of work.
    var count: Int { state.withLock { $0.count } }

    func submit(_ client: StretchClient, _ work: @escaping @Sendable () -> Void) throws(Failure) {
        try state.withLock { (state) throws(Failure) in
            try state.line.add(work, of: client)
            state.count += 1
        }
    }

    /// Runs the next piece of work; returns false if none was waiting.
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

    /// Runs all waiting work, including work that is submitted meanwhile.
    func run() { while step() {} }
}
