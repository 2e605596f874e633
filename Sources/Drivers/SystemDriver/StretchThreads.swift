// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
package import LatchkeySeams
import LatchkeySystem
import Synchronization

/// Runs key stretching on a few threads; a thread is started when work arrives and exits when none is left.
///
/// One stretch takes up to 64 MiB. libcrypto allocates that with `malloc`, and glibc gives allocations above 32 MiB a
/// mapping of their own, which `free` returns to the system (`mallopt(3)`, `M_MMAP_THRESHOLD`).
package final class StretchThreads: StretchQueue {
    private let threadLimit: Int

    private struct State: Sendable {
        var line = StretchLine<@Sendable () -> Void>()
        var threadCount = 0
    }
    private let state = Mutex(State())

    /// Makes a queue without threads.
    ///
    /// - Parameter threads: maximum threads. In the services each user has a process and thus a queue, and the memory of a
    ///   stretch for each thread.
    package init(threads: Int = 2) { threadLimit = threads }

    package func submit(_ client: StretchClient, _ work: @escaping @Sendable () -> Void) throws(Failure) {
        let startsThread = try state.withLock { (state) throws(Failure) in
            try state.line.add(work, of: client)
            guard state.threadCount < threadLimit else { return false }
            state.threadCount += 1
            return true
        }
        guard startsThread else { return }
        Processes.detachThread { [self] in
            while performNext() {}
        }
    }

    /// Runs one piece of work; false when none is left and the thread must exit. This must be a separate function:
    /// the unoptimised compiler (Swift 6.3.1) would not release the values of an iteration until the loop ends.
    @inline(never)
    private func performNext() -> Bool {
        let work = state.withLock { (state) -> (@Sendable () -> Void)? in
            let work = state.line.next()
            if work == nil { state.threadCount -= 1 }
            return work
        }
        work?()
        return work != nil
    }
}
