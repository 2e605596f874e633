// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams

/// Updates `LoginSessions` by logind's signals.
///
/// A missed lock would leave keys in memory, so a signal alone is not enough. The monitor reads all sessions at its
/// start and again after the bus or logind was lost. Until then locks remain and biometry is refused, and requests that
/// arrive meanwhile are applied afterwards.
///
/// Any program can send such signals on the bus. Only those of the connection that owns logind's name are applied, and
/// that owner must be the trusted user. What the sessions mean for a user is the task of `LoginSessions`.
///
/// Used on the bus's thread only.
final class LogindMonitor {
    private let bus: SystemBus
    private let name: BusNameOwner
    private let timing: LogindSessions.Timing
    private let log: any EventLog
    private var sessions = LoginSessions()
    private lazy var delay = SleepDelay(name, timing, log: log)
    private var knowledge = LogindSessions.Knowledge.none
    private var isLoading = false
    /// Requests to lock and unlock sessions that came before logind or the session was known: no property has them later.
    private var early: [BusSignal] = []
    private var hasDisplaced = false
    private static let mostEarly = 256
    private static let pathBytes = 255
    private var hasLoggedForgery = false
    /// The time until the next attempt after the connection to the bus was lost.
    private var pause: Int64
    /// Called when what is known has changed: the sessions, whether they can be known, and the event for users.
    var changed: (LoginSessions, LogindSessions.Knowledge, SessionEvent?) -> Void = { _, _, _ in }
    /// Called before sleep; its argument must be called when the machine may sleep.
    var willSleep: (LoginSessions, @escaping @Sendable () -> Void) -> Void = { _, done in done() }

    init(_ bus: SystemBus, _ timing: LogindSessions.Timing, trustedUser: UInt32, log: any EventLog) {
        self.bus = bus
        self.timing = timing
        self.log = log
        pause = timing.retry
        name = BusNameOwner(LogindName.service, on: bus, trustedUser: trustedUser, call: timing.call, start: nil)
    }

    /// Begins to receive logind's signals, and reads all sessions.
    func start() {
        name.changed = { [weak self] isRunning in self?.ownerChanged(isRunning) }
        name.refused = { [weak self] refusal in self?.refused(refusal) }
        name.start()
        for member in ["SessionNew", "SessionRemoved", "PrepareForSleep"] {
            observe("interface='\(LogindName.manager)',path='\(LogindName.managerPath)'", member)
        }
        let path = "path_namespace='\(LogindName.sessions)'"
        for member in ["Lock", "Unlock"] { observe("interface='\(LogindName.session)',\(path)", member) }
        observe("interface='\(LogindName.properties)',\(path)", "PropertiesChanged")
        load()
    }

    private func observe(_ rule: String, _ member: String) {
        // The rule is the bus's filter; `received` checks the sender again, since a program can send a signal to this
        // connection alone.
        bus.observe("type='signal',sender='\(LogindName.service)',\(rule),member='\(member)'") { [weak self] signal in
            self?.received(signal)
        }
    }

    // MARK: - The owner of the name

    private func ownerChanged(_ isRunning: Bool) {
        hasLoggedForgery = false
        delay.forget()
        if knowledge == .known {
            // Until logind owns its name again, no signal reports that a session became inactive.
            sessions.doubt()
            publish(.outdated)
        }
        // Without the connection to the bus no signal announces logind.
        if isRunning { load() } else { retry() }
    }

    private func refused(_ refusal: BusNameOwner.Refusal) {
        switch refusal {
        // No error: this machine has no login sessions, and no lock of them.
        case .notRunning, .notInstalled, .unknown(.disconnected), .userUnknown(.disconnected): break
        case .changed: break
        case .untrusted(let user):
            log.record(
                .sessionsRefused,
                Failure(
                    .peerNotTrusted,
                    "The name \(LogindName.service) on the system's message bus belongs to "
                        + (user.map { "user \($0)" } ?? "an unknown user") + ", not to root: keychains stay locked.",
                    hint: "See: busctl status \(LogindName.service)"))
        case .startFailed(let error), .unknown(let error), .userUnknown(let error): log(error)
        }
    }

    private func log(_ error: BusError) {
        // Once until it is known again: the attempts go on.
        guard knowledge != .unknown else { return }
        log.record(
            .sessionsUnknown,
            Failure(
                .daemonUnavailable, "logind cannot be asked for login sessions (\(error.description)).",
                hint: "See: systemctl status systemd-logind"))
    }

    /// Tries again later, with back-off: after the connection was lost, and while logind does not answer.
    private func retry() {
        bus.after(milliseconds: pause) { [weak self] in
            self?.load()
        }
        pause = min(2 * pause, timing.longestRetry)
    }

