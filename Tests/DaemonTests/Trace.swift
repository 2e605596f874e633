// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import LatchkeySystem
import TestSupport
import Testing

extension Need {
    /// strace(1), and permission to attach it to a process that is not dumpable.
    static let trace = Need("strace and CAP_SYS_PTRACE, to follow the daemon's system calls: run it as root") {
        Files.exists(Trace.program) && Need.otherMemory.isMet()
    }
}

/// An instance of strace(1) attached to the daemon of a store.
struct Trace {
    static let program = "/usr/bin/strace"
    private let tracer: pid_t
    private let file: String
    private let messages: Descriptor

    /// Attaches to one thread of the daemon, or to all current and later threads. From then on, records the calls
    /// selected by `options`.
    init(_ daemon: TestDaemon, thread: String? = nil, _ options: [String]) throws {
        let process = try #require(try daemon.process)
        file = daemon.folder + "/trace"
        let (near, far) = try Sockets.pair()
        messages = near
        let whom = thread.map { ["-p", $0] } ?? ["-f", "-p", "\(process)"]
        tracer = try Processes.spawn(
            Self.program, ["-y", "-s", "0", "-o", file] + whom + options,
            environment: ["PATH=/usr/bin:/bin"], descriptors: [nil, far, far])
        var heard: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 512)
        // strace writes this once all threads are attached: "strace: Process 1 attached with 5 threads".
        while !String(decoding: heard, as: UTF8.self).contains("attached") {
            try #require(try messages.wait(for: POLLIN, until: Uptime.deadline(seconds: 20)), "strace is silent")
            let count = read(messages.number, &buffer, buffer.count)
            try #require(count > 0, "strace has ended: \(String(decoding: heard, as: UTF8.self))")
            heard += buffer[..<count]
        }
    }

    /// Waits until the tracer has ended together with the daemon; false when it had to be killed.
    func waitForEnd(seconds: Int64) -> Bool { Processes.wait(tracer, killAfter: seconds) & 0x7f == 0 }

    /// Detaches, and returns the calls in the order in which they ended.
    func end() throws -> [TracedCall] {
        kill(tracer, SIGTERM)
        Processes.wait(tracer, killAfter: 20)
        let bytes = try #require(try Files.read(file, limit: 16 << 20))
        Files.remove(file)
        return TracedCall.read(String(decoding: bytes.copyBytes(), as: UTF8.self))
    }
}

/// A system call in strace's output: `4711 fdatasync(7</store/counters>) = 0`.
struct TracedCall {
    let thread: String
    let name: String
    /// The text after the name.
    let text: String
    /// Lines of the trace in which it began and ended; they differ when calls of other threads are in between.
    let began: Int
    let ended: Int

    static func read(_ trace: String) -> [TracedCall] {
        var calls: [TracedCall] = []
        var open: [Substring: (began: Int, text: Substring)] = [:]
        for (number, line) in trace.split(separator: "\n").enumerated() {
            let thread = line.prefix { $0 != " " }
            var rest = line.dropFirst(thread.count).drop { $0 == " " }
            var began = number
            if rest.hasSuffix(" <unfinished ...>") {
                open[thread] = (number, rest.dropLast(" <unfinished ...>".count))
                continue
            }
            if rest.hasPrefix("<... "), let start = open.removeValue(forKey: thread) {
                began = start.began
                rest = start.text + (rest.split(separator: ">", maxSplits: 1).last ?? "")
            }
            guard let bracket = rest.firstIndex(of: "(") else { continue }
            calls.append(
                TracedCall(
                    thread: String(thread), name: String(rest[..<bracket]), text: String(rest[bracket...]),
                    began: began, ended: number))
        }
        return calls
    }
}
