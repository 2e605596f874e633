// SPDX-License-Identifier: Apache-2.0

internal import RelyingPartyJSON

/// Lines of the log that wait for the thread that writes, in a limited memory.
struct LogQueue {
    private var waiting: [UInt8] = []
    private var isWriting = false
    /// The lines that were lost since the last one that was written.
    private var lostLines = 0
    /// Maximum size of the queue of lines, in bytes. A line that does not fit is dropped and counted.
    static let mostWaiting = 65536
    /// Maximum size of one write, in bytes: a pipe that is ready for writing accepts as many without blocking (PIPE_BUF in
    /// pipe(7)).
    static let mostAtOnce = 4096

    /// Adds a line, given without its end.
    ///
    /// - Returns: whether the caller is to write until ``next()`` returns nil, because no other thread does.
    mutating func add(_ line: [UInt8]) -> Bool {
        // A long line is cut off, so that every line fits into one call, after the number of those that were lost.
        let bytes = line.prefix(Self.mostAtOnce - 64) + [0x0a]
        guard waiting.count + bytes.count <= Self.mostWaiting else {
            lostLines += 1
            return false
        }
        waiting += bytes
        defer { isWriting = true }
        return !isWriting
    }

    /// Takes as many of the lines that wait as one call can write; nil if none waits.
    ///
    /// - Returns: what is written, and how many lines are lost if it cannot be, with those that were lost before.
    mutating func next() -> (bytes: [UInt8], lines: Int)? {
        guard !waiting.isEmpty else {
            isWriting = false
            return nil
        }
        var bytes: [UInt8] = []
        if lostLines > 0 {
            JSONValue.object([("lostLines", .integer(Int64(lostLines)))]).write(to: &bytes)
            bytes.append(0x0a)
        }
        let fitting = waiting.prefix(Self.mostAtOnce - bytes.count)
        let lines = fitting.prefix(through: fitting.lastIndex(of: 0x0a) ?? fitting.endIndex - 1)
        let count = lines.count { $0 == 0x0a } + lostLines
        bytes += lines
        waiting.removeFirst(lines.count)
        lostLines = 0
        return (bytes, count)
    }

    /// Counts lines that could not be written.
    mutating func lose(_ lines: Int) { lostLines += lines }
}
