// SPDX-License-Identifier: Apache-2.0

import Glibc
package import LatchkeySeams
import LatchkeySystem

/// A work queue with one thread, which runs blocking work in the order of submission.
///
/// Passing a write to another thread and back costs a quarter of the write. So a write about one item runs on the
/// submitting thread when the queue is idle and `mayWorkHere` allows it.
package final class SerialWorkQueue: WorkQueue, @unchecked Sendable {
    // The array and the flag are only accessed with the lock held.
    private var work: [@Sendable () -> Void] = []
    private var isBusy = false
    private let mayWorkHere: @Sendable () -> Bool
    private let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let changed = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    /// Starts the thread; it lasts as long as the process.
    ///
    /// - Parameter mayWorkHere: whether a write about one item may block the thread that submits it.
    package init(mayWorkHere: @escaping @Sendable () -> Bool) {
        self.mayWorkHere = mayWorkHere
        pthread_mutex_init(lock, nil)
        pthread_cond_init(changed, nil)
        Processes.detachThread { [self] in
            while true { performNext() }
        }
    }

    /// Runs one piece of work. This must be a separate function: in an endless loop the unoptimised compiler (Swift
    /// 6.3.1) does not release the values of an iteration, so secrets in submitted work would stay in memory.
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

    private func next() -> @Sendable () -> Void {
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        while work.isEmpty || isBusy { pthread_cond_wait(changed, lock) }
        isBusy = true
        return work.removeFirst()
    }

    /// Runs a piece of work, then marks the queue idle.
    private func perform(_ work: @Sendable () -> Void) {
        work()
        pthread_mutex_lock(lock)
        isBusy = false
        if !self.work.isEmpty { pthread_cond_signal(changed) }
        pthread_mutex_unlock(lock)
    }
}

/// Runs work on the submitting thread, for engines without threads.
package final class ImmediateWorkQueue: WorkQueue, StretchQueue {
    package init() {}
    package func submit(_ client: StretchClient, _ work: @escaping @Sendable () -> Void) { work() }
    package func submit(_ extent: WorkExtent, _ work: @escaping @Sendable () -> Void) { work() }
}
