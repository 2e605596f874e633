// SPDX-License-Identifier: Apache-2.0

import TestPromises
import Testing

@testable import LatchkeySystem

/// What the accepting process waits for, and what it does not wait for any more.
@Suite struct UserWorkerTests {
    private let second: Int64 = 1_000_000_000

    /// A user with a process that takes nothing, and the ends of its sockets.
    private func worker() throws -> (UserWorker, [MessageSocket]) {
        let (control, pair) = (try MessageSocket.pair(), try MessageSocket.pair())
        let process = try ChildProcess.start("/bin/cat", [], environment: [], descriptors: [control.1.descriptor])
        var worker = UserWorker(isKnown: true)
        worker.begin(
            UserWorker.Running(process: process, control: control.0, connections: [pair.0]), deadline: 10 * second)
        return (worker, [control.1, pair.1])
    }

    /// Without this, a process that a system call holds would make the service look at it without a pause, for ever.
    @Test(.promise("users.places")) func aProcessThatWasKilledIsNotWaitedFor() throws {
        let limits = AcceptorLimits()
        var (worker, ends) = try worker()
        #expect(worker.deadline(limits) == 10 * second)
        let isLateBefore = worker.destroyIfLate(at: 9 * second, limits)
        #expect(!isLateBefore)
        let isLate = worker.destroyIfLate(at: 10 * second, limits)
        #expect(isLate)
        #expect(worker.deadline(limits) == nil)
        let isLateAgain = worker.destroyIfLate(at: 20 * second, limits)
        #expect(!isLateAgain, "it is said once")
        withExtendedLifetime(ends) {}
    }

    @Test func anIdleProcessThatDoesNotEndIsKilledWithoutAFailure() throws {
        let limits = AcceptorLimits()
        var (worker, ends) = try worker()
        worker.leave(until: 5 * second)
        let isFailure = worker.destroyIfLate(at: 5 * second, limits)
        #expect(!isFailure)
        #expect(worker.isLeaving, "its end is no failure either")
        #expect(worker.deadline(limits) == nil)
        withExtendedLifetime(ends) {}
    }

    @Test func aProcessThatTakesNothingIsKilledUnlessItHasTakenEverythingMeanwhile() throws {
        let limits = AcceptorLimits()
        var (worker, ends) = try worker()
        worker.phase = .serving
        let connection = try Sockets.pair().0
        for _ in 0..<20 {
            worker.waiting.append(UserWorker.Waiting(listener: 0, descriptor: connection, deadline: 500 * second))
        }
        let isTaken = try worker.passOn(second) { _ in }
        #expect(!isTaken, "the socket has room for a few")
        while !worker.waiting.isEmpty {
            while case .message = try ends[1].receive() {}
            _ = try worker.passOn(2 * second) { _ in }
        }
        let isLate = worker.destroyIfLate(at: 1_000 * second, limits)
        #expect(!isLate)
        for _ in 0..<20 {
            worker.waiting.append(UserWorker.Waiting(listener: 0, descriptor: connection, deadline: 5_000 * second))
        }
        let isTakenAgain = try worker.passOn(2_000 * second) { _ in }
        #expect(!isTakenAgain)
        let isLateNow = worker.destroyIfLate(at: (2_000 + limits.stuckSeconds) * second, limits)
        #expect(isLateNow)
    }

    @Test func connectionsThatHaveWaitedTooLongAreTakenOutInTheirOrder() throws {
        var worker = UserWorker(isKnown: true)
        let connection = try Sockets.pair().0
        for deadline in 1...3 as ClosedRange<Int64> {
            worker.waiting.append(
                UserWorker.Waiting(listener: 0, descriptor: connection, deadline: deadline * second))
        }
        let late = worker.takeLate(at: 2 * second)
        #expect(late.map(\.deadline) == [second, 2 * second])
        #expect(worker.waiting.count == 1)
    }

    @Test func aBurstOfConnectionsIsFollowedByTheirRate() {
        var limits = AcceptorLimits()
        (limits.rateOfUser, limits.burstOfUser) = (10, 20)
        var worker = UserWorker(isKnown: true)
        for (time, expected) in [(second, 20), (2 * second, 10)] {
            var count = 0
            for _ in 0..<30 where worker.mayConnect(at: time, limits) { count += 1 }
            #expect(count == expected)
        }
    }
}
