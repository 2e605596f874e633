// SPDX-License-Identifier: Apache-2.0

import Glibc
package import LatchkeyModel
package import LatchkeySystem
import Synchronization

/// The daemon's log in the store's folder: a file of bounded size and the one before it.
///
/// The file is opened for every line: events are rare, and a file that was moved away does not grow out of sight.
package final class DaemonLogFile: Sendable {
    /// The file's name in the store's folder.
    package static let fileName = "daemon.log"
    /// Bytes of the file before it takes the place of the older one.
    package static let bytes = 256 << 10

    private let path: String
    private let limit: Int
    /// One line at a time.
    private let turn = Mutex(())

    /// The log of the store in that folder.
    package init(_ folder: String, limit: Int = DaemonLogFile.bytes) {
        path = folder + "/" + Self.fileName
        self.limit = limit
    }

    /// Adds a line in one write, so that no reader sees half of it.
    package func append(_ line: DaemonLogLine) throws(SystemError) {
        let text = Array((line.text + "\n").utf8)
        let result = turn.withLock { _ in Result { () throws(SystemError) in try write(text) } }
        try result.get()
    }

    private func write(_ text: [UInt8]) throws(SystemError) {
        var file = try open()
        if Int(try file.status().st_size) + text.count > limit {
            guard rename(path, path + ".1") == 0 else { throw SystemError("rename") }
            file = try open()
        }
        let written = Glibc.write(file.number, text, text.count)
        guard written == text.count else { throw SystemError("write", code: written < 0 ? errno : ENOSPC) }
    }

    private func open() throws(SystemError) -> Descriptor {
        try Descriptor.open(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW)
    }

    /// Every line of both files, oldest first. What is not a line of a log is left out.
    package static func read(_ folder: String) throws(SystemError) -> [DaemonLogLine] {
        var lines: [DaemonLogLine] = []
        for name in [fileName + ".1", fileName] {
            // A file may be larger than its bound by nothing but an edit: what is beyond is refused, not read.
            guard let bytes = try Files.read(folder + "/" + name, limit: 2 * Self.bytes) else { continue }
            let text = String(decoding: bytes.copyBytes(), as: UTF8.self)
            lines += text.split(separator: "\n").compactMap { DaemonLogLine(String($0)) }
        }
        return lines
    }
}
