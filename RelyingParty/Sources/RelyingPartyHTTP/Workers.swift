// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Threads that answer the requests whose answers may wait, for example for a disk, so that the threads which read and write
/// all connections do not wait. Requests are answered in the order in which they are complete.
final class Workers: @unchecked Sendable {
    /// Answers a request; called with true if the server ends and has no time for an answer.
    typealias Job = @Sendable (_ isEnding: Bool) -> Void

    // `jobs`, `first` and `isEnding` are used with the mutex only; both C objects have a stable address until `deinit`.
    // `threads` is used by the initialiser and `stop` only.
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let changed = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    /// The jobs that wait, from the index `first` on.
    private var jobs: [Job?] = []
    private var first = 0
    private var isEnding = false
    private var threads: [pthread_t] = []

    /// Starts threads; nil if the system refuses one.
    init?(count: UInt32) {
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(changed, nil)
        for _ in 0..<count {
            var thread = pthread_t()
            let context = Unmanaged.passRetained(self)
            let code = pthread_create(
                &thread, nil,
                { context in
                    if let context { Unmanaged<Workers>.fromOpaque(context).takeRetainedValue().work() }
                    return nil
                }, context.toOpaque())
            guard code == 0 else {
                context.release()
                stop()
                return nil
            }
            threads.append(thread)
        }
    }

    deinit {
        pthread_cond_destroy(changed)
        pthread_mutex_destroy(mutex)
        changed.deallocate()
        mutex.deallocate()
    }

    /// Has a thread do a job; does it here, as one of a server that ends, after `stop` was called.
    func add(_ job: @escaping Job) {
        pthread_mutex_lock(mutex)
        let isLate = isEnding
        if !isLate { jobs.append(job) }
        pthread_mutex_unlock(mutex)
        if isLate { job(true) } else { pthread_cond_signal(changed) }
    }

    /// Has the jobs that wait done as those of a server that ends, and blocks until all are done. To be called once.
    func stop() {
        pthread_mutex_lock(mutex)
        isEnding = true
        pthread_mutex_unlock(mutex)
        pthread_cond_broadcast(changed)
        for thread in threads { pthread_join(thread, nil) }
        threads = []
    }

    private func work() {
        while true {
            pthread_mutex_lock(mutex)
            while first == jobs.count, !isEnding { pthread_cond_wait(changed, mutex) }
            let job = next()
            let isLate = isEnding
            pthread_mutex_unlock(mutex)
            guard let job else { return }
            job(isLate)
        }
    }

    /// Takes the first job; nil if none waits. Call with the mutex.
    private func next() -> Job? {
        guard first < jobs.count else { return nil }
        let job = jobs[first]
        jobs[first] = nil
        first += 1
        if first == jobs.count {
            jobs.removeAll(keepingCapacity: jobs.count <= 1024)
            first = 0
        } else if first >= 1024, first * 2 >= jobs.count {
            jobs.removeFirst(first)
            first = 0
        }
        return job
    }
}
