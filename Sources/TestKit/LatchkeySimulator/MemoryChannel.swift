// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyClient
import LatchkeyModel
import LatchkeySeams
import LatchkeyService

/// A connection to the engine in this process: frames pass through a queue in memory instead of the daemon's socket.
final class MemoryChannel: ClientChannel, @unchecked Sendable {
    // The queue is only accessed with the lock held; the session is set once, before any frame can be sent.
    private var frames: [SecretBytes] = []
    private let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let changed = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var session: HostSession?
    private var isClosed = false

    /// Creates a channel to the handler that `begin` creates when the client sends its hello.
    init(_ begin: @escaping @Sendable (Request.Hello) -> any RequestHandler) {
        pthread_mutex_init(lock, nil)
        pthread_cond_init(changed, nil)
        self.session = HostSession(
            send: { [weak self] in self?.push($0) }, end: { [weak self] in self?.end() }, begin: begin)
    }

    deinit {
        session?.close()
        pthread_mutex_destroy(lock)
        pthread_cond_destroy(changed)
        lock.deallocate()
        changed.deallocate()
    }

    private func push(_ payload: SecretBytes) {
        pthread_mutex_lock(lock)
        frames.append(payload)
        pthread_cond_signal(changed)
        pthread_mutex_unlock(lock)
    }

    /// Closes the connection, for a restart of the machine. Blocked calls of `receive` end.
    func close() {
        end()
        session?.close()
    }

    private func end() {
        pthread_mutex_lock(lock)
        isClosed = true
        pthread_cond_broadcast(changed)
        pthread_mutex_unlock(lock)
    }

    private func hasEnded() -> Bool {
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        return isClosed
    }

    func send(_ payload: SecretBytes) throws(Failure) {
        guard !hasEnded() else { throw MemoryChannel.restarted }
        session?.receive(payload)
    }

    private static let restarted = Failure(.daemonUnavailable, "The simulated machine was restarted.")

    func receive(until deadline: Int64) throws(Failure) -> SecretBytes? {
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        // Frames that were sent before the end are still delivered.
        guard !isClosed || !frames.isEmpty else { throw MemoryChannel.restarted }
        // Waits for at most a second: the caller checks its deadline between two calls.
        if frames.isEmpty {
            var time = timespec()
            clock_gettime(CLOCK_REALTIME, &time)
            time.tv_sec += 1
            pthread_cond_timedwait(changed, lock, &time)
        }
        if !frames.isEmpty { return frames.removeFirst() }
        if isClosed { throw MemoryChannel.restarted }
        return nil
    }
}
