// SPDX-License-Identifier: Apache-2.0

import ChildProcessDrivers
import Foundation
import LatchkeyModel
import LatchkeySeams
import LatchkeySystem
import LatchkeyWire
import SimulatedDriver
import Synchronization
import TestSupport
import Testing

/// A process of the sensors, played by the test: it sends what the test says, and answers nothing by itself.
final class ScriptedProcess: SensorProgram {
    /// The other end of the present process.
    private let far = Mutex<Descriptor?>(nil)
    private let started = DispatchSemaphore(value: 0)
    let exitCode = Mutex<CInt?>(0)
    let starts = Mutex(0)

    func start() throws(SystemError) -> SensorProcess {
        let (near, far) = try Sockets.pair()
        self.far.withLock { $0 = far }
        starts.withLock { $0 += 1 }
        started.signal()
        return SensorProcess(socket: near) { [self] in exitCode.withLock { $0 } }
    }

    private var socket: Descriptor { get throws { try #require(far.withLock { $0 }) } }

    func awaitStart() throws { try #require(started.wait(timeout: .now() + 10) == .success) }

    /// The next message that the driver has sent.
    func next() throws -> SensorMessage {
        let payload = try Frame.receive(from: socket, until: Uptime.deadline(seconds: 10))
        return try SensorMessage(decoding: payload)
    }

    func send(_ messages: SensorMessage...) throws {
        for message in messages { try Frame.send(message.encoded(), to: socket) }
    }

    func send(raw bytes: [UInt8]) throws { try socket.write(all: bytes) }

    /// Waits until the driver has ended the connection.
    func awaitEnd() throws {
        // Fails with an error when the connection was reset.
        while let bytes = try? readable(), !bytes.isEmpty {}
    }

    private func readable() throws -> [UInt8] {
        let socket = try socket
        try #require(try socket.wait(for: POLLIN, until: Uptime.deadline(seconds: 10)))
        return try socket.read(atMost: 4096)
    }

    /// Ends the process.
    func end() { far.withLock { $0.map(Sockets.shutDown) } }

    /// Waits for the first question, confirms it and reports a state.
    func greet(_ sensor: SensorState = .finger, sessions: SessionState = .open) throws {
        try awaitStart()
        guard case .look(let number) = try next() else { throw Failure(.internalFailure) }
        try send(.received(number), .sensor(sensor), .sessions(1, .changed, sessions))
        #expect(try next() == .applied(1))
    }
}

extension SensorState {
    static let finger = SensorState(
        kind: .touchID, enrolment: EnrolmentSet([7]), reportsEnrolmentChanges: false)
}

extension SessionState {
    static let open = SessionState(isLocked: false, biometry: .only(["2"]))
    static let unknown = SessionState(isLocked: true, biometry: .only([]))
}

/// The driver of a test, and what it has reported.
final class SensorsUnderTest: Sendable {
    static let user: UInt32 = 1000
    let program = ScriptedProcess()
    let clock = WatchedClock()
    let sensors: ProcessSensors
    let log = Notes()
    private let events = Mutex<[SensorEvent]>([])
    private let arrived = DispatchSemaphore(value: 0)
    private let changes = DispatchSemaphore(value: 0)
    let reported = Recorder<SessionEvent.Change>()
    /// What confirms the changes of sessions, unless they are confirmed at once.
    let unapplied = Mutex<[@Sendable () -> Void]?>(nil)

    init(waiting seconds: Int64 = ProcessSensors.Timing().state) {
        var timing = ProcessSensors.Timing()
        timing.state = seconds
        sensors = ProcessSensors(program, user: Self.user, timing: timing, clock: clock, log: log)
        sensors.observe { [changes] in changes.signal() }
        sensors.observeSession { [weak self] event, done in
            guard let self else { return done() }
            reported.add(event.change)
            let isKept = unapplied.withLock { kept in
                kept?.append(done)
                return kept != nil
            }
            if !isKept { done() }
        }
    }

    deinit { sensors.stop() }

    var state: SensorState { sensors.state(for: Self.user) }
    var sessions: SessionState { sensors.sessions(of: Self.user) }
    var all: [SensorEvent] { events.withLock { $0 } }

    func arm(_ evaluation: UInt64) {
        sensors.arm(evaluation, user: Self.user) { [self] event in
            events.withLock { $0.append(event) }
            arrived.signal()
        }
    }

    /// Begins a scan, and returns its number as the process knows it.
    func armed(_ evaluation: UInt64) throws -> UInt64 {
        arm(evaluation)
        guard case .arm(let number) = try program.next() else { throw Failure(.internalFailure) }
        try program.send(.received(number))
        return number
    }

    func awaitEvent() throws { try #require(arrived.wait(timeout: .now() + 10) == .success) }
    /// Waits until the driver has noticed the end of the process.
    func awaitLoss() throws { while state != .absent { try awaitChange() } }

    func awaitChange() throws { try #require(changes.wait(timeout: .now() + 10) == .success) }
}

/// A log that a test reads.
final class Notes: EventLog {
    let lines = Recorder<(event: DaemonEvent, text: String)>()
    func record(_ event: DaemonEvent, _ failure: Failure?) {
        lines.add((event, failure.map { "\($0.message) \($0.hint)" } ?? ""))
    }
}

/// A clock that the test advances, and which reports when an alarm was set.
final class WatchedClock: Clock {
    private let clock = VirtualClock()
    private let alarms = Recorder<Int64>()
    var uptime: Int64 { clock.uptime }
    var bootID: [UInt8] { clock.bootID }
    var wallTime: Int64 { clock.wallTime }

    func alarm(after seconds: Int64, _ body: @escaping @Sendable () -> Void) -> any Alarm {
        defer { alarms.add(seconds) }
        return clock.alarm(after: seconds, body)
    }

    func advance(seconds: Int64) { clock.advance(seconds: seconds) }

    /// Waits until an alarm for so many seconds was set.
    func awaitAlarm(after seconds: Int64) throws { try alarms.first { $0 == seconds } }
}
