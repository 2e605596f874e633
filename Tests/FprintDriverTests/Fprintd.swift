// SPDX-License-Identifier: Apache-2.0

import BusDrivers
import BusTestSupport
import Foundation
import Glibc
import LatchkeySystem
import Synchronization
import TestSupport
import Testing

extension Need {
    /// The real fprintd, installed or unpacked by `scripts/fprintd`, and dbus-daemon.
    static let fprintd = Need("fprintd and dbus-daemon: export LATCHKEY_FPRINTD=$(scripts/fprintd)") {
        access(Fprintd.program, X_OK) == 0 && access(PrivateBus.program, X_OK) == 0
    }
}

/// The real fprintd on a bus of its own, with a virtual reader of libfprint and a polkit that allows everything.
final class Fprintd: Sendable {
    /// The drivers of virtual readers.
    enum Reader: String {
        case device = "virtual_device"
        case storage = "virtual_device_storage"
        case image = "virtual_image"

        fileprivate var variable: String {
            switch self {
            case .device: "FP_VIRTUAL_DEVICE"
            case .storage: "FP_VIRTUAL_DEVICE_STORAGE"
            case .image: "FP_VIRTUAL_IMAGE"
            }
        }
    }

    static var root: String { ProcessInfo.processInfo.environment["LATCHKEY_FPRINTD"] ?? "" }
    static var program: String { root + "/usr/libexec/fprintd" }
    static let account = String(cString: getpwuid(geteuid()).pointee.pw_name)

    let bus: PrivateBus
    let client: BusClient
    private let readers: [Reader]
    private let polkit: BusProgram
    private let process = Mutex<pid_t>(0)
    var state: String { bus.folder.path + "/state" }
    var processID: pid_t { process.withLock { $0 } }

    init(_ readers: Reader...) throws {
        self.readers = readers
        bus = try PrivateBus()
        let allows = Allows()
        polkit = try BusProgram.polkit(bus) { allows.value.withLock { $0 }($0) }
        self.allows = allows
        client = try BusClient(bus)
        mkdir(state, 0o700)
        try start()
    }

    deinit {
        stop()
        polkit.end()
    }

    private let allows: Allows

    private final class Allows: Sendable {
        let value = Mutex<@Sendable (String) -> Bool>({ _ in true })
    }

    /// Changes what polkit allows, by action.
    func allow(_ allows: @escaping @Sendable (String) -> Bool) { self.allows.value.withLock { $0 = allows } }

    /// Starts fprintd, and returns when it owns its name.
    func start() throws {
        var environment = [
            "PATH=/usr/bin:/bin", "DBUS_SYSTEM_BUS_ADDRESS=" + bus.address, "STATE_DIRECTORY=" + state,
            "FP_DRIVERS_WHITELIST=" + readers.map(\.rawValue).joined(separator: ":"), "LC_ALL=C",
            "G_MESSAGES_DEBUG=all",
        ]
        if !Self.root.isEmpty {
            // Absent if this machine has all libraries.
            let folders = (try? FileManager.default.contentsOfDirectory(atPath: Self.root + "/usr/lib")) ?? []
            environment.append(
                "LD_LIBRARY_PATH=" + folders.map { Self.root + "/usr/lib/" + $0 }.joined(separator: ":"))
        }
        environment += readers.map { "\($0.variable)=\(socket($0))" }
        let log = try Descriptor.open(bus.folder.path + "/fprintd.log", O_WRONLY | O_CREAT | O_APPEND)
        // The signal of the first owner; a call installs the rule.
        _ = try client.hasOwner("net.reactivated.Fprint")
        let process = try Processes.spawn(
            Self.program, ["--no-timeout"], environment: environment, descriptors: [nil, log, log])
        self.process.withLock { $0 = process }
        try client.signal {
            $0.member == "NameOwnerChanged" && $0.arguments[0].text == "net.reactivated.Fprint"
                && $0.arguments[2].text != ""
        }
    }

    /// Ends fprintd as a crash does.
    func stop() {
        let process = process.withLock { process in
            defer { process = 0 }
            return process
        }
        guard process > 0 else { return }
        kill(process, SIGKILL)
        Processes.wait(process)
    }

    private func socket(_ reader: Reader) -> String { "\(bus.folder.path)/\(reader.rawValue).sock" }

    // MARK: - The finger

    /// Sends a command to a virtual reader, and returns when the reader has taken it; false while it is not claimed.
    @discardableResult
    func send(_ command: String, to reader: Reader = .device) -> Bool {
        guard let connection = connect(reader), (try? connection.write(all: Array(command.utf8))) != nil else {
            return false
        }
        // The reader closes the connection when it has taken the command.
        while let bytes = try? connection.read(atMost: 256), !bytes.isEmpty {}
        return true
    }

    /// Connects to the socket of a reader, which exists while the reader is claimed.
    func connect(_ reader: Reader) -> Descriptor? {
        let number = Glibc.socket(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        let connection = Descriptor(owning: number)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let path = Array(socket(reader).utf8)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path) }
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(number, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        return result == 0 ? connection : nil
    }

    /// Enrols a finger, as the settings of a desktop do.
    func enroll(
        _ print: String, as finger: String = "right-index-finger", on reader: Reader = .device,
        beforeTheFirstScan: () throws -> Void = {}
    ) throws {
        try client.device("Claim", Self.account)
        try client.device("EnrollStart", finger)
        try beforeTheFirstScan()
        while true {
            try #require(send("SCAN \(print)", to: reader))
            let status = try client.signal { $0.member == "EnrollStatus" }
            guard status.arguments[1].flag == true else { continue }
            try #require(status.arguments[0].text == "enroll-completed")
            break
        }
        try client.device("EnrollStop")
        try client.device("Release")
    }

    /// Sends a command as soon as the reader is claimed; false if that does not happen within ten seconds. The socket
    /// of the reader exists from then on, and nothing else announces it.
    func sendWhenClaimed(_ command: String, to reader: Reader = .device) -> Bool {
        let deadline = Uptime.deadline(seconds: 10)
        while !send(command, to: reader) {
            guard Uptime.nanoseconds < deadline else { return false }
            sched_yield()
        }
        return true
    }

    /// Waits until the device is free, as the next program that claims it would find it. fprintd does not announce it;
    /// each attempt waits for the answer of fprintd.
    func released() throws {
        let deadline = Uptime.deadline(seconds: 10)
        while (try? client.device("Claim", Self.account)) == nil { try #require(Uptime.nanoseconds < deadline) }
        try client.device("Release")
    }
}
