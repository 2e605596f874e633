// SPDX-License-Identifier: Apache-2.0

import CBenchLinux
import Foundation

/// The process of the daemon under test, which can be stopped and whose counters are read from /proc.
struct DaemonProcess: Sendable {
    private let lock: String

    init(store: String) { lock = store + "/daemon.lock" }

    /// Its process id, the third line of the daemon's lock file.
    func identifier() throws(BenchFailure) -> pid_t {
        let lines = Machine.text(lock).split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.count == 4, let identifier = pid_t(lines[2]) else {
            throw BenchFailure("The daemon's lock does not name a process.")
        }
        return identifier
    }

    /// Terminates the daemon and waits at most 10 seconds for its end.
    func stop() throws(BenchFailure) {
        let process = try identifier()
        let descriptor = bench_pidfd_open(process)
        guard descriptor >= 0 else { throw .system("pidfd_open") }
        defer { close(descriptor) }
        guard kill(process, SIGTERM) == 0 else { throw .system("kill") }
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&entry, 1, 10_000) == 1 else { throw BenchFailure("The daemon did not end within 10 seconds.") }
    }

    /// Terminates the daemon if it is running.
    func stopQuietly() {
        do throws(BenchFailure) {
            try stop()
        } catch {
            // The daemon was not running, so there is nothing to stop.
        }
    }

    /// Anonymous memory in bytes: neither mapped files nor shared memory.
    func anonymousBytes() throws(BenchFailure) -> Int {
        let text = Machine.text("/proc/\(try identifier())/smaps_rollup")
        guard let field = Machine.field("Anonymous", in: text), let kibibytes = Int(field.prefix { $0 != " " }) else {
            throw BenchFailure("The daemon's smaps_rollup cannot be read.")
        }
        return kibibytes * 1024
    }

    /// The daemon's counters since its start.
    func effort() throws(BenchFailure) -> Effort { try Effort(process: String(try identifier())) }
}

/// Counters of a process that do not depend on the speed of the machine.
struct Effort: Sendable {
    /// Bytes passed to `write` and similar calls.
    var writtenBytes = 0
    /// Voluntary context switches of all threads.
    var waits = 0

    init() {}

    /// Reads the counters of a process; "self" is this process.
    init(process: String) throws(BenchFailure) {
        guard let field = Machine.field("wchar", in: Machine.text("/proc/\(process)/io")), let count = Int(field) else {
            throw BenchFailure("The counters of a process cannot be read.", hint: "Make /proc/PID/io readable.")
        }
        writtenBytes = count
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/task")) ?? []
        for thread in threads {
            let status = Machine.text("/proc/\(process)/task/\(thread)/status")
            waits += Machine.field("voluntary_ctxt_switches", in: status).flatMap { Int($0) } ?? 0
        }
    }

    /// The difference of two readings.
    static func - (later: Effort, earlier: Effort) -> Effort {
        var difference = later
        difference.writtenBytes -= earlier.writtenBytes
        difference.waits -= earlier.waits
        return difference
    }

    /// Adds the counts of another interval.
    static func += (sum: inout Effort, more: Effort) {
        sum.writtenBytes += more.writtenBytes
        sum.waits += more.waits
    }
}
