// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeySystem

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
    }

    var phase = Phase.none
    /// Nil unless a process runs.
    private(set) var running: Running?
    var waiting: [Waiting] = []
    /// Since when the process has not taken a connection that waits; nil if it takes them.
    var stuckSince: Int64?
    /// When processes of this user failed, within the time that counts.
    var failures: [Int64] = []
    /// Until when no process is started, after too many failures.
    var pausedUntil: Int64 = 0
    /// When the connections that were accepted so far would have come at the rate that a user may have; in the future if
    /// they came faster.
    private var busyUntil: Int64 = 0

    /// A process and the ends of its sockets.
    struct Running {
        let process: ChildProcess
        let control: MessageSocket
        let connections: [MessageSocket]
        /// Connections that were passed on.
        var sent: UInt64 = 0

        /// Asks the process to end.
        func end() { for socket in connections { socket.shutDown() } }

        /// Ends it at once, whatever it does.
        func destroy() { process.signal(SIGKILL) }
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

    mutating func ended() {
        running = nil
        phase = waiting.isEmpty ? .none : .wanted
        stuckSince = nil
    }

    /// Passes waiting connections on, in their order; false if the process has to take earlier ones first.
    mutating func passOn(_ now: Int64) throws(SystemError) -> Bool {
        while let next = waiting.first {
            let message = HandedMessage(kind: WorkerMessage.connection.rawValue, descriptor: next.descriptor)
            guard let running, try running.connections[next.listener].send(message) else {
                stuckSince = stuckSince ?? now
                return false
            }
            stuckSince = nil
            waiting.removeFirst()
            self.running?.sent += 1
        }
        return true
    }

    /// Counts a failure of the process.
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
