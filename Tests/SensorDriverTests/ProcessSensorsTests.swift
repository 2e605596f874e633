// SPDX-License-Identifier: Apache-2.0

import ChildProcessDrivers
import Foundation
import LatchkeyModel
import LatchkeySeams
import LatchkeySystem
import LatchkeyWire
import TestPromises
import Testing

/// `ProcessSensors` with a process that ends, is silent or sends what it should not.
@Suite struct ProcessSensorsTests {
    static let version = Limits.wireVersion
    private let test = SensorsUnderTest()
    private var program: ScriptedProcess { test.program }

    // MARK: - State

    @Test(.promise("sensor.process")) func theStateIsThatOfTheProcessAndNeverReportsChangesOfTheEnrolment() throws {
        try program.greet(SensorState(kind: .touchID, enrolment: EnrolmentSet([7]), reportsEnrolmentChanges: true))
        #expect(test.state == .finger)
        #expect(test.sessions == .open)
    }

    @Test func anotherUserHasNoSensorAndUnknownSessions() throws {
        try program.greet()
        #expect(test.sensors.state(for: 1001) == .absent)
        #expect(test.sensors.sessions(of: 1001) == .unknown)
        let refused = DispatchSemaphore(value: 0)
        test.sensors.arm(1, user: 1001) { if $0 == .failed { refused.signal() } }
        #expect(refused.wait(timeout: .now() + 10) == .success)
    }

    @Test func aChangedStateIsObserved() throws {
        try program.greet()
        _ = test.state
        try program.send(.sensor(.absent))
        try test.awaitChange()
        while test.state != .absent { try test.awaitChange() }
    }

    @Test func lookingAgainAsksTheProcess() throws {
        try program.greet(.absent)
        test.sensors.look()
        guard case .look(let number) = try program.next() else { throw Failure(.internalFailure) }
        try program.send(.received(number), .sensor(.finger))
        while test.state != .finger { try test.awaitChange() }
    }

    // MARK: - Scans

    @Test(.promise("sensor.process")) func aMatchOfAScanThatWasEndedCountsForNoOther() throws {
        try program.greet()
        let earlier = try test.armed(1)
        test.sensors.disarm(1)
        #expect(try program.next() == .disarm(earlier))
        // The same evaluation scans again, as after a change of the method at its prompt.
        let scan = try test.armed(1)
        #expect(scan != earlier)
        try program.send(.scanned(earlier, .match(EnrolmentSet([7]), isVirtual: false)), .scanned(scan, .noMatch))
        try test.awaitEvent()
        #expect(test.all == [.noMatch])
    }

    @Test func oneEvaluationHasOneScan() throws {
        try program.greet()
        let scan = try test.armed(1)
        test.arm(1)
        try test.awaitEvent()
        #expect(test.all == [.failed], "the second one")
        try program.send(.scanned(scan, .match(EnrolmentSet([7]), isVirtual: false)))
        try test.awaitEvent()
        #expect(test.all.last == .match(EnrolmentSet([7]), isVirtual: false))
    }

    @Test func nothingFollowsAFailure() throws {
        try program.greet()
        let scan = try test.armed(1)
        try program.send(
            .scanned(scan, .failed), .scanned(scan, .match(EnrolmentSet([7]), isVirtual: false)), .sensor(.absent))
        while test.state != .absent { try test.awaitChange() }
        #expect(test.all == [.failed])
    }

    @Test(.promise("sensor.process")) func aProcessThatEndsFailsTheScanAndLocksTheSessions() throws {
        try program.greet()
        _ = try test.armed(1)
        program.end()
        try test.awaitEvent()
        #expect(test.all == [.failed])
        #expect(test.state == .absent)
        #expect(test.sessions == .unknown)
        #expect(test.reported.all == [.changed, .changed], "the first state and the loss")
        test.arm(2)
        try test.awaitEvent()
        #expect(test.all == [.failed, .failed], "no process scans")
        #expect(test.log.lines.all.map(\.event).contains(.sensorFailed))
    }

    @Test func theNextProcessInheritsNoStateOfTheOneBefore() throws {
        let test = SensorsUnderTest(waiting: 0)
        try test.program.greet()
        #expect(test.state == .finger && test.sessions == .open)
        test.program.end()
        try test.clock.awaitAlarm(after: 1)
        test.clock.advance(seconds: 1)
        try test.program.awaitStart()
        // It runs, and has not spoken.
        guard case .look = try test.program.next() else { throw Failure(.internalFailure) }
        #expect(test.state == .absent)
        #expect(test.sessions == .unknown)
    }

    // MARK: - A process that is silent

    @Test(.promise("sensor.process")) func aScanThatIsNotConfirmedEndsTheProcess() throws {
        try program.greet()
        test.arm(1)
        #expect(try program.next() != .received(0), "received, and not confirmed")
        test.clock.advance(seconds: 5)
        try test.awaitEvent()
        #expect(test.all == [.failed])
        try program.awaitEnd()
    }

    @Test func aConfirmedScanWaitsForTheFinger() throws {
        try program.greet()
        let scan = try test.armed(1)
        // The confirmation is handled before what follows it.
        try program.send(.scanned(scan, .noMatch))
        try test.awaitEvent()
        test.clock.advance(seconds: 50)
        try program.send(.scanned(scan, .match(EnrolmentSet([7]), isVirtual: false)))
        try test.awaitEvent()
        #expect(test.all == [.noMatch, .match(EnrolmentSet([7]), isVirtual: false)])
    }

