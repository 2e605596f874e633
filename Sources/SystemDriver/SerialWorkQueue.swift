// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeySeams
import LatchkeySystem

/// One thread of its own that does the work that blocks, in the order it was given.
package final class SerialWorkQueue: WorkQueue, @unchecked Sendable {
    // The list is only touched with the lock held.
    private var work: [@Sendable () -> Void] = []
    private let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let changed = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    /// Starts the thread; it lasts as long as the process.
    package init() {
        pthread_mutex_init(lock, nil)
        pthread_cond_init(changed, nil)
        Processes.detachThread { [self] in
            while true { next()() }
        }
    }

    package func submit(_ work: @escaping @Sendable () -> Void) {
        pthread_mutex_lock(lock)
        self.work.append(work)
        pthread_cond_signal(changed)
        pthread_mutex_unlock(lock)
    }

    private func next() -> @Sendable () -> Void {
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        while work.isEmpty { pthread_cond_wait(changed, lock) }
        return work.removeFirst()
    }
}

/// Does the work at once on the thread that gives it: for engines without a thread of their own.
package final class ImmediateWorkQueue: WorkQueue {
    package init() {}
    package func submit(_ work: @escaping @Sendable () -> Void) { work() }
}
