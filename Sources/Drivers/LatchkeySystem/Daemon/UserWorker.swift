// SPDX-License-Identifier: Apache-2.0

import Glibc

/// What the accepting process knows of one user: the process that serves the user, and the connections that wait for it.
struct UserWorker {
    /// A connection that no process has taken so far.
    struct Waiting {
        let listener: Int
        let descriptor: Descriptor
        /// When it is refused (`Uptime`, nanoseconds).
        let deadline: Int64
    }

    enum Phase {
        /// No process runs, and none is wanted.
        case none
        /// A process must be started when there is room for it.
        case wanted
        /// The process has not reported that it is ready.
        case starting(deadline: Int64)
        case serving
        /// The process ends because it is idle. The next one is started when it has ended, since both would use the same
        /// files.
        case leaving(deadline: Int64)
        /// The process was killed and has not ended, because a system call holds it. Nothing waits for that.
        case destroyed
    }

    var phase = Phase.none
    /// Whether the service has a folder of the user.
    let isKnown: Bool
    /// Nil unless a process runs.
    private(set) var running: Running?
    /// Whether the process ends because it is idle, also if it has to be killed for that.
    private(set) var isLeaving = false
    var waiting: [Waiting] = []
    /// Since when the process has not taken a connection that waits; nil if it takes them.
    private var stuckSince: Int64?
    /// When processes of this user failed, within the time that counts.
    private var failures: [Int64] = []
    /// Until when no process is started, after too many failures.
    private(set) var pausedUntil: Int64 = 0
    /// When the connections that were accepted so far would have come at the rate that a user may have; in the future if
    /// they came faster.
    private var busyUntil: Int64 = 0

    /// A process and the ends of its sockets.
    struct Running {
        let process: ChildProcess
        let control: MessageSocket
        let connections: [MessageSocket]
        var sent: UInt64 = 0

        func end() { for socket in connections { socket.shutDown() } }
    }

    init(isKnown: Bool) { self.isKnown = isKnown }

    /// Whether no process has served this user so far, and the service has no folder of the user.
    var isNewcomer: Bool {
        guard !isKnown else { return false }
        if case .serving = phase { return false }
        return true
    }

    /// Counts a connection; false if the user makes too many.
    mutating func mayConnect(at now: Int64, _ limits: AcceptorLimits) -> Bool {
        let each = 1_000_000_000 / limits.rateOfUser
        busyUntil = max(busyUntil, now)
        guard busyUntil - now < limits.burstOfUser * each else { return false }
        busyUntil += each
        return true
    }

    mutating func begin(_ process: Running, deadline: Int64) {
        running = process
        phase = .starting(deadline: deadline)
        stuckSince = nil
    }

    /// Asks the process to end, because it is idle.
    mutating func leave(until deadline: Int64) {
        phase = .leaving(deadline: deadline)
        isLeaving = true
        running?.end()
    }

    mutating func ended() {
        running = nil
        isLeaving = false
        phase = waiting.isEmpty ? .none : .wanted
        stuckSince = nil
    }

    /// Passes waiting connections on, in their order, and gives this process's own copies to `passed`; false if the process has to
    /// take earlier ones first.
    mutating func passOn(_ now: Int64, passed: (Descriptor) -> Void) throws(SystemError) -> Bool {
        while let next = waiting.first {
            let message = HandedMessage(kind: WorkerMessage.connection.rawValue, descriptor: next.descriptor)
            guard let running, try running.connections[next.listener].send(message) else {
                stuckSince = stuckSince ?? now
                return false
            }
            stuckSince = nil
            passed(waiting.removeFirst().descriptor)
            self.running?.sent += 1
        }
        stuckSince = nil
        return true
    }

    mutating func destroy() {
        running?.process.signal(SIGKILL)
        phase = .destroyed
        stuckSince = nil
    }

    /// The next time at which something of this user is too late; nil if nothing is awaited.
    func deadline(_ limits: AcceptorLimits) -> Int64? {
        let phaseDeadline: Int64? =
            switch phase {
            case .starting(let deadline), .leaving(let deadline): deadline
            case .none, .wanted, .serving, .destroyed: nil
            }
        let stuckDeadline = stuckSince.map { $0 + limits.stuckSeconds * 1_000_000_000 }
        return [waiting.first?.deadline, phaseDeadline, stuckDeadline].compactMap(\.self).min()
    }

    /// Kills a process that is too late.
    ///
    /// - Returns: whether that is a failure, and not the end of a process that was idle.
    mutating func destroyIfLate(at now: Int64, _ limits: AcceptorLimits) -> Bool {
        switch phase {
        case .leaving(let deadline) where deadline <= now:
            destroy()
            return false
        case .starting(let deadline) where deadline <= now: break
        default:
            guard let stuckSince, now - stuckSince >= limits.stuckSeconds * 1_000_000_000 else { return false }
        }
        destroy()
        return true
    }

    /// Removes and returns the connections that have waited too long.
    mutating func takeLate(at now: Int64) -> [Waiting] {
        let late = waiting.prefix { $0.deadline <= now }
        waiting.removeFirst(late.count)
        return Array(late)
    }

    mutating func failed(at now: Int64, _ limits: AcceptorLimits) {
        failures = failures.filter { now - $0 < limits.failureSeconds * 1_000_000_000 } + [now]
        if failures.count >= limits.failures { pausedUntil = now + limits.failureSeconds * 1_000_000_000 }
    }

    /// Whether nothing of this user has to be remembered.
    func isForgotten(at now: Int64, _ limits: AcceptorLimits) -> Bool {
        guard running == nil, waiting.isEmpty, now >= pausedUntil, now >= busyUntil else { return false }
        return failures.allSatisfy { now - $0 >= limits.failureSeconds * 1_000_000_000 }
    }
}

/// The program that a service starts for each user: the service's own, with other arguments.
package struct WorkerProgram: Sendable {
    private let path: String
    private let arguments: [String]
    private let name: String

    /// - Parameter arguments: of the process that accepts connections; the options of the other processes are added.
    package init(_ arguments: [String]) {
        // The file itself, also after a package has replaced the one at its path: all processes have one version.
        path = "/proc/self/exe"
        self.arguments = arguments
        name = Environment.executable ?? path
    }

    /// A program that stands in for it.
    init(testOnlyPath path: String, _ arguments: [String]) {
        self.path = path
        self.arguments = arguments
        name = path
    }

    /// Starts a process with `descriptors` from number 3 on. It inherits standard error and the environment, which the service
    /// manager has chosen, and nothing else. Does not wait until it runs.
    func start(_ more: [String], _ descriptors: [Descriptor]) throws(SystemError) -> ChildProcess {
        let errors = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3)
        guard errors >= 0 else { throw SystemError("fcntl") }
        return try ChildProcess.start(
            path, arguments + more, name: name, environment: nil,
            descriptors: [nil, nil, Descriptor(owning: errors)] + descriptors, until: nil)
    }
}
