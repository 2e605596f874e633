// SPDX-License-Identifier: Apache-2.0

import LatchkeySeams
import Synchronization

/// The queue of the pages of one connection's long replies. One page at a time is read, when the client has received
/// most of what was sent before (back-pressure), so that a connection never makes the daemon hold more than its send
/// queue and one page.
final class PageLine: Sendable {
    /// Reads and sends a page; calls `done` when the page was sent or will not be.
    typealias Page = @Sendable (_ done: @escaping @Sendable () -> Void) -> Void

    private struct State: Sendable {
        var waiting: [Page] = []
        /// Whether a page is being read or waits for room in the send queue.
        var isBusy = false
        /// Whether a thread is already draining the queue.
        var isStarting = false

        mutating func begin() -> Bool {
            defer { isStarting = true }
            return !isStarting
        }

        /// Removes and returns the next page; if there is none to start, ends draining and returns nil.
        mutating func next() -> Page? {
            guard !isBusy, !waiting.isEmpty else {
                isStarting = false
                return nil
            }
            isBusy = true
            return waiting.removeFirst()
        }
    }
    private let state = Mutex(State())
    private let whenRoom: @Sendable (@escaping @Sendable () -> Void) -> Void
    private let queue: any WorkQueue

    init(_ queue: any WorkQueue, whenRoom: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void) {
        self.queue = queue
        self.whenRoom = whenRoom
    }

    /// Appends a page to the queue.
    func add(_ page: @escaping @Sendable (_ done: @escaping @Sendable () -> Void) -> Void) {
        state.withLock { $0.waiting.append(page) }
        start()
    }

    /// Removes all waiting pages, because the connection has ended.
    func clear() { state.withLock { $0.waiting = [] } }

    /// Starts pages in a loop: the work queue may run work synchronously, and a recursion would be as deep as there
    /// are pages.
    private func start() {
        guard state.withLock({ $0.begin() }) else { return }
        while let page = state.withLock({ $0.next() }) {
            whenRoom { [queue] in
                queue.submit(.any) {
                    page { [self] in
                        state.withLock { $0.isBusy = false }
                        start()
                    }
                }
            }
        }
    }
}
