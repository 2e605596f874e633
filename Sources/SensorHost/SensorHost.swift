// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
package import LatchkeySeams
package import LatchkeySystem
import LatchkeyTransport
import SensorProtocol
import Synchronization

/// The connection of `latchkeyd` as `latchkey-authd --user` sees it: passes on what the sensor and the login sessions of one
/// user report, and decides nothing.
package final class SensorHost: Sendable {
    private struct State: Sendable {
        var lastChange: UInt64 = 0
        /// What must be called when a change of sessions has taken effect, by its number.
        var unapplied: [UInt64: @Sendable () -> Void] = [:]
        /// The scans that were begun and not ended.
        var scans: Set<UInt64> = []
        var isLooking = false
        var isLookDue = false
    }

    /// Seconds in which `latchkeyd` must read a message; the process ends when it does not.
    private static let sendSeconds: Int64 = 10
    /// Maximum scans at a time: `latchkeyd` shows one prompt.
    private static let scans = 8

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
        try Sockets.limitSending(socket, seconds: Self.sendSeconds)
    }

    /// The log of this process: `latchkeyd` writes it.
    package var log: any EventLog { ChannelLog(self) }

    private final class ChannelLog: EventLog {
        private let host: SensorHost
        init(_ host: SensorHost) { self.host = host }
        func note(_ event: DaemonEvent, _ failure: Failure?) {
            if let line = SensorMessage.line(event, failure) { host.send(line) }
        }
    }

    /// Serves until the connection ends or a message cannot be decoded. Scans are not ended: the caller ends the process,
    /// and with it its connection to the message bus.
    package func serve(_ reader: any BiometricReader, _ sessions: any SessionMonitor) {
        reader.observe { [weak self] in self?.look(reader) }
        sessions.observeSession { [weak self] event, done in
            guard let self else { return done() }
            follow(event, sessions, done)
        }
        Processes.detachThread { [self] in
            // Waits for the first answer of logind. A change that was told meanwhile is newer.
            let first = sessions.sessions(of: user)
            tell(.changed, onlyFirst: true, { first }) {}
        }
        // A frame that cannot be read or decoded has no sender that could be answered.
        while let payload = try? Frame.receive(from: socket, until: nil, limit: SensorMessage.bytes),
            let message = try? SensorMessage(decoding: payload), received(message, reader)
        {}
        Sockets.shutDown(socket)
        let unapplied = state.withLock { state in
            defer { state.unapplied = [:] }
            return state.unapplied
        }
        for (_, done) in unapplied { done() }
    }

    /// Handles a message; false if `latchkeyd` does not send such a one.
    private func received(_ message: SensorMessage, _ reader: any BiometricReader) -> Bool {
        switch message {
        case .look(let number):
            send(.received(number))
            look(reader)
        case .arm(let number):
            send(.received(number))
            guard state.withLock({ $0.scans.count < Self.scans && $0.scans.insert(number).inserted }) else {
                return false
            }
            reader.arm(number, user: user) { [weak self] event in self?.scanned(number, event) }
        case .disarm(let number):
            // A scan that has ended by itself is not disarmed.
            if state.withLock({ $0.scans.remove(number) }) != nil { reader.disarm(number) }
        case .applied(let number): state.withLock { $0.unapplied.removeValue(forKey: number) }?()
        case .received, .sensor, .scanned, .sessions, .note: return false
        }
        return true
    }

    // MARK: - The sensor

    private func scanned(_ number: UInt64, _ event: SensorEvent) {
        let isOver = event == .failed || event == .disconnected
        let isWanted = state.withLock { state in
            isOver ? state.scans.remove(number) != nil : state.scans.contains(number)
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

    private func follow(_ event: SessionEvent, _ sessions: any SessionMonitor, _ done: @escaping @Sendable () -> Void) {
        guard event.user == nil || event.user == user else { return done() }
        let change: SensorMessage.SessionChange
        switch event.change {
        case .locked: change = .locked
        case .ended: change = .ended
        case .changed, .unlocked: change = .changed
        case .background: return done()
        }
        tell(change, { sessions.sessions(of: self.user) }, done)
    }

    /// Reports a change. The state is read with the lock held, so that the last message has the latest one.
    ///
    /// - Parameter onlyFirst: whether to report nothing if a change was reported before.
    private func tell(
        _ change: SensorMessage.SessionChange, onlyFirst: Bool = false, _ sessions: () -> SessionState,
        _ done: @escaping @Sendable () -> Void
    ) {
        sending.withLock { _ in
            let number = state.withLock { state -> UInt64? in
                guard !onlyFirst || state.lastChange == 0 else { return nil }
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
            // latchkeyd has ended, or does not read: `serve` returns.
            Sockets.shutDown(socket)
        }
    }
}
