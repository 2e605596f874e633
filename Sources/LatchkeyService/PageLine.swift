// SPDX-License-Identifier: Apache-2.0

import LatchkeySeams
import Synchronization

/// The pages of one connection's long answers: one at a time, in turn, each once the client has taken most of what was
/// sent. So a connection makes the daemon hold the bytes that may be queued and one page more, however much it asks for.
final class PageLine: Sendable {
    /// Reads and sends a page; calls what it is given when that is done.
    typealias Page = @Sendable (_ done: @escaping @Sendable () -> Void) -> Void

    private struct State: Sendable {
        var waiting: [Page] = []
        /// A page is read, or waits for room.
        var isBusy = false
        /// Someone starts pages.
        var isStarting = false

        mutating func begin() -> Bool {
            defer { isStarting = true }
            return !isStarting
        }

        /// The next page; without one, nobody starts any more.
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

    /// Has a page read after those that wait.
    func add(_ page: @escaping @Sendable (_ done: @escaping @Sendable () -> Void) -> Void) {
        state.withLock { $0.waiting.append(page) }
        start()
    }

    /// Forgets what waits: nobody reads the answers any more.
    func clear() { state.withLock { $0.waiting = [] } }

    /// A queue may do its work at once, and each page asks for the next: they follow in this loop, not call within call.
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
