// SPDX-License-Identifier: Apache-2.0

import AuthorityDaemon
import LatchkeyModel
import LatchkeySeams
import LatchkeySystem
import LatchkeyWire
import Synchronization
import TestSupport
import Testing

/// The process of the sensors, with the processes of several users.
@Suite(.timeLimit(.minutes(1))) struct SensorHostsTests {
    private let clock = WatchedClock()
    private let reader = CollectingReader()
    private let sessions = GivenSessions()
    private let hosts: SensorHosts

    init() {
        hosts = SensorHosts(clock: clock, log: Notes())
        hosts.observe(reader, sessions)
    }

    /// The connection of a user's process, which has got the first state of its sessions.
    private func connect(_ user: UInt32) throws -> Descriptor {
        let (near, far) = try Sockets.pair()
        Processes.detachThread { [hosts, reader, sessions] in hosts.serve(far, user: user, reader, sessions) }
        guard case .sessions(let number, _, _) = try next(near) else { throw Failure(.internalFailure) }
        try send(.applied(number), near)
        return near
    }

    private func next(_ connection: Descriptor) throws -> SensorMessage {
        try SensorMessage(decoding: Frame.receive(from: connection, until: Uptime.deadline(seconds: 20)))
    }

    private func send(_ message: SensorMessage, _ connection: Descriptor) throws {
        try Frame.send(message.encoded(), to: connection)
    }

    /// Sleep, for example, must not wait for the process of one user.
    @Test func aProcessThatDoesNotFollowAChangeDelaysItForThreeSeconds() throws {
        let (still, other) = (try connect(1000), try connect(1001))
        let isDone = Mutex(false)
        sessions.report(SessionEvent(user: nil, session: "", .locked)) { isDone.withLock { $0 = true } }
        guard case .sessions(let number, .locked, _) = try next(other) else {
            Issue.record("the change is not passed on")
            return
        }
        try send(.applied(number), other)
        #expect(!isDone.withLock { $0 })
        clock.advance(seconds: 2)
        #expect(!isDone.withLock { $0 }, "the process of the first user has not followed it")
        clock.advance(seconds: 1)
        #expect(isDone.withLock { $0 })
        withExtendedLifetime(still) {}
    }

    @Test func aChangeOfOneUserWaitsForNoOther() throws {
        let still = try connect(1000)
        let isDone = Mutex(false)
        sessions.report(SessionEvent(user: 1001, session: "", .locked)) { isDone.withLock { $0 = true } }
        #expect(isDone.withLock { $0 })
        withExtendedLifetime(still) {}
    }

    /// Each connection counts its scans from 1, and the reader is one.
    @Test func scansOfSeveralUsersAreDistinctAndEndWithTheirConnection() throws {
        let (first, second) = (try connect(1000), try connect(1001))
        for connection in [first, second] {
            try send(.arm(1), connection)
            #expect(try next(connection) == .received(1))
        }
        let armed = try reader.awaitArmed(2)
        #expect(Set(armed.map(\.user)) == [1000, 1001] && Set(armed.map(\.scan)).count == 2)
        let scan = try #require(armed.first { $0.user == 1001 })
        reader.report(.noMatch, of: scan.scan)
        #expect(try next(second) == .scanned(1, .noMatch))
        Sockets.shutDown(first)
        #expect(try reader.awaitDisarmed() == armed.first { $0.user == 1000 }?.scan)
    }

    /// The thread of the message bus sends to all users.
    @Test func aProcessThatReadsNothingIsDisconnected() throws {
        let still = try connect(1000)
        for _ in 0..<20_000 where try !still.wait(for: 0, until: 0) {
            sessions.report(SessionEvent(user: 1000, session: "", .changed)) {}
        }
        #expect(try still.wait(for: 0, until: 0), "the connection has ended")
    }
}

/// A reader whose scans the test ends.
private final class CollectingReader: BiometricReader {
    struct Armed: Sendable {
        let scan: UInt64
        let user: UInt32
        let events: @Sendable (SensorEvent) -> Void
    }
    private let armed = Recorder<Armed>()
    private let changed: (near: Descriptor, far: Descriptor)?
    private let disarmed = ReplyBox<UInt64>()

    init() { changed = try? Sockets.pair() }

    func state(for user: UInt32) -> SensorState { .absent }
    func arm(_ evaluation: UInt64, user: UInt32, events: @escaping @Sendable (SensorEvent) -> Void) {
        armed.add(Armed(scan: evaluation, user: user, events: events))
        if let changed { _ = try? Sockets.send(changed.near, [1]) }
    }
    func disarm(_ evaluation: UInt64) { disarmed.put(evaluation) }
    func observe(_ changed: @escaping @Sendable () -> Void) {}

    func awaitArmed(_ count: Int) throws -> [Armed] {
        let changed = try #require(changed)
        for _ in 0..<count {
            try #require(try changed.far.wait(for: 1, until: Uptime.deadline(seconds: 20)))
            _ = try changed.far.read(atMost: 1)
        }
        return armed.all
    }

    func awaitDisarmed() throws -> UInt64 { try #require(disarmed.take(seconds: 20)) }

    func report(_ event: SensorEvent, of scan: UInt64) {
        armed.all.first { $0.scan == scan }?.events(event)
    }
}

/// Login sessions that the test changes.
private final class GivenSessions: SessionMonitor {
    private let observers = Recorder<@Sendable (SessionEvent, @escaping @Sendable () -> Void) -> Void>()

    func sessions(of user: UInt32) -> SessionState { SessionState(isLocked: false, biometry: .every) }
    func observeSession(_ report: @escaping @Sendable (SessionEvent, @escaping @Sendable () -> Void) -> Void) {
        observers.add(report)
    }

    func report(_ event: SessionEvent, _ done: @escaping @Sendable () -> Void) {
        for observer in observers.all { observer(event, done) }
    }
}
