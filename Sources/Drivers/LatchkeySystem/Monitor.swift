// SPDX-License-Identifier: Apache-2.0

package import Glibc

/// A value that some threads change and other threads wait for: a mutex and a condition variable (POSIX threads).
///
/// `Mutex` of the standard library cannot wait, and with a semaphore beside it the value and the count could differ. The
/// value is passed to a closure for one look at a time, so no access to it lasts while a thread waits. Closures run with
/// the lock held: they must be short, and must not use the same monitor.
///
/// Other modules compile a copy for their value (`@inlinable`): code for any type would copy it and each result by tables
/// of functions, two microseconds of each call of a client.
package final class Monitor<Value: Sendable>: @unchecked Sendable {
    // Only accessed with the lock held. Allocated, because the runtime would check each access to a property of a class,
    // and because POSIX does not allow a lock or a condition to be moved.
    @usableFromInline let value = UnsafeMutablePointer<Value>.allocate(capacity: 1)
    @usableFromInline let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    @usableFromInline let changed = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    package init(_ value: Value) {
        self.value.initialize(to: value)
        pthread_mutex_init(lock, nil)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        // Setting the wall clock back must not prolong a wait.
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(changed, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_mutex_destroy(lock)
        pthread_cond_destroy(changed)
        value.deinitialize(count: 1)
        value.deallocate()
        lock.deallocate()
        changed.deallocate()
    }

    /// Uses the value; no waiting thread is woken.
    @inlinable
    package func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        return body(&value.pointee)
    }

    /// Has the threads that wait look at the value again.
    @inlinable
    package func wake() { pthread_cond_broadcast(changed) }

    /// Changes the value, and wakes the threads that wait for it.
    @inlinable
    package func change<Result>(_ body: (inout Value) -> Result) -> Result {
        defer { wake() }
        return withLock(body)
    }

    /// Waits until `body` returns a value; it is called at once, and then whenever the thread is woken.
    @inlinable
    package func wait<Result>(_ body: (inout Value) -> Result?) -> Result {
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        while true {
            if let result = body(&value.pointee) { return result }
            pthread_cond_wait(changed, lock)
        }
    }

    /// As `wait(_:)`, for at most that many seconds of the monotonic clock; nil if `body` returned no value until then.
    @inlinable
    package func wait<Result>(seconds: Int64, _ body: (inout Value) -> Result?) -> Result? {
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        if let result = body(&value.pointee) { return result }
        var deadline = timespec()
        clock_gettime(CLOCK_MONOTONIC, &deadline)
        deadline.tv_sec += Int(seconds)
        while true {
            let isLate = pthread_cond_timedwait(changed, lock, &deadline) == ETIMEDOUT
            let result = body(&value.pointee)
            if isLate { return result }
            if let result { return result }
        }
    }
}
