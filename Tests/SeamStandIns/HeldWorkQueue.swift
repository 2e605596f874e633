// SPDX-License-Identifier: Apache-2.0

package import LatchkeySeams
import Synchronization

/// A work queue that holds work until the test runs it.
package final class HeldWorkQueue: WorkQueue {
    private let work = Mutex<[@Sendable () -> Void]>([])

    package init() {}

    package func submit(_ extent: WorkExtent, _ work: @escaping @Sendable () -> Void) {
        self.work.withLock { $0.append(work) }
    }

    /// Runs the work that is waiting now; returns false if there was none.
    @discardableResult
    package func step() -> Bool {
        let all = work.withLock { work in
            defer { work = [] }
            return work
        }
        for one in all { one() }
        return !all.isEmpty
    }

    /// Runs all waiting work, including work that is submitted meanwhile.
    package func run() { while step() {} }
}
