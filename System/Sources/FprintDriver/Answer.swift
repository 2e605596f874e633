// SPDX-License-Identifier: Apache-2.0

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
}
