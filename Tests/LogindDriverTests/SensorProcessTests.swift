// SPDX-License-Identifier: Apache-2.0

import BusTestSupport
import ChildProcessDrivers
import Foundation
import LatchkeyModel
import LatchkeySeams
import LatchkeySystem
import SensorTestSupport
import Synchronization
import SystemDriver
import TestSupport
import Testing

/// The login sessions of tier `user`: `ProcessSensors`, the built `latchkey-authd --user`, and a stand-in for logind. As root,
/// because the process trusts only a logind of root.
@Suite(.needs(.messageBus), .needs(.root), .timeLimit(.minutes(1))) struct SensorProcessTests {
    private static let user = UInt32(geteuid())
    private let bus: PrivateBus
    private let logind: LogindStandIn
    private let program: RealSensors
    private let sensors: ProcessSensors
    private let reports = Reports()

    init() throws {
        bus = try PrivateBus()
        logind = try LogindStandIn(bus, [LogindStandIn.Session(id: "2", user: Self.user)])
        program = RealSensors(bus: bus.address)
        sensors = ProcessSensors(program, user: Self.user, clock: SystemClock(), log: CollectedLog())
        sensors.observeSession { [reports] event, done in reports.add(event, done) }
    }

    private func end() {
        sensors.stop()
        logind.end()
    }

    private var state: SessionState { sensors.sessions(of: Self.user) }
    private static let open = SessionState(isLocked: false, biometry: .only(["2"]))
    private static let locked = SessionState(isLocked: true, biometry: .only([]))

    private func wait(for expected: SessionState, sourceLocation: SourceLocation = #_sourceLocation) throws {
        while state != expected { try reports.wait(sourceLocation) }
    }

    @Test func aLockAndItsEndAreReported() throws {
        defer { end() }
        try wait(for: Self.open)
        logind.session("2", "Lock")
        try reports.wait(for: .locked)
        #expect(state == Self.locked)
        logind.session("2", "Unlock")
        try wait(for: Self.open)
    }

    @Test func aSwitchToAnotherTerminalRefusesBiometry() throws {
        defer { end() }
        try wait(for: Self.open)
        logind.properties("2", [("Active", .flag(false))])
        try wait(for: SessionState(isLocked: false, biometry: .only([])))
    }

    @Test func theEndOfTheLastSessionIsReported() throws {
        defer { end() }
        try wait(for: Self.open)
        logind.manager("SessionRemoved", [.string("2"), .path(LogindStandIn.path("2"))])
        try reports.wait(for: .ended)
    }

    @Test func sleepWaitsUntilTheLockHasTakenEffect() throws {
        defer { end() }
        try wait(for: Self.open)
        try logind.wait(for: "Inhibit")
        let held = try logind.closesDelay()
        logind.dropOwnDelay()
        reports.keepsDone.withLock { $0 = true }
        logind.manager("PrepareForSleep", [.flag(true)])
        try reports.wait(for: .locked)
        #expect(state == Self.locked)
        #expect(try held.wait(for: POLLIN, until: Uptime.deadline(seconds: 0)) == false, "sleep still waits")
        reports.finish()
        #expect(try held.wait(for: POLLIN, until: Uptime.deadline(seconds: 10)), "sleep begins")
        logind.manager("PrepareForSleep", [.flag(false)])
        try wait(for: Self.open)
    }

    @Test func aProcessThatIsKilledLocksUntilTheNextOneHasAsked() throws {
        defer { end() }
        try wait(for: Self.open)
        program.signal(SIGKILL)
        try wait(for: Self.locked)
        try wait(for: Self.open)
    }

    /// What was reported, and what confirms it.
    private final class Reports: Sendable {
        private let changes = Mutex<[SessionEvent.Change]>([])
        private let unfinished = Recorder<@Sendable () -> Void>()
        private let arrived = DispatchSemaphore(value: 0)
        let keepsDone = Mutex(false)

        func add(_ event: SessionEvent, _ done: @escaping @Sendable () -> Void) {
            if keepsDone.withLock({ $0 }) { unfinished.add(done) } else { done() }
            changes.withLock { $0.append(event.change) }
            arrived.signal()
        }

        func finish() { for done in unfinished.all { done() } }
        func wait(_ sourceLocation: SourceLocation) throws { try arrived.signalled(sourceLocation: sourceLocation) }
        func wait(for change: SessionEvent.Change, sourceLocation: SourceLocation = #_sourceLocation) throws {
            while !changes.withLock({ $0.contains(change) }) { try wait(sourceLocation) }
        }
    }
}
