// SPDX-License-Identifier: Apache-2.0

import CLatchkeyLinux
import Glibc
package import LatchkeyModel
import Synchronization

/// Accepts the connections of all users of a service, and hands each to a process of its user.
///
/// It reads nothing that a program sends, nothing of a program's process, and waits for no other process: whatever a
/// program does can only stop the process of its own user (docs/design/decisions/044-process-per-user.md). One thread
/// does everything; no function blocks but `run`.
package final class UserAcceptor: @unchecked Sendable {
    // Everything but `stopping` belongs to the thread in `run`.

    /// A listening socket of the service.
    package struct Listener: Sendable {
        /// Whose process gets a connection.
        package enum Route: Sendable {
            case user(UInt32)
            /// The connection is answered with a failure, and closed.
            case refuse(Failure)
            /// The connection is closed without an answer.
            case close
        }
        let socket: Descriptor
        let route: @Sendable (Descriptor) -> Route
        let payload: @Sendable (Failure) -> SecretBytes

        /// - Parameters:
        ///   - socket: non-blocking.
        ///   - route: decides by what the kernel reports of the connection; must not block.
        ///   - payload: the payload of the frame that tells a program why it is refused.
        package init(
            _ socket: Descriptor, route: @escaping @Sendable (Descriptor) -> Route,
            payload: @escaping @Sendable (Failure) -> SecretBytes
        ) {
            (self.socket, self.route, self.payload) = (socket, route, payload)
        }

        /// A socket on which every user is served by the process of that user, as the kernel reports it.
        package static func ofPrograms(
            _ socket: Descriptor, payload: @escaping @Sendable (Failure) -> SecretBytes
        ) -> Listener {
            Listener(
                socket,
                route: { connection in
                    // A peer without credentials is no program of this machine.
                    guard let peer = try? Sockets.peer(connection) else { return .close }
                    guard !UnmappedUser.includes(peer.userID) else {
                        return .refuse(
                            Failure(
                                .notPermitted,
                                "The user id \(peer.userID) stands for users that are unknown here, so it has no keychain.",
                                hint: "Run the program outside of its container or user namespace."))
                    }
                    return .user(peer.userID)
                }, payload: payload)
        }

        /// Answers with a failure. A new connection has room for it.
        fileprivate func refuse(_ connection: Descriptor, _ failure: Failure) {
            // A program that is gone needs no answer.
            _ = try? Frame.bytes(payload(failure)).withBytes { (bytes) throws(SystemError) in
                try Sockets.send(connection, bytes)
            }
        }

        /// Notifies the programs that wait at the socket of the service manager why the service does not start. A
        /// connection that stayed there would start the service again at once, and its program would wait for ever.
        package func refuseWaiting(_ failure: Failure) {
            let notStarted = Failure(
                .daemonUnavailable, "The service does not start: \(failure.message)", hint: failure.hint)
            // Bounded, so that a flood of connections does not keep the process from ending. An error ends the loop like an
            // empty queue: what is left starts the service again.
            for _ in 0..<AcceptorLimits.queue {
                guard let connection = try? Sockets.accept(socket) else { return }
                refuse(connection, notStarted)
                // Closed by the exit of this process, which follows (`ConnectionCloser`).
                _ = Unmanaged.passRetained(connection)
            }
        }
    }

    private enum Source {
        case listener(Int)
        case wakeup
        case control(UInt32)
        /// A socket for connections of a user's process, which takes further ones.
        case connections(UInt32)
        case process(UInt32)
        case sensors
    }

    private let listeners: [Listener]
    private let program: WorkerProgram
    private let isKnown: @Sendable (UInt32) -> Bool
    private let log: any EventLog
    private let limits: AcceptorLimits
    private let endsWhenIdle: Bool
    private let epoll: Descriptor
    private let wakeup: Descriptor
    private let stopping = Atomic(false)
    private var sources: [CInt: Source] = [:]
    private var users: [UInt32: UserWorker] = [:]
    /// Users whose process waits for its start, in the order of their first connection.
    private var wanted: [UInt32] = []
    /// Users without an account, and until when they are refused without a process.
    private var unknown: [UInt32: Int64] = [:]
    private var sensors: (process: ChildProcess, control: MessageSocket)?
    private var closer: ConnectionCloser
    private var acceptsAgain: Int64?
    /// When a process that could not be started is tried again.
    private var startsAgain: Int64?
    private var idleDeadline: Int64

    /// Prepares the service.
    ///
    /// - Parameters:
    ///   - program: starts the process of a user, with the options `--worker UID`, and that of the sensors, with `--sensors`.
    ///   - isKnown: whether the service has a folder of a user; must not block for long.
    ///   - refusesDescriptors: whether programs may be prevented from sending descriptors, where the kernel can do
    ///     that.
    ///   - endsWhenIdle: whether `run` returns when no user has a process, because the service manager starts the service
    ///     again with the next connection.
    package init(
        _ listeners: [Listener], _ program: WorkerProgram, log: any EventLog, endsWhenIdle: Bool,
        limits: AcceptorLimits = AcceptorLimits(), refusesDescriptors: Bool = true,
        isKnown: @escaping @Sendable (UInt32) -> Bool
    ) throws(SystemError) {
        self.listeners = listeners
        self.program = program
        self.isKnown = isKnown
        self.log = log
        var limits = limits
        // For each user: the process, its sockets, and the connections that may wait in any case.
        let ofUser = listeners.count + 2 + limits.waitingShare
        limits.users = min(limits.users, (Descriptor.raiseLimit(to: limits.descriptors) - limits.waiting - 64) / ofUser)
        self.limits = limits
        self.endsWhenIdle = endsWhenIdle
        closer = refusesDescriptors ? ConnectionCloser(refusing: listeners.map(\.socket)) : ConnectionCloser()
        let epoll = epoll_create1(CInt(EPOLL_CLOEXEC))
        guard epoll >= 0 else { throw SystemError("epoll_create1") }
        self.epoll = Descriptor(owning: epoll)
        let wakeup = eventfd(0, CInt(EFD_CLOEXEC | EFD_NONBLOCK))
        guard wakeup >= 0 else { throw SystemError("eventfd") }
        self.wakeup = Descriptor(owning: wakeup)
        // The first connection, for which the service manager started it, may be on its way.
        idleDeadline = Uptime.deadline(seconds: Limits.idleSeconds)
        watch(self.wakeup, .wakeup)
        for (index, listener) in listeners.enumerated() {
            // Before the first connection is accepted: what it has sent has a sender too.
            try Sockets.recordSenders(listener.socket)
            watch(listener.socket, .listener(index))
        }
    }

    /// Makes `run` end the processes of all users and return; may be called from any thread.
    package func stop() {
        stopping.store(true, ordering: .releasing)
        var one: UInt64 = 1
        _ = write(wakeup.number, &one, 8)
    }

    /// Serves until `stop`, or until the service is idle. Blocks the thread.
    package func run() throws(SystemError) {
        var events = [epoll_event](repeating: epoll_event(), count: 64)
        while !stopping.load(ordering: .acquiring) {
            let count = epoll_wait(epoll.number, &events, CInt(events.count), timeout())
            if count < 0, errno != EINTR { throw SystemError("epoll_wait") }
            for event in events.prefix(max(0, Int(count))) {
                let number = CInt(bitPattern: latchkey_epoll_data(event))
                switch sources[number] {
                case .listener(let index): try acceptAll(index)
                case .control(let user): received(user)
                case .connections(let user): passOn(user)
                case .process(let user): reap(user)
                case .sensors: endSensors()
                // The source of an earlier event in this turn may have ended.
                case .wakeup, nil: break
                }
            }
            checkDeadlines()
            startWanted()
            if endsWhenIdle, isIdle, Uptime.nanoseconds >= idleDeadline { break }
        }
        end()
    }

    private var isIdle: Bool { !users.values.contains { $0.running != nil || !$0.waiting.isEmpty } }

    // MARK: - Events

    private func watch(_ descriptor: Descriptor, _ source: Source, _ events: UInt32 = EPOLLIN.rawValue) {
        let isNew = sources.updateValue(source, forKey: descriptor.number) == nil
        _ = latchkey_epoll_control(
            epoll.number, isNew ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, descriptor.number, events,
            UInt32(bitPattern: descriptor.number))
    }

    private func ignore(_ descriptor: Descriptor) {
        guard sources.removeValue(forKey: descriptor.number) != nil else { return }
        _ = latchkey_epoll_control(epoll.number, EPOLL_CTL_DEL, descriptor.number, 0, 0)
    }

    private func timeout() -> CInt {
        var next = [acceptsAgain, startsAgain, closer.deadline].compactMap(\.self).min()
        func consider(_ time: Int64) { next = min(next ?? .max, time) }
        for user in users.values { if let deadline = user.deadline(limits) { consider(deadline) } }
        if endsWhenIdle, isIdle { consider(idleDeadline) }
        guard let next else { return -1 }
        return CInt(clamping: max(0, (next - Uptime.nanoseconds + 999_999) / 1_000_000))
    }

    private func checkDeadlines() {
        let now = Uptime.nanoseconds
        closer.proceed(at: now)
        if let time = startsAgain, time <= now { startsAgain = nil }
        if let time = acceptsAgain, time <= now {
            acceptsAgain = nil
            for (index, listener) in listeners.enumerated() { watch(listener.socket, .listener(index)) }
        }
        for (number, earlier) in users {
            var user = earlier
            if user.destroyIfLate(at: now, limits) { log.record(.failed, Self.silent(number)) }
            for late in user.takeLate(at: now) { refuse(late.descriptor, late.listener, Self.silent(number)) }
            users[number] = user.isForgotten(at: now, limits) ? nil : user
        }
        wanted.removeAll { users[$0] == nil }
    }

    private static func silent(_ user: UInt32) -> Failure {
        Failure(
            .daemonUnavailable, "The process that serves user \(user) does not answer.",
            hint: "Try again. If that does not help, see: systemctl status latchkeyd latchkey-authd")
    }

    private static func failing(_ user: UInt32) -> Failure {
        Failure(
            .daemonUnavailable, "The process that serves user \(user) has failed several times.",
            hint: "Try again later. See: journalctl -u latchkeyd -u latchkey-authd")
    }

    // MARK: - Connections

    /// Accepts what is pending. The number is bounded, so that a flood of connections leaves time for everything else.
    private func acceptAll(_ index: Int) throws(SystemError) {
        for _ in 0..<64 {
            guard !closer.isFull else { return pauseAccepting() }
            let connection: Descriptor?
            do throws(SystemError) {
                connection = try Sockets.accept(listeners[index].socket)
            } catch {
                // Out of descriptors or memory: the connection stays in the queue of the socket. Trying again at once would
                // only cost time.
                guard [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(error.code) else { throw error }
                return pauseAccepting()
            }
            guard let connection else { return }
            switch listeners[index].route(connection) {
            case .user(let user): arrived(connection, index, user)
            case .refuse(let failure): refuse(connection, index, failure)
            case .close: closer.close(connection, at: Uptime.nanoseconds)
            }
        }
    }

    private func pauseAccepting() {
        for (index, listener) in listeners.enumerated() { watch(listener.socket, .listener(index), 0) }
        acceptsAgain = Uptime.nanoseconds + Self.pause
    }

    /// Nanoseconds until something that failed for want of memory or descriptors is tried again.
    private static let pause: Int64 = 50_000_000

    private func refuse(_ connection: Descriptor, _ index: Int, _ failure: Failure) {
        listeners[index].refuse(connection, failure)
        closer.close(connection, at: Uptime.nanoseconds)
    }

    private func arrived(_ connection: Descriptor, _ index: Int, _ user: UInt32) {
        let now = Uptime.nanoseconds
        if let until = unknown[user] {
            if now < until { return refuse(connection, index, Self.noAccount(user)) }
            unknown[user] = nil
        }
        var worker = users[user] ?? UserWorker(isKnown: isKnown(user))
        if let refusal = refusal(of: user, &worker, now) { return refuse(connection, index, refusal) }
        worker.waiting.append(
            UserWorker.Waiting(
                listener: index, descriptor: connection, deadline: now + limits.waitSeconds * 1_000_000_000))
        if case .none = worker.phase {
            worker.phase = .wanted
            wanted.append(user)
        }
        users[user] = worker
        if case .serving = worker.phase { passOn(user) }
    }

    /// Why a connection of a user is refused; nil if it may wait.
    private func refusal(of user: UInt32, _ worker: inout UserWorker, _ now: Int64) -> Failure? {
        guard now >= worker.pausedUntil else { return Self.failing(user) }
        guard worker.mayConnect(at: now, limits) else {
            return Failure(
                .limitExceeded,
                "User \(user) makes more than \(limits.rateOfUser) connections to the service in a second.",
                hint: "One connection serves any number of requests.")
        }
        let (count, total) = (worker.waiting.count, users.values.reduce(0) { $0 + $1.waiting.count })
        guard count < limits.waitingShare || (count < limits.waitingOfUser && total < limits.waiting) else {
            return Failure(
                .limitExceeded, "\(count) connections of user \(user) wait for the service, and no more may wait.",
                hint: "Try again later.")
        }
        guard users[user] == nil else { return nil }
        // Somebody can have thousands of user numbers; none of them may take the place of a user who has a keychain.
        let isFull =
            users.count >= limits.users
            || (!worker.isKnown && users.values.count { $0.isNewcomer } >= limits.newcomers)
        guard !isFull else {
            return Failure(
                .limitExceeded, "The service serves as many users as it can now.", hint: "Try again later.")
        }
        return nil
    }

    private func passOn(_ user: UInt32) {
        guard var worker = users[user], let running = worker.running else { return }
        let now = Uptime.nanoseconds
        var next: Int?
        do throws(SystemError) {
            if try !worker.passOn(now, passed: { closer.close($0, at: now) }) { next = worker.waiting.first?.listener }
        } catch {
            // Either the process has ended, which its pidfd reports, and what waits is for the next one. Or this connection cannot
            // be passed on, and no later one may wait for it.
            if error.code != EPIPE, error.code != ECONNRESET {
                let first = worker.waiting.removeFirst()
                refuse(first.descriptor, first.listener, Self.silent(user))
                if !worker.waiting.isEmpty { next = worker.waiting.first?.listener }
            }
        }
        users[user] = worker
        // Watched only while something waits: a socket that is writable would be reported in every turn.
        for (index, socket) in running.connections.enumerated() {
            if index == next {
                watch(socket.descriptor, .connections(user), EPOLLOUT.rawValue)
            } else {
                ignore(socket.descriptor)
            }
        }
    }

    private static func noAccount(_ user: UInt32) -> Failure {
        Failure(
            .peerNotTrusted, "User \(user) has no account on this system.", hint: "See: getent passwd \(user)")
    }

    // MARK: - Processes

    /// Starts wanted processes while there is room for them. Users that the service knows come first.
    private func startWanted() {
        guard !wanted.isEmpty, startsAgain == nil else { return }
        let starting = users.values.filter { if case .starting = $0.phase { true } else { false } }
        var (total, newcomers) = (starting.count, starting.count { !$0.isKnown })
        for isForKnown in [true, false] {
            for user in wanted where users[user]?.isKnown == isForKnown {
                guard total < limits.starting, isForKnown || newcomers < limits.startingNewcomers else { break }
                wanted.removeAll { $0 == user }
                guard let worker = users[user], case .wanted = worker.phase else { continue }
                guard !worker.waiting.isEmpty else {
                    users[user]?.phase = .none
                    continue
                }
                start(user)
                total += 1
                if !isForKnown { newcomers += 1 }
            }
        }
    }

    private func start(_ user: UInt32) {
        do throws(SystemError) {
            let (near, far) = try MessageSocket.pair()
            var pairs: [(MessageSocket, MessageSocket)] = []
            for _ in listeners { pairs.append(try MessageSocket.pair()) }
            let started = try program.start(["--worker", String(user)], [far.descriptor] + pairs.map(\.1.descriptor))
            users[user]?.begin(
                UserWorker.Running(process: started, control: near, connections: pairs.map(\.0)),
                deadline: Uptime.deadline(seconds: limits.startSeconds))
            watch(near.descriptor, .control(user))
            watch(started.handle, .process(user))
        } catch {
            log.record(.failed, Failure(error, "The process of user \(user) cannot be started"))
            failed(user)
            startsAgain = Uptime.nanoseconds + Self.pause
        }
    }

    private func received(_ user: UInt32) {
        // Bounded, so that a process that sends without end leaves time for everything else.
        for _ in 0..<16 {
            guard let running = users[user]?.running else { return }
            do throws(SystemError) {
                switch try running.control.receive() {
                case .nothing: return
                // The pidfd reports the end of the process.
                case .end: return ignore(running.control.descriptor)
                case .message(let message): handle(message, user)
                }
            } catch {
                ignore(running.control.descriptor)
                users[user]?.destroy()
                return
            }
        }
    }

    private func handle(_ message: HandedMessage, _ user: UInt32) {
        guard let worker = users[user], let running = worker.running else { return }
        switch (WorkerMessage(rawValue: message.kind), worker.phase) {
        case (.ready?, .starting):
            users[user]?.phase = .serving
            passOn(user)
        case (.leave?, .serving):
            // It has not received every connection, so it is not idle.
            guard worker.waiting.isEmpty, message.number == running.sent else { return }
            users[user]?.leave(until: Uptime.deadline(seconds: limits.stopSeconds))
        case (.sensors?, _): connectSensors(user, running)
        default: break
        }
    }

    private func reap(_ user: UInt32) {
        guard let running = users[user]?.running, let end = running.process.wait(until: 0) else { return }
        for socket in running.connections { ignore(socket.descriptor) }
        ignore(running.control.descriptor)
        ignore(running.process.handle)
        let wasLeaving = users[user]?.isLeaving ?? false
        users[user]?.ended()
        idleDeadline = Uptime.deadline(seconds: limits.idleSeconds)
        switch end {
        case .exited(WorkerMessage.noAccount):
            if unknown.count >= limits.unknown { unknown = unknown.filter { $0.value > Uptime.nanoseconds } }
            if unknown.count >= limits.unknown { unknown = [:] }
            unknown[user] = Uptime.deadline(seconds: limits.unknownSeconds)
            refuseWaiting(user, Self.noAccount(user))
        case _ where wasLeaving, .exited(0): if case .wanted? = users[user]?.phase { wanted.append(user) }
        case .exited(let code):
            log.record(
                .failed,
                Failure(
                    .daemonUnavailable, "The process that serves user \(user) has failed with status \(code).",
                    hint: "Its earlier lines say more."))
            failed(user)
        case .signalled(let signal):
            log.record(
                .failed,
                Failure(
                    .daemonUnavailable, "The process that serves user \(user) was ended by signal \(signal).",
                    hint: "Its earlier lines say more."))
            failed(user)
        }
    }

    /// Counts a failure of a process; starts another one for what waits, unless there were too many.
    private func failed(_ user: UInt32) {
        let now = Uptime.nanoseconds
        users[user]?.failed(at: now, limits)
        if let worker = users[user], worker.pausedUntil > now {
            users[user]?.phase = .none
            return refuseWaiting(user, Self.failing(user))
        }
        guard let worker = users[user], !worker.waiting.isEmpty else { return }
        users[user]?.phase = .wanted
        wanted.append(user)
    }

    private func refuseWaiting(_ user: UInt32, _ failure: Failure) {
        for waiting in users[user]?.waiting ?? [] { refuse(waiting.descriptor, waiting.listener, failure) }
        users[user]?.waiting = []
        users[user]?.phase = .none
    }

    // MARK: - Sensors

    /// Connects the process of a user with that of the sensors, which is started if it does not run. A connection that
    /// cannot be made is asked for again.
    private func connectSensors(_ user: UInt32, _ running: UserWorker.Running) {
        do throws(SystemError) {
            let control: MessageSocket
            if let sensors { control = sensors.control } else { control = try startSensors() }
            let (near, far) = try Sockets.pair()
            let kind = WorkerMessage.sensors.rawValue
            guard try control.send(HandedMessage(kind: kind, number: UInt64(user), descriptor: far)) else { return }
            _ = try running.control.send(HandedMessage(kind: kind, descriptor: near))
        } catch {
            log.record(.sensorFailed, Failure(error, "The process of the sensors cannot be reached"))
        }
    }

    private func startSensors() throws(SystemError) -> MessageSocket {
        let (near, far) = try MessageSocket.pair()
        let started = try program.start(["--sensors"], [far.descriptor])
        sensors = (started, near)
        watch(started.handle, .sensors)
        return near
    }

    private func endSensors() {
        guard let ended = sensors, ended.process.wait(until: 0) != nil else { return }
        ignore(ended.process.handle)
        sensors = nil
        guard !stopping.load(ordering: .acquiring) else { return }
        log.record(
            .sensorFailed,
            Failure(
                .biometryNotAvailable, "The process of the sensors has ended.",
                hint: "It is started again. See: journalctl -u latchkey-authd"))
    }

    // MARK: - The end

    /// Ends the processes of all users. One that does not end in time is killed and not waited for: it may be one that no
    /// signal ends.
    private func end() {
        for listener in listeners { ignore(listener.socket) }
        for running in users.values.compactMap(\.running) { running.end() }
        sensors?.control.shutDown()
        var rest = users.values.compactMap(\.running?.process)
        if let sensors { rest.append(sensors.process) }
        for (seconds, kills) in [(limits.stopSeconds, true), (1, false)] {
            let deadline = Uptime.deadline(seconds: seconds)
            rest.removeAll { $0.wait(until: deadline) != nil }
            if kills { for process in rest { process.signal(SIGKILL) } }
        }
        for _ in rest { log.record(.failed, Failure(.internalFailure, "A process of a user does not end.")) }
        for waiting in users.values.flatMap(\.waiting) { closer.close(waiting.descriptor, at: 0) }
        users = [:]
        closer.closeAll(at: 0)
    }
}