    // MARK: - All sessions

    /// Reads all sessions, unless they are known or being read.
    func load() {
        guard knowledge != .known, !isLoading else { return }
        isLoading = true
        name.resolve { [self] result in
            switch result {
            case .success(let owner): readSleep(owner)
            case .failure(let refusal):
                isLoading = false
                switch refusal {
                // Its start will be announced.
                case .notRunning, .notInstalled: publish(knowledge == .outdated ? .outdated : .absent)
                case .unknown(.disconnected), .userUnknown(.disconnected):
                    // A machine that never had a bus has no sessions; a lost connection is tried again.
                    if knowledge == .outdated { retry() } else { publish(.absent) }
                case .changed: retry()
                case .startFailed, .unknown, .userUnknown:
                    publish(.unknown)
                    retry()
                // Another owner of the name will be announced.
                case .untrusted: publish(.unknown)
                }
            }
        }
    }

    /// Whether the machine is about to sleep: after a restart of logind its end may not be announced.
    private func readSleep(_ owner: String) {
        let property: [BusValue] = [.string(LogindName.manager), .string("PreparingForSleep")]
        call(owner, LogindName.managerPath, LogindName.properties, "Get", property) { [self] result in
            switch result {
            case .failure(let error): failed(error)
            case .success(let values):
                guard let isSleeping = values.first?.content?.flag else { return failed(.malformed) }
                sessions.isSleeping = isSleeping
                list(owner)
            }
        }
    }

    private func list(_ owner: String) {
        call(owner, LogindName.managerPath, LogindName.manager, "ListSessions") { [self] result in
            switch result {
            case .failure(let error): failed(error)
            case .success(let values):
                var listed: [(path: String, session: LoginSession)] = []
                for entry in values.first?.values ?? [] {
                    guard let fields = entry.values, fields.count == 5, let id = fields[0].text,
                        let user = fields[1].number.flatMap({ UInt32(exactly: $0) }), let path = fields[4].text
                    else { return failed(.malformed) }
                    listed.append((path, LoginSession(id: id, user: user)))
                }
                let present = Set(listed.map(\.path))
                for path in sessions.paths.subtracting(present) { report(sessions.remove(path)) }
                describe(listed[...], owner)
            }
        }
    }

    private func describe(_ listed: ArraySlice<(path: String, session: LoginSession)>, _ owner: String) {
        guard let (path, session) = listed.first else { return complete(owner) }
        describe(session, at: path, owner) { [self] error in
            if let error { failed(error) } else { describe(listed.dropFirst(), owner) }
        }
    }

    /// Reads the properties of a session. One that has ended meanwhile is no error.
    private func describe(
        _ session: LoginSession, at path: String, _ owner: String, _ done: @escaping (BusError?) -> Void
    ) {
        call(owner, path, LogindName.properties, "GetAll", [.string(LogindName.session)]) { [self] result in
            switch result {
            case .failure(.refused): done(nil)
            case .failure(let error): done(error)
            case .success(let values):
                // A lock that was requested is no property, and remains.
                var session = sessions[path].flatMap { $0.id == session.id ? $0 : nil } ?? session
                session.take(values.first)
                report(sessions.put(session, at: path))
                done(nil)
            }
        }
    }

    private func complete(_ owner: String) {
        isLoading = false
        // It may have ended meanwhile: the bus then answers calls to it as it does for a session that has ended.
        guard name.owner == owner else { return retry() }
        pause = timing.retry
        // Before the sessions count as known: a lock that was requested precedes it.
        applyEarly()
        publish(.known)
        delay.take()
    }

    private func failed(_ error: BusError) {
        isLoading = false
        // The owner changed, or the connection was lost, while it was asked; then `ownerChanged` has begun anew.
        guard name.owner != nil else { return retry() }
        log(error)
        publish(.unknown)
        retry()
    }

    private func call(
        _ owner: String, _ path: String, _ interface: String, _ member: String, _ arguments: [BusValue] = [],
        _ done: @escaping (Result<[BusValue], BusError>) -> Void
    ) {
        bus.call(BusCall(owner, path, interface, member, arguments), milliseconds: timing.call, done)
    }

    // MARK: - Changes

    /// Publishes what is known now, which concerns every user.
    private func publish(_ knowledge: LogindSessions.Knowledge) {
        self.knowledge = knowledge
        changed(sessions, knowledge, SessionEvent(user: nil, session: "", .changed))
    }

    /// Publishes a change of one session; while the sessions are read, nothing else becomes known by it.
    private func report(_ event: SessionEvent?) { changed(sessions, knowledge, event) }

