// SPDX-License-Identifier: Apache-2.0

import CLatchkeyLinux
import Glibc

/// A descriptor that a program gets from the one that started it. It may be closed, and it may be non-blocking: both are
/// properties that another program chose, and shares.
package enum StandardStream: CInt, CaseIterable, Sendable {
    case input = 0
    case output = 1
    case error = 2

    package var isTerminal: Bool { isatty(rawValue) == 1 }

    /// The columns of the terminal; nil if it is none, or does not know its width.
    package var columns: Int? {
        var (rows, columns): (UInt16, UInt16) = (0, 0)
        guard latchkey_window_size(rawValue, &rows, &columns) == 0, columns > 0 else { return nil }
        return Int(columns)
    }

    /// Takes the places of closed streams, so that no file or socket of this program gets one of these numbers. Reading
    /// and writing them still fails with EBADF (open(2), O_PATH).
    static func fillClosedOnes() {
        // The lowest free number is used each time.
        while true {
            let number = latchkey_open("/dev/null", latchkey_path_flag(), 0)
            guard number >= 0 else { return }
            guard number > error.rawValue else { continue }
            close(number)
            return
        }
    }

    /// Closes the places that `fillClosedOnes` has taken.
    static func closeFilledOnes() {
        for stream in allCases {
            // Negative for a stream that is closed.
            let flags = fcntl(stream.rawValue, F_GETFL)
            if flags >= 0, flags & latchkey_path_flag() != 0 { close(stream.rawValue) }
        }
    }

    /// Reads at most `memory.count` bytes, and waits for them also if the stream is non-blocking.
    ///
    /// - Returns: the number of bytes read; 0 at the end.
    package func read(into memory: UnsafeMutableRawBufferPointer) throws(SystemError) -> Int {
        while true {
            let count = Glibc.read(rawValue, memory.baseAddress, memory.count)
            if count >= 0 { return count }
            try retry("read", POLLIN)
        }
    }

    /// Writes all bytes, and waits until they are taken also if the stream is non-blocking.
    package func write(all memory: UnsafeRawBufferPointer) throws(SystemError) {
        var rest = memory
        while !rest.isEmpty {
            let count = Glibc.write(rawValue, rest.baseAddress, rest.count)
            if count >= 0 {
                rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            } else {
                try retry("write", POLLOUT)
            }
        }
    }

    /// Writes all bytes. Not for secrets, which belong in `SecretBytes`.
    package func write(all bytes: [UInt8]) throws(SystemError) {
        try bytes.withUnsafeBufferPointer { (bytes) throws(SystemError) in
            try write(all: UnsafeRawBufferPointer(bytes))
        }
    }

    /// Reads a line that is no secret, without its line feed and a carriage return before it; byte by byte, since what follows is for others.
    ///
    /// - Returns: nil at the end, for a line of more than `limit` bytes, and for one that is not UTF-8.
    package func line(limit: Int = 4096) throws(SystemError) -> String? {
        var line: [UInt8] = []
        var byte: UInt8 = 0
        while line.count <= limit {
            let count = try withUnsafeMutableBytes(of: &byte) { (memory) throws(SystemError) in try read(into: memory) }
            let isAtEnd = count == 0
            if isAtEnd, line.isEmpty { return nil }
            if isAtEnd || byte == UInt8(ascii: "\n") {
                if line.last == UInt8(ascii: "\r") { line.removeLast() }
                return String(validating: line, as: UTF8.self)
            }
            line.append(byte)
        }
        return nil
    }

    /// Waits where the last call said that it would block, and throws its other errors.
    private func retry(_ call: StaticString, _ events: Int32) throws(SystemError) {
        switch errno {
        case EINTR: return
        // A signal is no reason to give up, and neither is a stream that reports an error: the next call names it.
        case EAGAIN: _ = try Descriptor.wait(rawValue, for: events, until: nil)
        default: throw SystemError(call)
        }
    }
}
