// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Threads that answer the requests whose answers may wait, for example for a disk, so that the threads which read and write
/// all connections do not wait. Requests are answered in the order in which they are complete.
final class Workers: @unchecked Sendable {
    /// Answers a request; called with true if the server ends and has no time for an answer.
    typealias Job = @Sendable (_ isEnding: Bool) -> Void

    private struct Waiting {
        let job: Job
        let network: [UInt8]?
    }

    // `jobs`, `first`, `byNetwork`, `shed` and `isEnding` are used with the mutex only; both C objects have a stable address until `deinit`.
    // `threads` is used by the initialiser and `stop` only.
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let changed = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    /// The jobs that wait, from the index `first` on.
    private var jobs: [Waiting?] = []
    private var first = 0
    private let most: Int
    /// How many of the jobs that wait are of each network.
    private var byNetwork: [[UInt8]: Int] = [:]
    private var shed: UInt64 = 0
    private var isEnding = false
    private var threads: [pthread_t] = []

    /// Starts threads; nil if the system refuses one.
    ///
    /// - Parameters:
    ///   - count: the number of threads.
    ///   - most: the most jobs that wait.
    init?(count: UInt32, most: Int) {
        self.most = most
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

    /// Has a thread do a job; does it here, as one of a server that ends, after `stop` was called. Refuses it if too many
    /// wait: a network has at most as many places as are free, so that one takes half of them, two take two thirds, and a flood
    /// from some always leaves places to the others. Jobs without a network can take all places.
    ///
    /// - Returns: whether the job is done, or will be.
    func add(_ network: [UInt8]?, _ job: @escaping Job) -> Bool {
        pthread_mutex_lock(mutex)
        if isEnding {
            pthread_mutex_unlock(mutex)
            job(true)
            return true
        }
        // A customer of a provider has many networks of 64 bits: they share the places of the first 48.
        let network = network.map { $0.count == 8 ? Array($0.prefix(6)) : $0 }
        let own = network.map { byNetwork[$0, default: 0] } ?? 0
        let free = most - (jobs.count - first)
        let isAdmitted = free > 0 && own < max(1, free)
        if isAdmitted {
            jobs.append(Waiting(job: job, network: network))
            if let network { byNetwork[network] = own + 1 }
        } else {
            shed += 1
        }
        pthread_mutex_unlock(mutex)
        if isAdmitted { pthread_cond_signal(changed) }
        return isAdmitted
    }

    /// How many jobs wait, and how many were refused.
    var counts: (waiting: Int, shed: UInt64) {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return (jobs.count - first, shed)
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
        guard first < jobs.count, let next = jobs[first] else { return nil }
        if let network = next.network, let count = byNetwork[network] {
            byNetwork[network] = count > 1 ? count - 1 : nil
        }
        jobs[first] = nil
        first += 1
        if first == jobs.count {
            jobs.removeAll(keepingCapacity: jobs.count <= 1024)
            first = 0
        } else if first >= 1024, first * 2 >= jobs.count {
            jobs.removeFirst(first)
            first = 0
        }
        return next.job
    }
}
