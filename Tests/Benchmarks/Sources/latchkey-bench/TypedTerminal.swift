// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A command on a terminal of its own, at which this process types. `script` makes the terminal.
final class TypedTerminal {
    private let process = Process()
    private let (input, output) = (Pipe(), Pipe())
    private var text = ""

    /// Starts a command of the shell.
    init(_ command: String) throws(BenchFailure) {
        process.executableURL = URL(fileURLWithPath: "/usr/bin/script")
        process.arguments = ["--quiet", "--return", "--flush", "--command", command, "/dev/null"]
        (process.standardInput, process.standardOutput) = (input, output)
        do { try process.run() } catch { throw BenchFailure("script does not start: \(error)") }
    }

    deinit { process.terminate() }

    /// Waits until the terminal shows a text, and returns everything up to it. What was shown before is not seen again.
    func expect(_ wanted: String) throws(BenchFailure) -> String {
        while true {
            if let found = text.range(of: wanted) {
                defer { text = String(text[found.upperBound...]) }
                return String(text[..<found.upperBound])
            }
            let piece = try read()
            guard !piece.isEmpty else { throw BenchFailure("The terminal did not show “\(wanted)”: \(text)") }
            text += String(decoding: piece, as: UTF8.self)
        }
    }

    func type(_ line: String) { input.fileHandleForWriting.write(Data((line + "\r").utf8)) }

    /// Waits for the end of the command, which must have succeeded.
    func end() throws(BenchFailure) {
        while true {
            let piece = try read()
            if piece.isEmpty { break }
            text += String(decoding: piece, as: UTF8.self)
        }
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw BenchFailure("A command on the terminal failed: \(text)") }
    }

    /// What the terminal shows next; empty at its end. At most 60 seconds.
    private func read() throws(BenchFailure) -> Data {
        let descriptor = output.fileHandleForReading.fileDescriptor
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&entry, 1, 60_000) == 1 else { throw BenchFailure("The terminal shows nothing more: \(text)") }
        return output.fileHandleForReading.availableData
    }
}
