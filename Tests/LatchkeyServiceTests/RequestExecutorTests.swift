// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import Synchronization
import SystemDriver
import TestSupport
import Testing

@testable import LatchkeyService

/// The tasks of requests run on the threads of the daemon only.
@Suite struct RequestExecutorTests {
    /// The threads on which a task ran, and how many of its waits failed.
    private final class Notes: Sendable {
        let state = Mutex<(ran: Set<UInt>, allowed: Set<UInt>, failures: Int)>(([], [], 0))

        func ranHere() { state.withLock { _ = $0.ran.insert(pthread_self()) } }
        func allow(_ thread: UInt) { state.withLock { _ = $0.allowed.insert(thread) } }
    }

    private static func wait(_ queue: SerialWorkQueue, fails: Bool) async throws(Failure) -> UInt {
        try await queue.run { () throws(Failure) in
            if fails { throw Failure(.timedOut) }
            return pthread_self()
        }
    }

    @Test func noJobRunsOnAThreadOfThePool() async throws {
        let queues = [SerialWorkQueue { false }, SerialWorkQueue { false }]
        let notes = Notes()
        await withCheckedContinuation { (end: CheckedContinuation<Void, Never>) in
            notes.allow(pthread_self())
            Task(executorPreference: RequestExecutor.shared) {
                for round in 0..<2_000 {
                    notes.ranHere()
                    do throws(Failure) {
                        let thread = try await Self.wait(queues[round % 2], fails: round > 2 && round % 3 == 0)
                        notes.allow(thread)
                    } catch {
                        notes.ranHere()
                        notes.state.withLock { $0.failures += 1 }
                    }
                    notes.ranHere()
                }
                end.resume()
            }
        }
        let result = notes.state.withLock { $0 }
        #expect(result.failures == 666)
        #expect(result.allowed.count == 3)
        #expect(result.ran.isSubset(of: result.allowed))
    }

    @Test func taskBeginsAndContinuesWhereItsWaitEnds() {
        let steps = Recorder<String>()
        let waiting = Recorder<CheckedContinuation<Void, Never>>()
        Task(executorPreference: RequestExecutor.shared) {
            steps.add("begins")
            await withCheckedContinuation { waiting.add($0) }
            steps.add("continues")
        }
        steps.add("waits")
        waiting.all.first?.resume()
        steps.add("ended")
        #expect(steps.all == ["begins", "waits", "continues", "ended"])
    }
}
