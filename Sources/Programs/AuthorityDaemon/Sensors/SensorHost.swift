// SPDX-License-Identifier: Apache-2.0

import Glibc
package import LatchkeyModel
package import LatchkeySeams
package import LatchkeySystem
import LatchkeyWire
import Synchronization

/// The connection of a process that uses the sensors for one user: passes on what the sensor and the login sessions of the
/// user report, and decides nothing.
package final class SensorHost: Sendable {
    private struct State: Sendable {
        var lastChange: UInt64 = 0
        /// What must be called when a change of sessions has taken effect, by its number.
        var unapplied: [UInt64: @Sendable () -> Void] = [:]
        /// The scans that were begun and not ended: their numbers for the reader, by those of the connection.
        var scans: [UInt64: UInt64] = [:]
        var isLooking = false
        var isLookDue = false
        var isOver = false
    }

    /// Time in which the other end must make room for a message; the connection ends when it does not. Short, because
    /// the thread of the message bus waits: the buffer has room for many messages.
    private static let sendMilliseconds: Int64 = 10
    /// Maximum scans at a time: a user is shown one prompt.
    private static let scans = 8
    /// The connections share a reader, which identifies scans by these numbers.
    private static let lastScan = Atomic<UInt64>(0)

    private let socket: Descriptor
    private let user: UInt32
    private let state = Mutex(State())
    private let sending = Mutex<Void>(())

    /// - Parameters:
    ///   - socket: the connection, blocking.
    ///   - user: whose sensor and sessions are reported.
    package init(_ socket: Descriptor, user: UInt32) throws(SystemError) {
        self.socket = socket
        self.user = user
        try Sockets.limitSending(socket, milliseconds: Self.sendMilliseconds)
    }

    /// The log of this process, which the process at the other end writes.
    package var log: any EventLog { ChannelLog(self) }

    private final class ChannelLog: EventLog {
        private let host: SensorHost
        init(_ host: SensorHost) { self.host = host }
        func record(_ event: DaemonEvent, _ failure: Failure?) {
            if let line = SensorMessage.line(event, failure) { host.send(line) }
        }
    }

    /// Passes on the changes of a sensor and of sessions that no other connection uses.
    package func observe(_ reader: any BiometricReader, _ sessions: any SessionMonitor) {
        reader.observe { [weak self] in self?.sensorChanged(reader) }
        sessions.observeSession { [weak self] event, done in
            guard let self else { return done() }
            sessionsChanged(event, sessions, done)
        }
    }

    /// Serves until the connection ends or a message cannot be decoded. Blocks. Changes are passed on meanwhile, which the
    /// caller reports.
    package func serve(_ reader: any BiometricReader, _ sessions: any SessionMonitor) {
        Processes.detachThread { [self] in
            // Waits for the first answer of logind. A change that was reported meanwhile is newer.
            let first = sessions.sessions(of: user)
            notify(.changed, onlyFirst: true, { first }) {}
        }
        // A frame that cannot be read or decoded has no sender that could be answered.
        while let payload = try? Frame.receive(from: socket, until: nil, limit: SensorMessage.bytes),
            let message = try? SensorMessage(decoding: payload), received(message, reader)
        {}
        Sockets.shutDown(socket)
        let (unapplied, scans) = state.withLock { state in
            defer { (state.unapplied, state.scans, state.isOver) = ([:], [:], true) }
            return (state.unapplied, state.scans)
        }
        for (_, done) in unapplied { done() }
        for scan in scans.values { reader.disarm(scan) }
    }

    /// Handles a message; false if `latchkeyd` does not send such a one.
    private func received(_ message: SensorMessage, _ reader: any BiometricReader) -> Bool {
        switch message {
        case .look(let number):
            send(.received(number))
            look(reader)
        case .arm(let number):
            send(.received(number))
            let scan = Self.lastScan.add(1, ordering: .relaxed).newValue
            let isNew = state.withLock { state in
                guard state.scans.count < Self.scans, state.scans[number] == nil else { return false }
                state.scans[number] = scan
                return true
            }
            guard isNew else { return false }
            reader.arm(scan, user: user) { [weak self] event in self?.scanned(number, event) }
        case .disarm(let number):
            // A scan that has ended by itself is not disarmed.
            if let scan = state.withLock({ $0.scans.removeValue(forKey: number) }) { reader.disarm(scan) }
        case .applied(let number): state.withLock { $0.unapplied.removeValue(forKey: number) }?()
        case .received, .sensor, .scanned, .sessions, .log: return false
        }
        return true
    }

    // MARK: - The sensor

    package func sensorChanged(_ reader: any BiometricReader) { look(reader) }

    private func scanned(_ number: UInt64, _ event: SensorEvent) {
        let isOver = event == .failed || event == .disconnected
        let isWanted = state.withLock { state in
            isOver ? state.scans.removeValue(forKey: number) != nil : state.scans[number] != nil
        }
        if isWanted { send(.scanned(number, event)) }
    }

    /// Determines the state of the sensor and reports it. One thread at a time does it, so that the last message has the latest
    /// state, and it is none that others wait for, because fprintd may take seconds.
    private func look(_ reader: any BiometricReader) {
        let starts = state.withLock { state in
            defer { (state.isLooking, state.isLookDue) = (true, true) }
            return !state.isLooking
        }
        guard starts else { return }
        Processes.detachThread { [self] in
            while state.withLock({ state in
                defer { (state.isLooking, state.isLookDue) = (state.isLookDue, false) }
                return state.isLookDue
            }) {
                send(.sensor(reader.state(for: user)))
            }
        }
    }

    // MARK: - Sessions

    /// The login sessions of a user, or of all users, have changed; `done` is called when the other end has applied it.
    package func sessionsChanged(
        _ event: SessionEvent, _ sessions: any SessionMonitor, _ done: @escaping @Sendable () -> Void
    ) {
        guard event.user == nil || event.user == user else { return done() }
        let change: SensorMessage.SessionChange
        switch event.change {
        case .locked: change = .locked
        case .ended: change = .ended
        case .changed, .unlocked: change = .changed
        case .background: return done()
        }
        notify(change, { sessions.sessions(of: self.user) }, done)
    }

    /// Reports a change. The state is read with the lock held, so that the last message has the latest one.
    ///
    /// - Parameter onlyFirst: whether to report nothing if a change was reported before.
    private func notify(
        _ change: SensorMessage.SessionChange, onlyFirst: Bool = false, _ sessions: () -> SessionState,
        _ done: @escaping @Sendable () -> Void
    ) {
        sending.withLock { _ in
            let number = state.withLock { state -> UInt64? in
                guard !state.isOver, !onlyFirst || state.lastChange == 0 else { return nil }
                state.lastChange += 1
                state.unapplied[state.lastChange] = done
                return state.lastChange
            }
            if let number { write(.sessions(number, change, sessions())) } else { done() }
        }
    }

    // MARK: - Sending

    private func send(_ message: SensorMessage) { sending.withLock { _ in write(message) } }

    private func write(_ message: SensorMessage) {
        do throws(FrameError) {
            try Frame.send(message.encoded(), to: socket)
        } catch {
            // The other end has ended, or does not read: `serve` returns.
            Sockets.shutDown(socket)
        }
    }
}
