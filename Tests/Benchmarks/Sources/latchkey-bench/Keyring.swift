// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

/// A gnome-keyring daemon on a private bus with a private home folder, and the libsecret client that calls it.
final class Keyring {
    /// The secret of every item: text, because libsecret requires text.
    static let secret = String(repeating: "5a", count: Item.secretBytes / 2)

    private let client = Process()
    private let orders = Pipe()
    private let answers: UnsafeMutablePointer<FILE>
    private var processes: [Process] = []

    /// Starts the bus, the daemon and the client in a new folder.
    ///
    /// - Parameters:
    ///   - program: path of the client, built from `Keyring/keyring-client.c`.
    ///   - path: the folder to create.
    ///   - numbers: the items of a keyring file in plain text that is written first; nil: the daemon creates an empty,
    ///     encrypted keyring.
    init(client program: String, at path: String, holding numbers: Range<Int>?) throws(BenchFailure) {
        let output = Pipe()
        guard let answers = fdopen(dup(output.fileHandleForReading.fileDescriptor), "r") else {
            throw .system("fdopen")
        }
        self.answers = answers
        do {
            try KeyringFolder.make(at: path, holding: numbers)
            var environment = ["PATH": "/usr/bin:/bin", "HOME": path, "XDG_DATA_HOME": path, "XDG_RUNTIME_DIR": path]
            for name in ["XDG_CONFIG_HOME", "XDG_CACHE_HOME"] { environment[name] = path }
            let bus = Process()
            let announced = Pipe()
            bus.standardOutput = announced
            try start(
                bus, "dbus-daemon", ["--config-file=\(path)/bus.conf", "--nofork", "--nopidfile", "--print-address=1"],
                environment)
            // The bus prints its address when it listens.
            _ = announced.fileHandleForReading.availableData
            environment["DBUS_SESSION_BUS_ADDRESS"] = "unix:path=\(path)/bus"
            let daemon = Process()
            let password = Pipe()
            daemon.standardInput = password
            daemon.standardOutput = FileHandle.nullDevice
            try start(
                daemon, "gnome-keyring-daemon",
                ["--foreground", "--unlock", "--components=secrets", "--control-directory=\(path)"], environment)
            try password.fileHandleForWriting.write(contentsOf: Data("bench".utf8))
            try password.fileHandleForWriting.close()
            client.standardInput = orders
            client.standardOutput = output
            try start(client, program, [Item.service, Keyring.secret], environment)
        } catch {
            throw BenchFailure("it cannot be started: \(error)")
        }
        guard try line() == "ready" else { throw BenchFailure("its client gave an unexpected answer") }
    }

    deinit {
        for process in processes.reversed() {
            Keyring.end(process.processIdentifier)
            process.waitUntilExit()
        }
        fclose(answers)
    }

    private func start(
        _ process: Process, _ name: String, _ arguments: [String], _ environment: [String: String]
    ) throws {
        process.executableURL = URL(fileURLWithPath: name.hasPrefix("/") ? name : "/usr/bin/" + name)
        process.arguments = arguments
        process.environment = environment
        process.standardError = FileHandle.nullDevice
        try process.run()
        Keyring.running.withLock { _ = $0.insert(process.processIdentifier) }
        processes.append(process)
    }

    /// Makes one call, which the client times.
    func call(_ verb: String, _ item: Item, _ samples: inout Samples) throws(BenchFailure) {
        let order = Data("\(verb) \(item.account)\n".utf8)
        do {
            try orders.fileHandleForWriting.write(contentsOf: order)
        } catch {
            throw BenchFailure("its client has ended")
        }
        let answer = try line()
        guard let nanoseconds = Int64(answer) else { throw BenchFailure("its client reports: \(answer)") }
        samples.append(nanoseconds)
    }

    private func line() throws(BenchFailure) -> String {
        var buffer = [CChar](repeating: 0, count: 1024)
        guard fgets(&buffer, CInt(buffer.count), answers) != nil else { throw BenchFailure("its client has ended") }
        let bytes = buffer.prefix { $0 != 0 && $0 != 10 }.map(UInt8.init(bitPattern:))
        return String(decoding: bytes, as: UTF8.self)
    }

    // MARK: - Cleaning up processes

    private static let running = Mutex<Set<pid_t>>([])

    private static func end(_ process: pid_t) {
        // Removed before the signal, so that no reused process id is ever signalled.
        if running.withLock({ $0.remove(process) != nil }) { kill(process, SIGTERM) }
    }

    /// Terminates all remaining processes when a run is interrupted.
    static func endAll() {
        for process in running.withLock({ $0 }) { end(process) }
    }
}
