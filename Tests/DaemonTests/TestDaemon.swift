// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyClient
import LatchkeyModel
import LatchkeySystem
import LatchkeyWire
import TestSupport
import Testing

/// A temporary store with the real daemon, which its clients start and which is killed with this object.
final class TestDaemon: Sendable {
    let folder: String
    /// The folder of the built programs.
    static let programs = BuiltProducts.folder

    init(simulated: Bool = false) throws {
        var template = Array("/tmp/latchkey-test.XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw Failure(.diskFull, "no folder in /tmp") }
        folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        if simulated { try write("tier = simulated\n", to: "latchkeyd.conf") }
    }

    deinit {
        if let process = try? self.process { kill(process, SIGKILL) }
        // The folder's name was generated here and contains no special character of the shell.
        _ = try? run("/bin/rm", ["-rf", folder])
    }

    /// Writes a file in the store's folder.
    func write(_ text: String, to name: String) throws {
        try Files.replace(folder + "/" + name, with: SecretBytes(text.utf8))
    }

    /// The environment of programs that use this store, with the store's folder as home.
    var environment: [String] {
        [
            "LATCHKEY_HOME=\(folder)", "LATCHKEY_DAEMON=\(TestDaemon.programs)/latchkeyd", "HOME=\(folder)",
            "PATH=/usr/bin:/bin", "LATCHKEY_APP_ID=test", "SWIFT_BACKTRACE=enable=no",
        ]
    }

    /// Starts a daemon, as a client would, and waits until it listens.
    func start(_ arguments: [String] = [], environment more: [String] = []) throws {
        let process = try Processes.spawn(
            TestDaemon.programs + "/latchkeyd", ["--detach"] + arguments, environment: environment + more,
            descriptors: [nil, nil, nil])
        Processes.wait(process)
        _ = try connect()
    }

    /// Connects to the running daemon; waits until it listens, without starting one.
    func connect() throws -> Descriptor {
        let lock = try DaemonLock.open(folder)
        let watch = try FileWatch(folder + "/" + DaemonLock.fileName)
        let deadline = Uptime.deadline(seconds: 20)
        while Uptime.nanoseconds < deadline {
            if let address = DaemonLock.address(lock), let socket = try? Sockets.connect(address.socket) {
                return socket
            }
            _ = try watch.wait(until: deadline)
        }
        throw Failure(.daemonUnavailable, "the daemon did not start")
    }

    /// The daemon's process id, from its lock file.
    var process: pid_t? {
        get throws { try DaemonLock.address(DaemonLock.open(folder))?.processID }
    }

    /// CPU time that the daemon has used, in milliseconds.
    var computedMilliseconds: Int {
        get throws {
            var clock = clockid_t()
            guard let process = try process, clock_getcpuclockid(process, &clock) == 0 else {
                throw Failure(.daemonUnavailable, "the daemon is not running")
            }
            var time = timespec()
            clock_gettime(clock, &time)
            return time.tv_sec * 1000 + time.tv_nsec / 1_000_000
        }
    }

    /// Runs a program, by default one of the built ones, and waits for its end.
    func run(
        _ program: String, _ arguments: [String], input: String = "", environment more: [String] = []
    ) throws -> Finished {
        let path = program.hasPrefix("/") ? program : TestDaemon.programs + "/" + program
        return try Finished(path, arguments, input: input, environment: environment + more)
    }

    /// Runs a script of the shell, which finds the built programs by their names. Their folder is no part of the script:
    /// a checkout can be in a folder whose name the shell would interpret.
    ///
    /// - Parameter shell: the command that takes the script.
    func script(
        _ script: String, input: String = "", environment more: [String] = [], shell: [String] = ["/bin/sh", "-c"]
    ) throws -> Finished {
        let path = ["PATH=\(TestDaemon.programs):/usr/bin:/bin"]
        return try Finished(
            shell[0], shell.dropFirst() + [script], input: input,
            environment: path + environment.filter { !$0.hasPrefix("PATH=") } + more)
    }
}

extension Descriptor {
    /// Sends everything to a socket; throws when the peer has closed it, without raising SIGPIPE.
    fileprivate func send(all memory: UnsafeRawBufferPointer) throws(SystemError) {
        var rest = memory
        while !rest.isEmpty {
            let count = try Sockets.send(self, rest) ?? 0
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        }
    }
}

/// The result of a program that has ended.
struct Finished {
    var exitCode: CInt
    var output: String
    var errors: String

