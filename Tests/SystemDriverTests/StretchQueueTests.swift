// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import LatchkeySeams
import Synchronization
import SystemDriver
import Testing

/// The order in which the stretch queue serves clients, and its number of threads.
@Suite struct StretchQueueTests {
    @Test func clientsAreServedInTurn() throws {
        var line = StretchLine<String>()
        for number in 1...3 { try line.add("a\(number)", of: .program("a")) }
        try line.add("b1", of: .program("b"))
        try line.add("person", of: .person)
        try line.add("b2", of: .program("b"))
        var order: [String] = []
        while let next = line.next() { order.append(next) }
        #expect(order == ["a1", "b1", "person", "a2", "b2", "a3"])
        #expect(line.isEmpty)
    }

    @Test func waitingStretchesOfAProgramAreLimited() throws {
        var line = StretchLine<Int>()
        for number in 1...Limits.stretchesWaiting { try line.add(number, of: .program("a")) }
        #expect(throws: Failure(.limitExceeded)) { try line.add(0, of: .program("a")) }
        try line.add(0, of: .program("b"))
        #expect(line.next() == 1)
        try line.add(0, of: .program("a"))
    }

    @Test func atMostTwoStretchesRunAtOnce() throws {
        let queue = StretchThreads()
        let counts = Mutex((running: 0, most: 0, done: 0))
        let (begun, finished) = (Gate(), Gate())
        for _ in 1...6 {
            try queue.submit(.program("a")) {
                let running = counts.withLock { counts in
                    counts.running += 1
                    counts.most = max(counts.most, counts.running)
                    return counts.running
                }
                // The first piece of work waits for a second one, so that two run at once.
                if running == 2 { begun.open() }
                begun.wait()
                let done = counts.withLock { counts in
                    counts.running -= 1
                    counts.done += 1
                    return counts.done
                }
                if done == 6 { finished.open() }
            }
        }
        finished.wait()
        #expect(counts.withLock { $0.most } == 2)
    }
}

/// A gate that opens once and stays open.
private final class Gate: @unchecked Sendable {
    // The semaphore is the only state, and may be used from any thread.
    private let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

    init() { sem_init(semaphore, 0, 0) }

    func open() { sem_post(semaphore) }

    func wait() {
        while sem_wait(semaphore) != 0 {}
        sem_post(semaphore)
    }
}
