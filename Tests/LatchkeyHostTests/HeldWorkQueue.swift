// SPDX-License-Identifier: Apache-2.0

import LatchkeySeams
import Synchronization

/// Keeps work until a test has it done.
final class HeldWorkQueue: WorkQueue {
    private let work = Mutex<[@Sendable () -> Void]>([])

    func submit(_ extent: WorkExtent, _ work: @escaping @Sendable () -> Void) {
        self.work.withLock { $0.append(work) }
    }

    /// Does what waits now; false when nothing did.
    @discardableResult
    func step() -> Bool {
        let all = work.withLock { work in
            defer { work = [] }
            return work
        }
        for one in all { one() }
        return !all.isEmpty
    }

    /// Does everything, and what comes of it.
    func run() { while step() {} }
}
