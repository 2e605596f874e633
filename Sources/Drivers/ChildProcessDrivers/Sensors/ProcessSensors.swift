// SPDX-License-Identifier: Apache-2.0

import Glibc
package import LatchkeyModel
package import LatchkeySeams
import LatchkeySystem
import LatchkeyWire
import Synchronization

/// The fingerprint reader and the login sessions of one user, through a process that speaks to fprintd and logind: one of
/// the user (docs/design/decisions/033-sensors-of-tier-user.md), or that of the service
/// (docs/design/decisions/044-process-per-user.md).
///
/// While no process answers, there is no sensor, and the sessions count as locked. A process that ended is started again, with
/// back-off.
package final class ProcessSensors: BiometricReader, SessionMonitor {
    /// The limits of waiting, in seconds.
    package struct Timing: Sendable {
        /// Until the process confirms that it has received a request.
        package var receipt: Int64 = 5
        /// For the first state of sensor or sessions, during which the caller waits.
        package var state: Int64 = 4
        /// Between the end of a process and the start of the next; doubled each time.
        package var retry: Int64 = 1
        package var longestRetry: Int64 = 64

        package init() {}
    }

    /// Maximum changes of sessions that have not taken effect, and maximum lines for the log from one process.
    static let unapplied = 64
    static let logLines = 256

    let user: UInt32
    /// Whether the process can read the files of fprintd, so that what it says of enrolment sets counts.
    let isTrusted: Bool
    let timing: Timing
    let clock: any Clock
    let log: any EventLog
    private let program: any SensorProgram
    let state: Mutex<SensorsState>

    /// Starts the first process.
    ///
    /// - Parameters:
    ///   - user: whose sensor and sessions the process reports.
    ///   - isTrusted: whether the process is one of root, and not of the user.
    package init(
        _ program: any SensorProgram, user: UInt32, isTrusted: Bool = false, timing: Timing = Timing(),
        clock: any Clock, log: any EventLog
    ) {
        self.program = program
        self.user = user
        self.isTrusted = isTrusted
        self.timing = timing
        self.clock = clock
        self.log = log
        state = Mutex(SensorsState(pause: timing.retry))
        start()
    }

    /// Ends the process, and starts no other.
    package func stop() {
        let link = state.withLock { state in
            state.isStopped = true
            state.retry?.cancel()
            return state.link
        }
        link?.shutDown()
    }

    /// Asks the process for the state of the sensor again: a reader may have been plugged in unnoticed while fprintd did not
    /// run. A process that does not answer is ended.
    package func look() {
        let (link, number) = state.withLock { ($0.link, $0.next()) }
        if let link { ask(.look(number), number, link) }
    }

    // MARK: - BiometricReader

    package func state(for user: UInt32) -> SensorState {
        guard user == self.user else { return .absent }
        let answer = ReplyBox<SensorState>()
        let known = state.withLock { state -> SensorState? in
            if state.link == nil { return .absent }
            if state.sensor == nil { state.awaitingSensor.append(answer) }
            return state.sensor
        }
        return known ?? answer.take(seconds: timing.state) ?? .absent
    }

    package func arm(_ evaluation: UInt64, user: UInt32, events: @escaping @Sendable (SensorEvent) -> Void) {
        let begun = state.withLock { state -> (link: Link, number: UInt64)? in
            guard user == self.user, let link = state.link,
                !state.scans.values.contains(where: { $0.evaluation == evaluation })
            else { return nil }
            let number = state.next()
            state.scans[number] = SensorsState.Scan(evaluation: evaluation, events: events)
            return (link, number)
        }
        guard let begun else {
            // Not from within this function, as the role demands.
            return Processes.detachThread { events(.failed) }
        }
        ask(.arm(begun.number), begun.number, begun.link)
    }

    package func disarm(_ evaluation: UInt64) {
        let (link, number) = state.withLock { state in
            let number = state.scans.first { $0.value.evaluation == evaluation }?.key
            if let number { state.scans[number] = nil }
            return (state.link, number)
        }
        if let link, let number { link.send(.disarm(number)) }
    }

    package func observe(_ changed: @escaping @Sendable () -> Void) { state.withLock { $0.observers.append(changed) } }

    // MARK: - SessionMonitor

    package func sessions(of user: UInt32) -> SessionState {
        // Fail closed: a session may be locked without a process that says so.
        let unknown = SessionState(isLocked: true, biometry: .only([]))
        guard user == self.user else { return unknown }
        let answer = ReplyBox<SessionState>()
        let known = state.withLock { state -> SessionState? in
            if state.isUnusable { return .absent }
            if state.link == nil { return unknown }
            if state.sessions == nil { state.awaitingSessions.append(answer) }
            return state.sessions
        }
        return known ?? answer.take(seconds: timing.state) ?? unknown
    }

    package func observeSession(
        _ report: @escaping @Sendable (SessionEvent, @escaping @Sendable () -> Void) -> Void
    ) { state.withLock { $0.reports.append(report) } }

    // MARK: - The process

    private var name: String { isTrusted ? "The process of the sensors" : "latchkey-authd --user" }

    private func start() {
        let process: SensorProcess
        do throws(SystemError) {
            process = try program.start()
            try Sockets.limitSending(process.socket, seconds: timing.receipt)
        } catch {
            log.record(.sensorFailed, Failure(error, "\(name) cannot be started"))
            return startLater(after: 0)
        }
        let link = Link(process, startedAt: clock.uptime)
        state.withLock { $0.link = link }
        Processes.detachThread { [self] in
            look()
            receive(from: link)
        }
    }

    /// Sends a request; the process is ended if it does not confirm it.
    private func ask(_ request: SensorMessage, _ number: UInt64, _ link: Link) {
        let alarm = clock.alarm(after: timing.receipt) { [weak self] in self?.expired(number, link) }
        state.withLock { $0.unconfirmed[number] = alarm }
        link.send(request)
    }

    private func expired(_ number: UInt64, _ link: Link) {
        guard state.withLock({ $0.link === link && $0.unconfirmed[number] != nil }) else { return }
        link.shutDown()
    }

    /// Receives messages until the connection ends, on a thread of its own.
    private func receive(from link: Link) {
        var reason = "has ended"
        do throws(FrameError) {
            while true {
                let payload = try Frame.receive(from: link.socket, until: nil, limit: SensorMessage.bytes)
                // One that cannot be decoded is treated like one that the process does not send.
                guard let message = try? SensorMessage(decoding: payload), received(message, link) else {
                    reason = "sent a message that cannot be decoded, or that it may not send"
                    break
                }
            }
        } catch {
            switch error {
            case .closed, .system, .timedOut, .otherSender: break
            case .version, .tooLong: reason = "sent a frame of another version, or one that is too long"
            }
        }
        ended(link, reason)
    }

    private func ended(_ link: Link, _ reason: String) {
        link.shutDown()
        let code = link.process.end()
        let (scans, isStopped) = state.withLock { state in (state.lose(link, exitCode: code), state.isStopped) }
        guard !isStopped else { return }
        log.record(
            .sensorFailed,
            Failure(
                .biometryNotAvailable, "\(name) \(reason): there is no fingerprint reader now.",
                hint: "Its earlier lines say more; see: latchkey daemon-log"))
        // The lock first.
        report(.changed) {}
        for scan in scans { scan.events(.failed) }
        notifyObservers()
        if !state.withLock({ $0.isUnusable }) { startLater(after: clock.uptime - link.startedAt) }
    }

    private func startLater(after lifetime: Int64) {
        let seconds = state.withLock { state in
            if lifetime >= timing.longestRetry * 1_000_000_000 { state.pause = timing.retry }
            defer { state.pause = min(2 * state.pause, timing.longestRetry) }
            return state.pause
        }
        let alarm = clock.alarm(after: seconds) { [weak self] in
            guard let self, !state.withLock({ $0.isStopped }) else { return }
            start()
        }
        state.withLock { $0.retry = alarm }
    }

    func notifyObservers() { for changed in state.withLock({ $0.observers }) { changed() } }

    func report(_ change: SessionEvent.Change, _ done: @escaping @Sendable () -> Void) {
        let reports = state.withLock { $0.reports }
        guard !reports.isEmpty else { return done() }
        for report in reports { report(SessionEvent(user: user, session: "", change), done) }
    }
}
