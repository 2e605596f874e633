// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The number of requests that have no complete response yet.
final class InFlight: @unchecked Sendable {
    // `count` is used with the mutex only; both C objects have a stable address until `deinit`.
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let none = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var count = 0

    init() {
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(none, nil)
    }

    deinit {
        pthread_cond_destroy(none)
        pthread_mutex_destroy(mutex)
        none.deallocate()
        mutex.deallocate()
    }

    func began() { change(by: 1) }

    func ended() { change(by: -1) }

    private func change(by step: Int) {
        pthread_mutex_lock(mutex)
        count += step
        if count == 0 { pthread_cond_broadcast(none) }
        pthread_mutex_unlock(mutex)
    }

    /// Blocks until no request is in flight, or the time is over.
    func waitUntilNone(seconds: Int) {
        var deadline = timespec()
        clock_gettime(CLOCK_REALTIME, &deadline)
        deadline.tv_sec += seconds
        pthread_mutex_lock(mutex)
        while count > 0, pthread_cond_timedwait(none, mutex, &deadline) == 0 {}
        pthread_mutex_unlock(mutex)
    }
}
