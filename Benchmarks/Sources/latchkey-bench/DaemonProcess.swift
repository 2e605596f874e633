// SPDX-License-Identifier: Apache-2.0

import CBenchLinux
import Foundation

/// The daemon of the store under test, as the kernel sees it.
struct DaemonProcess: Sendable {
    private let lock: String

    init(store: String) { lock = store + "/daemon.lock" }

    /// Its process id: the third line of the lock that a running daemon writes.
    func identifier() throws(BenchFailure) -> pid_t {
        let lines = Machine.text(lock).split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.count == 4, let identifier = pid_t(lines[2]) else {
            throw BenchFailure("The daemon's lock does not name a process.")
        }
        return identifier
    }

    /// Ends it and waits until it is gone.
    func stop() throws(BenchFailure) {
        let process = try identifier()
        let descriptor = bench_pidfd_open(process)
        guard descriptor >= 0 else { throw .system("pidfd_open") }
        defer { close(descriptor) }
        guard kill(process, SIGTERM) == 0 else { throw .system("kill") }
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&entry, 1, 10_000) == 1 else { throw BenchFailure("The daemon did not end within 10 seconds.") }
    }

    /// Ends it if it runs.
    func stopQuietly() {
        do throws(BenchFailure) {
            try stop()
        } catch {
            // It was not running, which is what was wanted.
        }
    }

    /// Memory of its own: neither files nor shared.
    func anonymousBytes() throws(BenchFailure) -> Int {
        let text = Machine.text("/proc/\(try identifier())/smaps_rollup")
        guard let field = Machine.field("Anonymous", in: text), let kibibytes = Int(field.prefix { $0 != " " }) else {
            throw BenchFailure("The daemon's smaps_rollup cannot be read.")
        }
        return kibibytes * 1024
    }

    /// What it has done so far.
    func effort() throws(BenchFailure) -> Effort { try Effort(process: String(try identifier())) }
}

/// Counts that do not depend on how fast the machine is.
struct Effort: Sendable {
    /// Bytes handed to `write` and its kin.
    var writtenBytes = 0
    /// How often a thread gave up its core to wait.
    var waits = 0

    init() {}

    /// What a process has done so far; "self" is this one.
    init(process: String) throws(BenchFailure) {
        guard let field = Machine.field("wchar", in: Machine.text("/proc/\(process)/io")), let count = Int(field) else {
            throw BenchFailure("The counters of a process cannot be read.", hint: "/proc/PID/io has to be readable.")
        }
        writtenBytes = count
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/task")) ?? []
        for thread in threads {
            let status = Machine.text("/proc/\(process)/task/\(thread)/status")
            waits += Machine.field("voluntary_ctxt_switches", in: status).flatMap { Int($0) } ?? 0
        }
    }

    /// What was done between two moments.
    static func - (later: Effort, earlier: Effort) -> Effort {
        var difference = later
        difference.writtenBytes -= earlier.writtenBytes
        difference.waits -= earlier.waits
        return difference
    }

    /// Adds what was done in another stretch.
    static func += (sum: inout Effort, more: Effort) {
        sum.writtenBytes += more.writtenBytes
        sum.waits += more.waits
    }
}
