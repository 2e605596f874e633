// SPDX-License-Identifier: Apache-2.0

import CLatchkeyLinux
import Glibc
import Synchronization

/// The controlling side of a pseudoterminal: reads what programs write to it and sends keys to them.
package final class PseudoTerminal: Sendable {
    private let near: Descriptor
    /// Output after the text that was waited for last.
    private let unread = Mutex<[UInt8]>([])
    package let path: String

    /// Opens a pseudoterminal with a window of this size.
    package init(rows: UInt16 = 40, columns: UInt16 = 100) throws(SystemError) {
        let number = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard number >= 0 else { throw SystemError("posix_openpt") }
        near = Descriptor(owning: number)
        guard grantpt(near.number) == 0, unlockpt(near.number) == 0 else { throw SystemError("unlockpt") }
        var name = [CChar](repeating: 0, count: 128)
        let code = ptsname_r(near.number, &name, name.count)
        guard code == 0 else { throw SystemError("ptsname_r", code: code) }
        path = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        resize(rows: rows, columns: columns)
    }

    package func resize(rows: UInt16, columns: UInt16) { _ = latchkey_set_window_size(near.number, rows, columns) }

    /// Starts a program whose controlling terminal this is.
    package func spawn(
        _ program: String, _ arguments: [String], environment: [String]? = nil
    ) throws(SystemError) -> CInt {
        try Processes.spawn(program, arguments, environment: environment, terminal: path)
    }

    /// Sends keys, as if the user had pressed them.
    package func type(_ keys: String) throws(SystemError) {
        try near.write(all: Array(keys.utf8))
    }

    /// Reads output until it contains a text.
    ///
    /// - Parameters:
    ///   - seconds: how long this waits.
    ///   - received: called with each piece of output.
    /// - Returns: the output up to the end of the text, without what an earlier call returned; nil if the time passed or
    ///   every program has closed the terminal.
    package func read(through text: String, seconds: Int64 = 20, _ received: ([UInt8]) -> Void = { _ in }) -> String? {
        let deadline = Uptime.deadline(seconds: seconds)
        return unread.withLock { unread in
            while true {
                if let end = unread.firstRange(of: Array(text.utf8))?.upperBound {
                    defer { unread.removeFirst(end) }
                    return String(decoding: unread[..<end], as: UTF8.self)
                }
                guard let more = receive(until: deadline) else { return nil }
                received(more)
                unread += more
            }
        }
    }

    /// Reads output until every program has closed the terminal or the time has passed, and returns what `read(through:)`
    /// has not returned.
    package func readToEnd(seconds: Int64 = 20, _ received: ([UInt8]) -> Void = { _ in }) -> String {
        let deadline = Uptime.deadline(seconds: seconds)
        return unread.withLock { unread in
            while let more = receive(until: deadline) {
                received(more)
                unread += more
            }
            defer { unread = [] }
            return String(decoding: unread, as: UTF8.self)
        }
    }

    /// Up to 4096 bytes of output; nil when every program has closed the terminal or the deadline passed.
    private func receive(until deadline: Int64) -> [UInt8]? {
        guard (try? near.wait(for: POLLIN, until: deadline)) == true else { return nil }
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = Glibc.read(near.number, &buffer, buffer.count)
        return count > 0 ? Array(buffer[..<count]) : nil
    }
}
