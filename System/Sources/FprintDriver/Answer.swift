// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import Synchronization

/// A state that one thread waits for and another one determines. The first value counts.
final class Answer: Sendable {
    private let state = Mutex<SensorState?>(nil)
    private let semaphore: Semaphore

    init() { semaphore = Semaphore() }

    /// - Returns: whether this value is the first.
    func set(_ value: SensorState) -> Bool {
        let isFirst = state.withLock { state in
            defer { state = state ?? value }
            return state == nil
        }
        if isFirst { semaphore.post() }
        return isFirst
    }

    /// Waits for the first value. The bus's thread sets one at a deadline.
    func wait() -> SensorState {
        semaphore.wait()
        return state.withLock { $0 } ?? .absent
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
