// SPDX-License-Identifier: Apache-2.0

import CLatchkeyLinux
import Glibc
import LatchkeyModel
import LatchkeySeams
import Synchronization
import TestPromises
import TestSupport
import Testing

@testable import LatchkeySystem

/// The accepting process with programs in place of the users' processes. The name of a connection says whose it is, so that
/// one user of the machine stands for several.
@Suite(.timeLimit(.minutes(2)))
struct UserAcceptorTests {
    @Test(.promise("users.separate")) func connectionsAreHandedToTheProcessOfTheirUser() throws {
        let service = try AcceptedService("serve")
        defer { service.stop() }
        #expect(try service.ask(1) == "1")
        #expect(try service.ask(2) == "2")
        #expect(try service.ask(1) == "1")
        #expect(try service.processes() == 2)
    }

    @Test(.promise("users.separate"), arguments: ["stuck", "silent"])
    func aProcessThatTakesNothingCostsItsOwnUserAlone(kind: String) throws {
        let service = try AcceptedService(kind, for: 1)
        defer { service.stop() }
        // The kernel holds a few, the accepting process further ones, and the rest is refused.
        let waiting = try (0..<60).map { _ in try service.connect(1) }
        let begin = Uptime.nanoseconds
        #expect(try service.ask(2) == "2")
        #expect(Uptime.nanoseconds - begin < 2_000_000_000)
        #expect(try service.refusal(of: waiting[59]) == .limitExceeded)
    }

    @Test func connectionsThatNobodyTakesAreRefusedAtTheirDeadline() throws {
        var limits = AcceptorLimits()
        limits.waitSeconds = 1
        let service = try AcceptedService("silent", for: 1, limits: limits)
        defer { service.stop() }
        #expect(try service.refusal(of: service.connect(1)) == .daemonUnavailable)
    }

    @Test func aProcessThatIsNotReadyInTimeIsKilledAndStartedAgain() throws {
        var limits = AcceptorLimits()
        limits.startSeconds = 1
        limits.failures = 2
        let service = try AcceptedService("silent", for: 1, limits: limits)
        defer { service.stop() }
        // After the second one the user is refused for some time, and the other one is not.
        #expect(try service.refusal(of: service.connect(1)) == .daemonUnavailable)
        #expect(try service.refusal(of: service.connect(1)) == .daemonUnavailable)
        #expect(try service.ask(2) == "2")
    }

    @Test func aProcessThatDiesIsReplacedAndOnlyAFewTimes() throws {
        let service = try AcceptedService("die", for: 1)
        defer { service.stop() }
        var last: Status?
        for _ in 0..<12 where last != .daemonUnavailable { last = try service.outcome(of: service.connect(1)) }
        #expect(last == .daemonUnavailable)
        #expect(try service.ask(2) == "2")
    }

