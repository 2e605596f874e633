// SPDX-License-Identifier: Apache-2.0

import Glibc
package import LatchkeySeams
import LatchkeySystem

/// One thread of its own that does the work that blocks, in the order it was given.
///
/// Handing a write to another thread and back costs as much as a quarter of it. So a write about one item is done at
/// once on the thread that gives it, while nobody else could be kept waiting by that.
package final class SerialWorkQueue: WorkQueue, @unchecked Sendable {
    // The list and the flag are only touched with the lock held.
    private var work: [@Sendable () -> Void] = []
    private var isBusy = false
    private let mayWorkHere: @Sendable () -> Bool
    private let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let changed = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    /// Starts the thread; it lasts as long as the process.
    ///
    /// - Parameter mayWorkHere: whether the thread that gives a write about one item may do it.
    package init(mayWorkHere: @escaping @Sendable () -> Bool) {
        self.mayWorkHere = mayWorkHere
        pthread_mutex_init(lock, nil)
        pthread_cond_init(changed, nil)
        Processes.detachThread { [self] in
            while true { performNext() }
        }
    }

    /// One turn of the thread, in a function of its own: in a loop without an end the unoptimised compiler (Swift 6.3.1)
    /// releases nothing of what a turn holds, and every secret that was ever written would stay in memory.
    @inline(never)
    private func performNext() { perform(next()) }

    package func submit(_ extent: WorkExtent, _ work: @escaping @Sendable () -> Void) {
        pthread_mutex_lock(lock)
        let isForHere = extent == .oneItem && !isBusy && self.work.isEmpty && mayWorkHere()
        if isForHere {
            isBusy = true
        } else {
            self.work.append(work)
            pthread_cond_signal(changed)
        }
        pthread_mutex_unlock(lock)
        if isForHere { perform(work) }
    }

    /// Waits for the next piece and takes the queue for it.
    private func next() -> @Sendable () -> Void {
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        while work.isEmpty || isBusy { pthread_cond_wait(changed, lock) }
        isBusy = true
        return work.removeFirst()
    }

    /// Does a piece of work and gives the queue back.
    private func perform(_ work: @Sendable () -> Void) {
        work()
        pthread_mutex_lock(lock)
        isBusy = false
        if !self.work.isEmpty { pthread_cond_signal(changed) }
        pthread_mutex_unlock(lock)
    }
}

/// Does the work at once on the thread that gives it: for engines without a thread of their own.
package final class ImmediateWorkQueue: WorkQueue, StretchQueue {
    package init() {}
    package func submit(_ client: StretchClient, _ work: @escaping @Sendable () -> Void) { work() }
    package func submit(_ extent: WorkExtent, _ work: @escaping @Sendable () -> Void) { work() }
}
