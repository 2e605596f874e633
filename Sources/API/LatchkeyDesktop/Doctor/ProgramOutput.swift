// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeySystem

/// Runs a program and reads what it prints, within a time limit.
enum ProgramOutput {
    /// Maximum bytes read.
    private static let byteLimit = 64 << 10

    /// The lines that the program writes on standard output before it ends; nil if it cannot be started, fails, or does
    /// not end in time. It is killed then, with the processes of its session's first group.
    static func lines(_ path: String, _ arguments: [String], seconds: Int64) -> [String]? {
        let deadline = Uptime.deadline(seconds: seconds)
        guard let (process, output) = start(path, arguments) else { return nil }
        let text = read(output, until: deadline)
        if text == nil || !Processes.hasEnded(process, within: seconds) { kill(-process, SIGKILL) }
        let status = Processes.wait(process, killAfter: 0)
        guard let text, status == 0 else { return nil }
        return String(decoding: text, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    /// Closes this process's copy of the far end on return, so that the stream ends with the program.
    private static func start(_ path: String, _ arguments: [String]) -> (process: pid_t, output: Descriptor)? {
        guard let (near, far) = try? Sockets.pair(),
            let process = try? Processes.spawn(path, arguments, descriptors: [nil, far, nil], newSession: true)
        else { return nil }
        return (process, near)
    }

    private static func read(_ output: Descriptor, until deadline: Int64) -> [UInt8]? {
        var text: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4096)
        while text.count < byteLimit {
            guard (try? output.wait(for: POLLIN, until: deadline)) == true,
                let count = try? piece.withUnsafeMutableBytes({ try output.read(into: $0) })
            else { return nil }
            if count == 0 { return text }
            text += piece[..<count]
        }
        return nil
    }
}