    /// Stores a request until its sender and its session are known, the latest of a sender for a session. Any program
    /// can send such signals to this connection.
    private func store(_ signal: BusSignal) {
        guard signal.member == "Lock" || signal.member == "Unlock", signal.arguments.isEmpty,
            signal.path.utf8.count <= Self.pathBytes
        else { return }
        early.removeAll { $0.sender == signal.sender && $0.path == signal.path }
        if early.count >= Self.mostEarly {
            // Of the program that has sent most of them, so that it does not displace those of logind.
            let most = Dictionary(grouping: early, by: \.sender).max { $0.value.count < $1.value.count }?.key
            if let index = early.firstIndex(where: { $0.sender == most }) { early.remove(at: index) }
            hasDisplaced = true
        }
        early.append(signal)
    }

    /// Applies the requests that logind has sent for sessions that are known now.
    private func applyEarly() {
        guard let owner = name.owner else { return }
        early.removeAll { $0.sender != owner }
        let due = early.filter { sessions[$0.path] != nil }
        early.removeAll { sessions[$0.path] != nil }
        for signal in due { received(signal) }
        guard hasDisplaced else { return }
        // A request of logind may be among those that were displaced.
        hasDisplaced = false
        for path in sessions.paths { update(path) { $0.isLockRequested = true } }
    }

    private func received(_ signal: BusSignal) {
        guard let owner = name.owner, signal.sender == owner else {
            // Before the owner is known nothing is believed; the sessions are read afterwards.
            guard name.owner != nil else { return store(signal) }
            guard !hasLoggedForgery else { return }
            hasLoggedForgery = true
            return log.record(
                .sessionsRefused,
                Failure(
                    .peerNotTrusted,
                    "A signal \(signal.member) of the connection \(signal.sender) on the system's message bus is "
                        + "ignored: it is not logind.",
                    hint: "See: busctl status \(signal.sender)"))
        }
        switch (signal.member, signal.arguments.count) {
        case ("SessionNew", 2):
            guard let id = signal.arguments[0].text, let path = signal.arguments[1].text else { return }
            describe(path, id, owner)
        case ("SessionRemoved", 2):
            guard let path = signal.arguments[1].text else { return }
            report(sessions.remove(path))
        case ("PrepareForSleep", 1):
            guard let isBefore = signal.arguments[0].flag else { return }
            if isBefore { sleep() } else { wake() }
        case ("Lock", 0), ("Unlock", 0):
            guard sessions[signal.path] != nil else { return store(signal) }
            // It is later than what was stored.
            early.removeAll { $0.path == signal.path }
            update(signal.path) { $0.isLockRequested = signal.member == "Lock" }
        case ("PropertiesChanged", 3):
            guard signal.arguments[0].text == LogindName.session else { return }
            update(signal.path) { $0.take(signal.arguments[1]) }
            let invalid = signal.arguments[2].values?.compactMap(\.text) ?? []
            guard !LoginSession.announced.isDisjoint(with: invalid), let session = sessions[signal.path] else { return }
            describe(signal.path, session.id, owner)
        default: break
        }
    }

    /// Reads a session whose user is not known yet, or whose properties have changed.
    private func describe(_ path: String, _ id: String, _ owner: String) {
        call(owner, path, LogindName.properties, "GetAll", [.string(LogindName.session)]) { [self] result in
            guard case .success(let values) = result, name.owner == owner else { return }
            guard let user = Self.user(in: values.first) else { return log(.malformed) }
            var session = sessions[path].flatMap { $0.id == id ? $0 : nil } ?? LoginSession(id: id, user: user)
            session.take(values.first)
            report(sessions.put(session, at: path))
            applyEarly()
        }
    }

    /// The user of a session: the first value of the structure `User`.
    private static func user(in properties: BusValue?) -> UInt32? {
        for entry in properties?.values ?? [] {
            guard let pair = entry.values, pair.count == 2, pair[0].text == "User" else { continue }
            return pair[1].content?.values?.first?.number.flatMap { UInt32(exactly: $0) }
        }
        return nil
    }

    private func update(_ path: String, _ body: (inout LoginSession) -> Void) {
        guard var session = sessions[path] else { return }
        body(&session)
        report(sessions.put(session, at: path))
    }

    // MARK: - Sleep

    private func sleep() {
        sessions.isSleeping = true
        let delay = delay
        let bus = bus
        let release = Confined { delay.release() }
        willSleep(sessions) { bus.run { release.value() } }
    }

    private func wake() {
        sessions.isSleeping = false
        publish(knowledge)
        delay.take()
    }
}