    @Test func aProcessThatNeverSpeaksIsReplacedWithBackOff() throws {
        for pause in [1, 2, 4] as [Int64] {
            try program.awaitStart()
            #expect(try program.next() != .received(0))
            test.clock.advance(seconds: 5)
            try program.awaitEnd()
            try test.awaitChange()
            try test.clock.awaitAlarm(after: pause)
            let starts = program.starts.withLock { $0 }
            test.clock.advance(seconds: pause - 1)
            #expect(program.starts.withLock { $0 } == starts)
            test.clock.advance(seconds: 1)
        }
        try program.greet()
        #expect(test.sessions == .open)
    }

    // MARK: - A process that sends what it should not

    @Test(
        arguments: [
            .received(77), .scanned(77, .noMatch), .look(1), .arm(1), .disarm(1), .applied(1),
        ] as [SensorMessage])
    func aMessageThatTheProcessMayNotSendEndsIt(_ message: SensorMessage) throws {
        try program.greet()
        try program.send(message)
        try program.awaitEnd()
        try test.awaitLoss()
        #expect(test.state == .absent && test.sessions == .unknown)
    }

    @Test(
        .promise("sensor.process"),
        arguments: [
            [version, 0, 0, 0, 1, 0], [version, 0, 0, 0, 3, 0x82, 0x18, 0x05], [version, 0xff, 0xff, 0xff, 0xff],
            [version, 0, 0, 0x60, 0], [version + 1, 0, 0, 0, 3, 0x82, 0x05, 0x01],
        ] as [[UInt8]])
    func garbageEndsTheProcess(_ bytes: [UInt8]) throws {
        try program.greet()
        let scan = try test.armed(1)
        try program.send(raw: bytes)
        try program.awaitEnd()
        try test.awaitEvent()
        #expect(test.all == [.failed], "scan \(scan)")
        try test.awaitLoss()
        #expect(test.state == .absent && test.sessions == .unknown)
    }

    @Test func aFloodOfSessionsEndsTheProcess() throws {
        try program.greet()
        test.unapplied.withLock { $0 = [] }
        for number in 2...70 as ClosedRange<UInt64> {
            // Fails once the connection has ended.
            try? program.send(.sessions(number, .locked, .open))
        }
        try program.awaitEnd()
        try test.awaitLoss()
        #expect(test.unapplied.withLock { $0?.count ?? 0 } <= 66, "and the end of the process")
    }

    @Test func aFloodOfLinesDoesNotFillTheLog() throws {
        try program.greet()
        for number in 0..<300 { try program.send(.log(.sensorFailed, message: "line \(number)", hint: "")) }
        try program.send(.sensor(.absent))
        while test.state != .absent { try test.awaitChange() }
        #expect(test.log.lines.all.count == 256)
    }

    @Test func aLineThatIsRepeatedIsWrittenOnceUntilThereIsASensor() throws {
        try program.greet()
        let line = SensorMessage.log(.sensorFailed, message: "no reader", hint: "")
        try program.send(line, line, .sensor(.finger), line, .sensor(.absent))
        while test.state != .absent { try test.awaitChange() }
        #expect(test.log.lines.all.map(\.text) == ["no reader ", "no reader "])
    }

    // MARK: - Sessions

    @Test(arguments: [
        (SensorMessage.SessionChange.locked, SessionEvent.Change.locked), (.ended, .ended), (.changed, .changed),
    ])
    func aChangeIsConfirmedWhenItHasTakenEffect(
        _ told: SensorMessage.SessionChange, _ change: SessionEvent.Change
    ) throws {
        try program.greet()
        test.unapplied.withLock { $0 = [] }
        try program.send(.sessions(9, told, .unknown), .sensor(.absent))
        while test.state != .absent { try test.awaitChange() }
        #expect(test.reported.all.last == change)
        #expect(test.sessions == .unknown)
        // A question that is sent later arrives first.
        test.sensors.look()
        guard case .look = try program.next() else { throw Failure(.internalFailure) }
        for done in test.unapplied.withLock({ $0 ?? [] }) { done() }
        #expect(try program.next() == .applied(9))
    }

    // MARK: - A program that cannot run here

    @Test(arguments: [64, 127] as [CInt]) func aProgramThatCannotRunHereIsAsIfItWereNotInstalled(_ code: CInt) throws {
        program.exitCode.withLock { $0 = code }
        try program.awaitStart()
        program.end()
        try test.awaitChange()
        #expect(test.state == .absent)
        #expect(test.sessions == SessionState(isLocked: false, biometry: .only([])))
        test.clock.advance(seconds: 1000)
        #expect(program.starts.withLock { $0 } == 1)
    }

    @Test(arguments: [64, nil] as [CInt?]) func aProgramThatHasSpokenIsMissedWhateverItsEnd(_ code: CInt?) throws {
        try program.greet()
        program.exitCode.withLock { $0 = code }
        program.end()
        try test.awaitLoss()
        #expect(test.sessions == .unknown)
    }

    @Test func aProgramThatIsKilledAtItsStartIsMissed() throws {
        program.exitCode.withLock { $0 = nil }
        try program.awaitStart()
        program.end()
        try test.awaitLoss()
        #expect(test.sessions == .unknown)
    }
}
