// SPDX-License-Identifier: Apache-2.0

import CLatchkeyLinux
import Glibc
import Synchronization

/// A value that one thread waits for and another one determines. The first value counts.
package final class Answer<Value: Sendable>: Sendable {
    private let value = Mutex<Value?>(nil)
    private let semaphore = Semaphore()

    package init() {}

    /// - Returns: whether this value is the first.
    @discardableResult
    package func set(_ new: Value) -> Bool {
        let isFirst = value.withLock { value in
            defer { value = value ?? new }
            return value == nil
        }
        if isFirst { semaphore.post() }
        return isFirst
    }

    /// Waits for the first value. Every call of the bus has a deadline, so there always is one.
    package func wait() -> Value? {
        semaphore.wait()
        return value.withLock { $0 }
    }

    /// Waits for the first value, but not longer than `milliseconds`; nil if there is none by then.
    package func wait(milliseconds: Int64) -> Value? {
        semaphore.wait(milliseconds: milliseconds)
        return value.withLock { $0 }
    }
}

/// A semaphore of POSIX (sem_overview(7)).
private final class Semaphore: @unchecked Sendable {
    // Sendable: sem_post and sem_wait may be called on any thread.
    private let handle = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

    init() { sem_init(handle, 0, 0) }

    deinit {
        sem_destroy(handle)
        handle.deallocate()
    }

    func post() { sem_post(handle) }
    func wait() { while sem_wait(handle) != 0, errno == EINTR {} }

    func wait(milliseconds: Int64) {
        var end = timespec()
        clock_gettime(CLOCK_MONOTONIC, &end)
        let nanoseconds = end.tv_nsec + Int(milliseconds % 1000) * 1_000_000
        end.tv_sec += Int(milliseconds / 1000) + nanoseconds / 1_000_000_000
        end.tv_nsec = nanoseconds % 1_000_000_000
        while sem_clockwait(handle, CLOCK_MONOTONIC, &end) != 0, errno == EINTR {}
    }
}
