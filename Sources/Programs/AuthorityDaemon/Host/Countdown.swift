// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Calls a closure when a number of tasks are done.
final class Countdown: Sendable {
    private let left: Mutex<Int>
    private let done: @Sendable () -> Void

    init(of count: Int, _ done: @escaping @Sendable () -> Void) {
        left = Mutex(count)
        self.done = done
    }

    /// Reports that one task is done. Calls after the last one have no effect.
    func down() {
        let isLast = left.withLock { left in
            left -= 1
            return left == 0
        }
        if isLast { done() }
    }
}