    @Test(.promise("users.share")) func aUserWithoutAccountIsRefusedWithoutAnotherProcess() throws {
        let service = try AcceptedService("unknown", for: 1)
        defer { service.stop() }
        for _ in 0..<5 { #expect(try service.refusal(of: service.connect(1)) == .peerNotTrusted) }
        #expect(try service.processes() == 1)
    }

    @Test func aConnectionThatComesWhileAProcessLeavesIsServedByTheNextOne() throws {
        let service = try AcceptedService("leave")
        defer { service.stop() }
        for _ in 0..<20 { #expect(try service.ask(1) == "1") }
    }

    @Test(.promise("users.share")) func startsOfUnknownUsersDoNotHoldUpAKnownOne() throws {
        let service = try AcceptedService("silent", for: 100..<140, isKnown: { $0 < 100 })
        defer { service.stop() }
        let waiting = try (100..<140).map { try service.connect(UInt32($0)) }
        #expect(try service.ask(2) == "2")
        // Two of them are being started, and the others wait for that.
        try service.awaitProcesses(3)
        #expect(try service.processes() == 3)
        withExtendedLifetime(waiting) {}
    }

    @Test(.promise("users.places")) func theSeventeenthUserHasItsPlacesWhateverSixteenDo() throws {
        var limits = AcceptorLimits()
        limits.waiting = 64
        let service = try AcceptedService("stuck", for: 1..<18, limits: limits)
        defer { service.stop() }
        let held = try (1..<17).flatMap { user in try (0..<20).map { _ in try service.connect(user) } }
        #expect(try service.ask(18) == "18")
        // The kernel holds a few more.
        let own = try (0..<limits.waitingShare).map { _ in try service.connect(17) }
        #expect(try service.ask(18) == "18")
        #expect(try own.allSatisfy { try !$0.wait(for: POLLIN, until: 0) }, "none is refused")
        withExtendedLifetime(held) {}
    }

    @Test(.promise("users.places")) func aUserWhoConnectsTooOftenIsRefusedAlone() throws {
        var limits = AcceptorLimits()
        (limits.rateOfUser, limits.burstOfUser) = (1, 3)
        let service = try AcceptedService("serve", limits: limits)
        defer { service.stop() }
        let held = try (0..<20).map { _ in try service.connect(1) }
        #expect(try service.refusal(of: held[19]) == .limitExceeded)
        #expect(try service.ask(2) == "2")
    }

    @Test(.promise("users.places")) func unknownUsersTakeNoMoreThanTheirPlaces() throws {
        var limits = AcceptorLimits()
        limits.newcomers = 4
        let service = try AcceptedService("silent", for: 100..<110, limits: limits, isKnown: { $0 < 100 })
        defer { service.stop() }
        let waiting = try (100..<104).map { try service.connect(UInt32($0)) }
        #expect(try service.refusal(of: service.connect(104)) == .limitExceeded)
        #expect(try service.ask(2) == "2")
        withExtendedLifetime(waiting) {}
    }

    /// A connection is closed with what its program has sent: here a socket whose close waits for a peer that never reads. The
    /// first connections are passed on, and the others are refused.
    @Test(arguments: [true, false])
    func aConnectionThatIsNotClosedInTimeHoldsUpNobody(refusesDescriptors: Bool) throws {
        var limits = AcceptorLimits()
        (limits.rateOfUser, limits.burstOfUser) = (1, 6)
        let service = try AcceptedService("serve", limits: limits, refusesDescriptors: refusesDescriptors)
        let lingering = try (0..<12).map { _ in try LingeringSocket() }
        for socket in lingering { try socket.close(over: service.connect(1)) }
        let begin = Uptime.nanoseconds
        for _ in 0..<5 { #expect(try service.ask(2) == "2") }
        service.stop()
        #expect(Uptime.nanoseconds - begin < 20_000_000_000)
    }

    @Test(.promise("users.stuck")) func stoppingEndsAllProcessesAlsoStoppedOnes() throws {
        let service = try AcceptedService("stuck", for: 1)
        #expect(try service.ask(2) == "2")
        _ = try service.connect(1)
        try service.awaitProcesses(2)
        service.stop()
        #expect(try service.running() == 0)
    }
}

/// A service with stand-ins for the users' processes, in this process.
private final class AcceptedService: Sendable {
    private static let standIn = """
        import os, signal, socket, sys
        kinds, folder = sys.argv[1], sys.argv[2]
        user = sys.argv[sys.argv.index("--worker") + 1]
        kind = dict(entry.split("=") for entry in kinds.split(",")).get(user, "serve")
        open(f"{folder}/{os.getpid()}", "w").write(user)
        control, listener = socket.socket(fileno=3), socket.socket(fileno=4)
        def tell(kind, number=0): control.send(bytes([kind]) + number.to_bytes(8, "little"))
        if kind == "silent": signal.pause()
        if kind == "unknown": sys.exit(67)
        tell(2)
        if kind == "stuck": signal.pause()
        count = 0
        while True:
            data, found, _, _ = socket.recv_fds(listener, 9, 1)
            if not data: break
            count += 1
            if kind == "die": os._exit(3)
            connection = socket.socket(fileno=found[0])
            connection.send(user.encode())
            connection.close()
            if kind == "leave": tell(3, count)
        """

    private let folder: TemporaryFolder
    private let path: String
    private let acceptor: UserAcceptor
    private let isOver = Mutex(false)
    private let ended: (near: Descriptor, far: Descriptor)

    convenience init(
        _ kind: String, for user: UInt32, limits: AcceptorLimits = AcceptorLimits()
    ) throws { try self.init(kind, for: user..<(user + 1), limits: limits) }

    init(
        _ kind: String, for users: Range<UInt32> = 1..<3, limits: AcceptorLimits = AcceptorLimits(),
        refusesDescriptors: Bool = true, isKnown: @escaping @Sendable (UInt32) -> Bool = { _ in true }
    ) throws {
        // The stand-ins that hang are killed then.
        var limits = limits
        limits.stopSeconds = 1
        folder = try TemporaryFolder()
        path = folder.path + "/service.sock"
        let processes = folder.path + "/processes"
        try #require(mkdir(processes, 0o700) == 0)
        ended = try Sockets.pair()
        let kinds = users.map { "\($0)=\(kind)" }.joined(separator: ",")
        let program = WorkerProgram(
            testOnlyPath: "/usr/bin/python3", ["-c", Self.standIn, kinds, processes])
        acceptor = try UserAcceptor(
            [
                UserAcceptor.Listener(try Sockets.listen(path)) { connection in
                    ServiceChannelName.user(of: connection).map { .user($0) } ?? .close
                } payload: { failure in
                    SecretBytes(String(failure.status.rawValue).utf8)
                }
            ], program, log: SilentLog(), endsWhenIdle: false, limits: limits,
            refusesDescriptors: refusesDescriptors, isKnown: isKnown)
        Processes.detachThread { [acceptor, far = ended.far] in
            try? acceptor.run()
            Sockets.shutDown(far)
        }
    }

    /// Stops the service, and waits until it has ended.
    func stop() {
        acceptor.stop()
        _ = try? ended.near.wait(for: POLLIN, until: Uptime.deadline(seconds: 30))
    }

    func connect(_ user: UInt32) throws -> Descriptor {
        try Sockets.connect(path, name: ServiceChannelName.make(for: user), seconds: 10)
    }

    /// What the process of a user answers.
    func ask(_ user: UInt32) throws -> String {
        String(decoding: try answer(connect(user)), as: UTF8.self)
    }

    private func answer(_ connection: Descriptor) throws -> [UInt8] {
        try Sockets.limitReading(connection, seconds: 30)
        return try connection.read(atMost: 4096)
    }

    /// The status with which the accepting process refuses a connection.
    func refusal(of connection: Descriptor) throws -> Status { try #require(try outcome(of: connection)) }

    /// The same; nil if a process took it.
    func outcome(of connection: Descriptor) throws -> Status? {
        let bytes = try answer(connection)
        guard bytes.count > Frame.headerBytes else { return nil }
        return Status(
            rawValue: try #require(Status.RawValue(String(decoding: bytes[Frame.headerBytes...], as: UTF8.self))))
    }

    /// The number of processes that were started.
    func processes() throws -> Int { try names().count }

    func awaitProcesses(_ count: Int) throws {
        let deadline = Uptime.deadline(seconds: 20)
        let watch = try FileWatch(folder.path + "/processes")
        while try names().count < count, Uptime.nanoseconds < deadline {
            _ = try watch.wait(until: Uptime.deadline(seconds: 1))
        }
    }

    /// The number of those that have not ended.
    func running() throws -> Int {
        try names().filter { process in
            guard let file = try? Descriptor.open("/proc/\(process)/stat", O_RDONLY),
                let bytes = try? file.read(atMost: 4096)
            else { return false }
            return ProcessRecord(bytes)?.state != "Z"
        }.count
    }

    private func names() throws -> [pid_t] {
        let listing = try Descriptor.open(folder.path + "/processes", O_RDONLY | O_DIRECTORY)
        return try listing.names(limit: 1000).compactMap { pid_t($0.description) }
    }
}

private final class SilentLog: EventLog {
    func record(_ event: DaemonEvent, _ failure: Failure?) {}
}

/// A socket with data that its peer does not read, whose close waits a minute for that (SO_LINGER).
private final class LingeringSocket {
    private let listener, near: CInt
    private var far: CInt = -1

    init() throws {
        func check(_ code: CInt) throws -> CInt {
            guard code >= 0 else { throw SystemError("socket") }
            return code
        }
        listener = try check(socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0))
        near = try check(socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        try withUnsafeMutablePointer(to: &address) { pointer in
            try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                _ = try check(bind(listener, address, size))
                _ = try check(listen(listener, 1))
                _ = try check(getsockname(listener, address, &size))
                _ = try check(connect(near, address, size))
            }
        }
        far = try check(accept(listener, nil, nil))
        let block = [UInt8](repeating: 0, count: 1 << 16)
        while Glibc.send(near, block, block.count, CInt(MSG_DONTWAIT | MSG_NOSIGNAL)) > 0 {}
        try linger(60)
    }

    deinit { for descriptor in [listener, far] { Glibc.close(descriptor) } }

    private func linger(_ seconds: CInt) throws {
        var time = Glibc.linger(l_onoff: 1, l_linger: seconds)
        guard setsockopt(near, SOL_SOCKET, SO_LINGER, &time, socklen_t(MemoryLayout<Glibc.linger>.size)) == 0 else {
            throw SystemError("setsockopt")
        }
    }

    /// Puts it into a connection, and closes the copy here. A kernel that refuses it leaves nothing to close.
    func close(over connection: Descriptor) throws {
        var byte: UInt8 = 0
        if latchkey_send_message(connection.number, &byte, 1, near) != 0 { try linger(0) }
        Glibc.close(near)
    }
}
