// SPDX-License-Identifier: Apache-2.0

import Glibc
package import LatchkeyModel
import Synchronization

/// The daemon's log in the store's folder: a file of bounded size and its predecessor.
///
/// The file is opened for each line, so that nothing is written to a renamed or deleted file; lines are rare.
package final class DaemonLogFile: Sendable {
    /// The file's name in the store's folder.
    package static let fileName = "daemon.log"
    /// Maximum size of the file in bytes, after which it replaces the older one.
    package static let bytes = 256 << 10

    private let path: String
    private let limit: Int
    /// Held while a line is written.
    private let turn = Mutex(())

    /// The log of the store in `folder`; `limit` is in bytes.
    package init(_ folder: String, limit: Int = DaemonLogFile.bytes) {
        path = folder + "/" + Self.fileName
        self.limit = limit
    }

    /// Appends a line with a single write, so that a reader never sees a part of it.
    package func append(_ line: DaemonLogLine) throws(SystemError) {
        let text = Array((line.text + "\n").utf8)
        try turn.withLock { (_) throws(SystemError) in try write(text) }
    }

    private func write(_ text: [UInt8]) throws(SystemError) {
        var file = try open()
        if try file.status().size + text.count > limit, try replace(file) { file = try open() }
        let written = Glibc.write(file.number, text, text.count)
        guard written == text.count else { throw SystemError("write", code: written < 0 ? errno : ENOSPC) }
    }

    /// Makes the file the older one; false if another process of the service does so now or has done it. Never waits: the
    /// file is longer than its limit then by a few lines.
    private func replace(_ file: Descriptor) throws(SystemError) -> Bool {
        guard flock(file.number, LOCK_EX | LOCK_NB) == 0 else { return false }
        let own = try file.status().file
        guard (try? FileRecord(at: path))?.file == own else { return true }
        guard rename(path, path + ".1") == 0 else { throw SystemError("rename") }
        return true
    }

    private func open() throws(SystemError) -> Descriptor {
        try Descriptor.open(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW)
    }

    /// Reads every line of both files, oldest first; omits lines that are not log lines.
    package static func read(_ folder: String) throws(SystemError) -> [DaemonLogLine] {
        var lines: [DaemonLogLine] = []
        for name in [fileName + ".1", fileName] {
            // A file exceeds its limit only if it was edited; `read` throws if it exceeds twice the limit.
            guard let bytes = try Files.read(folder + "/" + name, limit: 2 * Self.bytes) else { continue }
            let text = String(decoding: bytes.copyBytes(), as: UTF8.self)
            lines += text.split(separator: "\n").compactMap { DaemonLogLine(String($0)) }
        }
        return lines
    }
}
