// SPDX-License-Identifier: Apache-2.0

import LatchkeyAuthority
import LatchkeyModel
import LatchkeySeams
import Synchronization
import TestSupport
import Testing

@Suite struct OneStretchAtATimeTests {
    /// Runs work at once, on the thread that submits it.
    private final class Immediate: StretchQueue {
        func submit(_ client: StretchClient, _ work: @escaping @Sendable () -> Void) throws(Failure) { work() }
    }

    /// Refuses the first work.
    private final class Refusing: StretchQueue {
        private let hasRefused = Mutex(false)
        func submit(_ client: StretchClient, _ work: @escaping @Sendable () -> Void) throws(Failure) {
            let refuses = hasRefused.withLock { refused in
                defer { refused = true }
                return !refused
            }
            if refuses { throw Failure(.limitExceeded) }
            work()
        }
    }

    @Test func theNextWorkIsSubmittedWhenTheOneBeforeHasEnded() throws {
        let (base, done) = (HeldStretchQueue(), Recorder<Int>())
        let queue = OneStretchAtATime(base)
        for number in 1...3 { try queue.submit(.person) { done.add(number) } }
        for number in 1...3 {
            #expect(base.count == 1, "the threads of others have one piece of work of this user")
            base.step()
            #expect(done.all == Array(1...number))
        }
        #expect(base.count == 0)
        try queue.submit(.person) { done.add(4) }
        base.run()
        #expect(done.all == [1, 2, 3, 4])
    }

    @Test func workThatIsSubmittedByWorkRunsAfterIt() throws {
        let (queue, done) = (OneStretchAtATime(Immediate()), Recorder<Int>())
        try queue.submit(.person) {
            try? queue.submit(.person) { done.add(2) }
            done.add(1)
        }
        #expect(done.all == [1, 2])
    }

    @Test func workThatIsRefusedHoldsNoOtherBack() throws {
        let (queue, done) = (OneStretchAtATime(Refusing()), Recorder<Int>())
        #expect(throws: Failure.self) { try queue.submit(.person) { done.add(1) } }
        try queue.submit(.person) { done.add(2) }
        #expect(done.all == [2])
    }
}
