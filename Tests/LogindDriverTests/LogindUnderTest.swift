// SPDX-License-Identifier: Apache-2.0

import BusDrivers
import BusTestSupport
import Foundation
import LatchkeyModel
import LatchkeySeams
import LatchkeySystem
import Synchronization
import TestSupport
import Testing

/// A program of the test that owns logind's name on a private bus. It stands in for logind where a container has none of
/// what is tested: sleep, and a logind that is not trusted. `Tests/System/test_services_sessions.py` uses the real one.
final class LogindStandIn: Sendable {
    static let service = "org.freedesktop.login1"
    static let manager = "/org/freedesktop/login1"
    static func path(_ id: String) -> String { "\(manager)/session/_3\(id)" }

    struct Session: Sendable {
        var id: String
        var user: UInt32
        var active = true
        var remote = false
        var locked = false
        var kind = "user"
        var seat = "seat0"
        var state = "active"

        var properties: BusProgram.Value {
            .properties([
                ("Id", .string(id)), ("User", .structure([.number(user), .path("/org/freedesktop/login1/user/_1")])),
                ("Class", .string(kind)),
                ("Seat", .structure([.string(seat), .path("/org/freedesktop/login1/seat/a")])),
                ("State", .string(state)), ("Active", .flag(active)), ("Remote", .flag(remote)),
                ("LockedHint", .flag(locked)),
            ])
        }
        var listed: [BusProgram.Value] {
            [.string(id), .number(user), .string("name"), .string(seat), .path(LogindStandIn.path(id))]
        }
    }

    private struct State: Sendable {
        var sessions: [String: Session] = [:]
        var sleeps = false
        var replies: [String: BusProgram.Reply] = [:]
        /// The ends of the pipes given out as delays of sleep.
        var delays: [Descriptor] = []
    }
    private let state: Shared
    let program: BusProgram
    private final class Shared: Sendable {
        let value = Mutex(State())
        let called = DispatchSemaphore(value: 0)
    }

    init(_ bus: PrivateBus, _ sessions: [Session], replies: [String: BusProgram.Reply] = [:]) throws {
        let shared = Shared()
        shared.value.withLock { state in
            for session in sessions { state.sessions[session.id] = session }
            state.replies = replies
        }
        state = shared
        program = try BusProgram(bus, name: Self.service) { call in
            defer { shared.called.signal() }
            return shared.value.withLock { state in
                if let reply = state.replies[call.member] { return reply }
                switch call.member {
                case "ListSessions": return .values([.sessions(state.sessions.values.map(\.listed))])
                case "Get": return .values([.variant(.flag(state.sleeps))])
                case "GetAll":
                    let session = state.sessions.values.first { Self.path($0.id) == call.path }
                    return session.map { .values([$0.properties]) }
                        ?? .error("org.freedesktop.DBus.Error.UnknownObject")
                case "Inhibit":
                    guard let (near, far) = try? Sockets.pair() else { return .error("org.example.Failed") }
                    state.delays = [near, far]
                    return .values([.file(far)])
                default: return .error("org.freedesktop.DBus.Error.UnknownMethod")
                }
            }
        }
    }

    func end() { program.end() }

    /// Waits until a method was called that often.
    func wait(for member: String, times: Int = 1) throws {
        while program.received.count(where: { $0.member == member }) < times {
            try state.called.signalled()
        }
    }

    func change(_ body: @Sendable (inout [String: Session]) -> Void) { state.value.withLock { body(&$0.sessions) } }

    /// Answers a method from now on that had another reply.
    func answer(_ member: String) { state.value.withLock { $0.replies[member] = nil } }

    /// Whether the delay of sleep is still held, when the copy of this program is closed.
    func closesDelay() throws -> Descriptor {
        while true {
            let held = state.value.withLock { state in state.delays.count == 2 ? state.delays.removeFirst() : nil }
            if let held { return held }
            // The call was received, and is not answered so far.
            try state.called.signalled()
        }
    }

    func dropOwnDelay() { state.value.withLock { $0.delays = [] } }

    // MARK: - Signals

    func manager(_ member: String, _ values: [BusProgram.Value]) {
        program.signal(Self.manager, "org.freedesktop.login1.Manager", member, values)
    }

    func session(_ id: String, _ member: String) {
        program.signal(Self.path(id), "org.freedesktop.login1.Session", member, [])
    }

    func properties(_ id: String, _ changed: [(String, BusProgram.Value)], invalid: [String] = []) {
        program.signal(
            Self.path(id), "org.freedesktop.DBus.Properties", "PropertiesChanged",
            [.string("org.freedesktop.login1.Session"), .properties(changed), .strings(invalid)])
    }
}

/// The driver of a test and what it has reported.
final class SessionsUnderTest: Sendable {
    static let user = UInt32(geteuid())
    let bus: SystemBus
    let sessions: LogindSessions
    let log = CollectedLog()
    private let events = Recorder<SessionEvent>()
    /// The calls that let the machine sleep.
    let finish = Recorder<@Sendable () -> Void>()

    init(
        _ private: PrivateBus, trustedUser: UInt32 = user, timing: LogindSessions.Timing = LogindSessions.Timing()
    ) throws {
        bus = try SystemBus(address: `private`.address)
        // The sessions are read when their changes are observed.
        let isObserved = DispatchSemaphore(value: 0)
        bus.run { isObserved.wait() }
        defer { isObserved.signal() }
        sessions = LogindSessions(bus, trustedUser: trustedUser, timing: timing, log: log)
        sessions.observeSession { [weak self] event, done in
            guard let self else { return done() }
            finish.add(done)
            events.add(event)
        }
    }

    deinit { bus.end() }

    func state(_ user: UInt32 = 1001) -> SessionState { sessions.sessions(of: user) }

    /// Waits until an event with that change was reported, and removes it and those before it.
    @discardableResult
    func next(_ change: SessionEvent.Change, sourceLocation: SourceLocation = #_sourceLocation) throws -> SessionEvent {
        try events.next(sourceLocation: sourceLocation) { $0.change == change }
    }

    /// A semaphore that is signalled when a connection has left the bus.
    func departure(of name: String) throws -> DispatchSemaphore {
        let (gone, isObserved) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        bus.run { [bus] in
            bus.observe(
                "type='signal',sender='org.freedesktop.DBus',member='NameOwnerChanged',arg0='\(name)'"
            ) { _ in gone.signal() }
            // Its answer follows the one to the rule.
            bus.call(
                BusCall("org.freedesktop.DBus", "/", "org.freedesktop.DBus", "GetId"), milliseconds: 10_000
            ) { _ in isObserved.signal() }
        }
        try isObserved.signalled()
        return gone
    }
}