    init(_ path: String, _ arguments: [String], input: String, environment: [String]) throws {
        let (process, inNear, outNear, errNear) = try Finished.start(path, arguments, environment)
        // A program may end without reading its input; tests check how it ended.
        SecretBytes(input.utf8).withBytes { bytes in try? inNear.send(all: bytes) }
        shutdown(inNear.number, CInt(SHUT_WR))
        let collected = Finished.collect([outNear, errNear])
        let status = Processes.wait(process)
        exitCode = status & 0x7f == 0 ? (status >> 8) & 0xff : -(status & 0x7f)
        output = String(decoding: collected[0], as: UTF8.self)
        errors = String(decoding: collected[1], as: UTF8.self)
    }

    /// Closes the child's ends of the sockets on return, so that the streams end with the child.
    private static func start(
        _ path: String, _ arguments: [String], _ environment: [String]
    ) throws -> (pid_t, Descriptor, Descriptor, Descriptor) {
        let (inNear, inFar) = try Sockets.pair()
        let (outNear, outFar) = try Sockets.pair()
        let (errNear, errFar) = try Sockets.pair()
        let process = try Processes.spawn(
            path, arguments, environment: environment, descriptors: [inFar, outFar, errFar])
        return (process, inNear, outNear, errNear)
    }

    private static func collect(_ streams: [Descriptor]) -> [[UInt8]] {
        var texts = streams.map { _ in [UInt8]() }
        var open = Set(streams.indices)
        var buffer = [UInt8](repeating: 0, count: 4096)
        while !open.isEmpty {
            var entries = streams.indices.map { index in
                pollfd(fd: open.contains(index) ? streams[index].number : -1, events: Int16(POLLIN), revents: 0)
            }
            let ready = poll(&entries, UInt(entries.count), 60_000)
            if ready < 0, errno == EINTR { continue }
            guard ready > 0 else { break }
            for index in streams.indices where entries[index].revents != 0 {
                let count = read(streams[index].number, &buffer, buffer.count)
                if count > 0 { texts[index] += buffer[..<count] } else { open.remove(index) }
            }
        }
        return texts
    }
}

/// A connection whose frames are sent and read by a test.
struct RawClient {
    let socket: Descriptor

    /// Connects and sends the hello request, unless `hello` is nil.
    init(_ daemon: TestDaemon, hello: Request.Hello? = Request.Hello(application: "")) throws {
        socket = try daemon.connect()
        // If the daemon has closed the connection, the next call reports it.
        if let hello { try? send(.hello(hello), id: Self.helloID) }
    }

    private static let helloID = UInt64.max

    func send(_ request: Request, id: UInt64) throws {
        try Frame.send(Message.request(id: id, request).encoded(), to: socket)
    }

    func send(bytes: [UInt8]) throws {
        try SecretBytes(bytes).withBytes { (bytes) throws(SystemError) in try socket.send(all: bytes) }
    }

    /// The next reply; nil when the daemon has ended the connection.
    func receive(seconds: Int64 = 20) throws -> (id: UInt64, reply: Reply)? {
        let answer = try next(seconds)
        guard let answer, answer.id == Self.helloID, case .welcome = answer.reply else { return answer }
        return try next(seconds)
    }

    private func next(_ seconds: Int64) throws -> (id: UInt64, reply: Reply)? {
        do throws(FrameError) {
            let payload = try Frame.receive(from: socket, until: Uptime.deadline(seconds: seconds))
            guard case .reply(let id, let reply)? = try? Message(decoding: payload) else {
                throw FrameError.closed
            }
            return (id, reply)
        } catch FrameError.closed {
            return nil
        }
    }

    func call(_ request: Request, id: UInt64 = 1) throws -> Reply? {
        try send(request, id: id)
        return try receive()?.reply
    }
}

extension Request {
    /// Adds an item with this account name, by default without an access control.
    static func adding(
        _ account: String, secret: [UInt8] = [1, 2, 3], rule: AccessControl = AccessControl()
    ) -> Request {
        .addItem(AddItem(attributes: [.account: .text(account)], accessControl: rule, secret: SecretBytes(secret)))
    }

    /// Reads the item with this account name.
    static func reading(_ account: String, returns: Returns = .data) -> Request {
        .copyItems(CopyItems(.password(account), returns: returns))
    }

    /// Reads every password.
    static var readingAll: Request {
        .copyItems(CopyItems(limit: .all))
    }
}
