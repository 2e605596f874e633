// SPDX-License-Identifier: Apache-2.0

package import CLatchkeyLinux
import Glibc
import Synchronization

/// A child of this process, named by a pidfd from its start until it has been reaped.
///
/// The number of a process is free again as soon as it was reaped, and another user can have a process of that number a
/// moment later. So services signal and reap through the pidfd alone, which never names another process
/// (pidfd_open(2)). No call waits without a deadline, since a process in an uninterruptible system call survives SIGKILL:
/// such a child is reaped later, by a thread that waits for its end.
package final class ChildProcess: Sendable {
    /// How a process ended.
    package enum End: Equatable, Sendable {
        case exited(CInt)
        case signalled(CInt)
    }

    /// Seconds in which a started program must run.
    package static let secondsToStart: Int64 = 2
    /// Seconds in which a process ends after SIGKILL, unless a system call holds it.
    private static let secondsToDie: Int64 = 2

    /// Its number, for records and as the parent of other processes. It is valid until the process has been reaped.
    package let processID: pid_t
    /// The pidfd, which is readable when the process has ended.
    package let handle: Descriptor
    private let result = Mutex<End?>(nil)

    /// Takes a child that has not been reaped.
    private init(_ processID: pid_t, _ handle: Descriptor) {
        self.processID = processID
        self.handle = handle
    }

    deinit {
        // Otherwise it would remain as a zombie for as long as this process runs.
        if result.withLock({ $0 }) == nil { Self.reapLater(handle) }
    }

    // MARK: - Start

    /// Starts a program in a session of its own, with no signal blocked and the default signal actions.
    ///
    /// - Parameters:
    ///   - name: the first argument, under which the program knows itself; nil for its path.
    ///   - environment: entries `NAME=value`; the whole environment of the program. Nil passes on that of this process, byte
    ///     for byte.
    ///   - descriptors: become descriptors 0, 1, 2, … of the program, at most 8; nil is replaced by /dev/null. It inherits
    ///     nothing else.
    ///   - user: as which the program runs; nil as this process does.
    ///   - deadline: when the program must run, on the clock of `Uptime`, in nanoseconds; nil does not wait for that, and the
    ///     process exits with status 127 if the program cannot be executed.
    /// - Throws: `SystemError` if the program cannot be executed; with ETIMEDOUT if it does not run in time.
    package static func start(
        _ path: String, _ arguments: [String], name: String? = nil, environment: [String]?, descriptors: [Descriptor?],
        as user: UserIdentity? = nil, until deadline: Int64? = Uptime.deadline(seconds: secondsToStart)
    ) throws(SystemError) -> ChildProcess {
        let (child, report) = try fork(
            path, [name ?? path] + arguments, environment, descriptors, terminal: nil, as: user)
        guard let deadline else { return child }
        var failure = latchkey_report()
        do throws(SystemError) {
            // The stream ends when the program is executed.
            guard try receive(&failure, from: report, until: deadline) == nil, failure.code == 0 else {
                throw SystemError("execve", code: failure.code == 0 ? EBADMSG : failure.code)
            }
        } catch {
            child.end(within: 0)
            throw error
        }
        return child
    }

    /// Starts a program as a user, on the terminal with that device number, which must belong to the user.
    ///
    /// The child becomes the user, without supplementary groups and without a way back, before it opens the terminal, so
    /// that the rights of this process never apply to the terminal's path. This process makes no system call on the
    /// terminal that can block. Requires CAP_SETUID and CAP_SETGID if `user` is not the user of this process. The program
    /// has a session of its own, the terminal as descriptors 0 and 1, /dev/null as 2 and `channel` as 3; it inherits
    /// nothing else.
    ///
    /// - Returns: the process, which may fail to execute the program, and the terminal as the child opened it.
    /// - Throws: `SystemError`; with EACCES if the terminal is not the user's, with ETIMEDOUT if the child does not open it
    ///   in time, as one that its user stops.
    package static func start(
        _ path: String, _ arguments: [String], environment: [String], onTerminal device: UInt64,
        as user: UserIdentity, channel: Descriptor, until deadline: Int64 = Uptime.deadline(seconds: secondsToStart)
    ) throws(SystemError) -> (process: ChildProcess, terminal: OpenedTerminal) {
        guard let terminalPath = Terminal.path(of: device) else { throw SystemError("open", code: EACCES) }
        let (child, report) = try fork(
            path, [path] + arguments, environment, [nil, nil, nil, channel], terminal: (terminalPath, device), as: user)
        var opened = latchkey_report()
        do throws(SystemError) {
            guard let descriptor = try receive(&opened, from: report, until: deadline) else {
                throw SystemError("open", code: opened.code == 0 ? EACCES : opened.code)
            }
            // Compared again: the child belongs to the user since it has become the user.
            guard Terminal.isDevice(try descriptor.status(), device, ownedBy: user.userID) else {
                throw SystemError("open", code: EACCES)
            }
            return (child, OpenedTerminal(descriptor: descriptor, modes: opened.modes))
        } catch {
            child.end(within: 0)
            throw error
        }
    }

    /// Runs a body while a child has every descriptor of this process too; the child exits afterwards. So a descriptor of which
    /// `body` releases the last reference here is closed by the exit of a process. That never waits, as close(2) can for what
    /// a socket has not sent (SO_LINGER, socket(7)).
    ///
    /// - Returns: the child, which has to be reaped.
    /// - Throws: `SystemError` without having run `body`.
    package static func closing(_ body: () -> Void) throws(SystemError) -> ChildProcess {
        reapOthers()
        var ends: [CInt] = [-1, -1]
        guard pipe2(&ends, O_CLOEXEC) == 0 else { throw SystemError("pipe2") }
        let reading = Descriptor(owning: ends[0])
        var writing: Descriptor? = Descriptor(owning: ends[1])
        let number = latchkey_start_holder(reading.number, writing?.number ?? -1)
        guard number > 0 else { throw SystemError("fork") }
        let handle = latchkey_pidfd_open(number)
        let failure = SystemError("pidfd_open")
        if handle >= 0 { body() }
        // It exits when the pipe ends.
        _ = writing.take()
        guard handle >= 0 else {
            Processes.wait(number)
            throw failure
        }
        return ChildProcess(number, Descriptor(owning: handle))
    }

    /// Starts the child, which may do its part only after this process has its pidfd.
    private static func fork(
        _ path: String, _ arguments: [String], _ environment: [String]?, _ descriptors: [Descriptor?],
        terminal: (path: String, device: UInt64)?, as user: UserIdentity?
    ) throws(SystemError) -> (ChildProcess, report: Descriptor) {
        reapOthers()
        let (near, far) = try Sockets.pair()
        let numbers = descriptors.map { $0?.number ?? -1 }
        let isOther = user.map { $0.userID != geteuid() } ?? false
        let inherited: UnsafePointer<UnsafeMutablePointer<CChar>?>? = environment == nil ? .init(Glibc.environ) : nil
        let (number, code) = Processes.withCStrings(arguments) { arguments in
            Processes.withCStrings(environment ?? []) { entries in
                // The terminal's path is the second of these; an empty one stands for none.
                Processes.withCStrings([path, terminal?.path ?? ""]) { paths in
                    numbers.withUnsafeBufferPointer { numbers in
                        var start = latchkey_start(
                            path: paths[0], arguments: arguments, environment: inherited ?? entries,
                            descriptors: numbers.baseAddress, count: CInt(numbers.count),
                            terminal: terminal == nil ? nil : UnsafePointer(paths[1]),
                            device: dev_t(terminal?.device ?? 0), becomes_user: isOther ? 1 : 0,
                            user: user?.userID ?? geteuid(), group: user?.groupID ?? getegid(), report: far.number,
                            parent: near.number)
                        let number = latchkey_start_child(&start)
                        return (number, errno)
                    }
                }
            }
        }
        withExtendedLifetime((descriptors, far)) {}
        guard number > 0 else { throw SystemError("fork", code: code) }
        let handle = latchkey_pidfd_open(number)
        let failure = SystemError("pidfd_open")
        guard handle >= 0 else {
            // It gets no permission, so it ends by itself.
            Sockets.shutDown(near)
            Processes.wait(number)
            throw failure
        }
        let child = ChildProcess(number, Descriptor(owning: handle))
        // If SIGCHLD is ignored, the kernel reaps children, and the pidfd could be one of another process.
        guard child.isChild, try Sockets.send(near, [1]) == 1 else { throw SystemError("fork", code: ECHILD) }
        return (child, near)
    }

    /// Receives the report of a child: a descriptor, nil at the end of the stream or with the code of a failed step.
    private static func receive(
        _ report: inout latchkey_report, from socket: Descriptor, until deadline: Int64
    ) throws(SystemError) -> Descriptor? {
        guard try socket.wait(for: POLLIN, until: deadline) else { throw SystemError("execve", code: ETIMEDOUT) }
        var descriptor: CInt = -1
        let outcome = latchkey_receive_report(socket.number, &report, &descriptor)
        let received = descriptor >= 0 ? Descriptor(owning: descriptor) : nil
        guard outcome >= 0 else { throw SystemError("recvmsg", code: EBADMSG) }
        return received
    }

    // MARK: - End

    /// Sends a signal; without effect once the process has been reaped.
    package func signal(_ number: CInt) {
        // It fails for a process that has ended.
        _ = latchkey_pidfd_signal(handle.number, number)
    }

    /// Waits until the process has ended, and reaps it.
    ///
    /// - Parameter deadline: on the clock of `Uptime`, in nanoseconds.
    /// - Returns: nil when it still runs at the deadline.
    package func wait(until deadline: Int64) -> End? {
        // A pidfd becomes readable when its process has ended. Without memory for poll(2) it counts as running, and the
        // caller kills it.
        _ = try? handle.wait(for: POLLIN, until: deadline)
        return result.withLock { result in
            if result == nil { result = Self.reap(handle) }
            return result
        }
    }

    /// Waits until the process has ended, kills it with SIGKILL after `seconds`, and reaps it.
    ///
    /// - Returns: nil for a process that a system call holds: it is reaped later.
    @discardableResult
    package func end(within seconds: Int64) -> End? { end(by: Uptime.deadline(seconds: seconds)) }

    /// The same with a deadline on the clock of `Uptime`, in nanoseconds.
    @discardableResult
    package func end(by deadline: Int64) -> End? {
        if let end = wait(until: deadline) { return end }
        signal(SIGKILL)
        return wait(until: Uptime.deadline(seconds: Self.secondsToDie))
    }

    /// Kills the process and everything below it, and reaps it. Processes that have changed their session are included if
    /// the child has adopted the orphans (`Processes.adoptOrphans`).
    @discardableResult
    package func endTree() -> End? {
        // While the child is not reaped, no other process has its number, so every process with it as parent is its own.
        // Their children become children of this one when they end, and are found in the next round.
        if result.withLock({ $0 }) == nil { Processes.killDescendants(of: processID) }
        return end(within: 0)
    }

    /// Whether the pidfd names a child of this process that has not been reaped.
    private var isChild: Bool {
        var (wasSignalled, value): (CInt, CInt) = (0, 0)
        return latchkey_reap(handle.number, 1, &wasSignalled, &value) >= 0
    }

    private static func reap(_ handle: Descriptor) -> End? {
        var (wasSignalled, value): (CInt, CInt) = (0, 0)
        switch latchkey_reap(handle.number, 0, &wasSignalled, &value) {
        case 0: return nil
        case 1: return wasSignalled == 0 ? .exited(value) : .signalled(value)
        // It is not a child any more, so it has ended; how is unknown, which is no success.
        default: return .exited(-1)
        }
    }

    // MARK: - Children that survived SIGKILL

    /// The pidfds of children that were not reaped.
    private static let unreaped = Mutex<[Descriptor]>([])

    /// Has a child reaped when it ends, by a thread that lives as long as there is one: a process that reaps all of its children
    /// in turn would wait behind a zombie for ever.
    private static func reapLater(_ handle: Descriptor) {
        let isFirst = unreaped.withLock { handles in
            handles.append(handle)
            return handles.count == 1
        }
        guard isFirst else { return }
        // Without a thread the next start of a child reaps it.
        _ = Processes.startThread {
            repeat {
                // One that is added meanwhile is seen after a second.
                let first = unreaped.withLock(\.first)
                // Without memory for poll(2) the loop tries again.
                _ = try? first?.wait(for: POLLIN, until: Uptime.deadline(seconds: 1))
                reapOthers()
            } while !unreaped.withLock(\.isEmpty)
        }
    }

    private static func reapOthers() { unreaped.withLock { $0.removeAll { reap($0) != nil } } }

    /// The number of children that were given up and have not been reaped, for tests.
    package static var unreapedCount: Int {
        reapOthers()
        return unreaped.withLock { $0.count }
    }
}

/// A terminal as the child of another user opened it, with the modes that it had.
package struct OpenedTerminal: Sendable {
    package let descriptor: Descriptor
    package let modes: termios
}

/// The user and the group as which a program runs.
package struct UserIdentity: Equatable, Sendable {
    package let userID: uid_t
    package let groupID: gid_t

    package init(userID: uid_t, groupID: gid_t) { (self.userID, self.groupID) = (userID, groupID) }
}
