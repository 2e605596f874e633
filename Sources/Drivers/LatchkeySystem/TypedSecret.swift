// SPDX-License-Identifier: Apache-2.0

import Glibc
package import LatchkeyModel

/// A secret while it is typed, in memory of fixed size that is wiped afterwards, never in a string.
package struct TypedSecret {
    private let buffer: SecretBuffer
    private var count = 0

    /// Allocates `capacity` bytes; further input is dropped.
    package init(capacity: Int) { buffer = SecretBuffer(capacity: capacity) }

    /// Whether nothing has been typed.
    package var isEmpty: Bool { count == 0 }

    /// What was typed, for a prompt that shows it.
    package var text: String { buffer.withBytes { String(decoding: $0[..<count], as: UTF8.self) } }

    package mutating func append(_ byte: UInt8) {
        guard count < buffer.capacity else { return }
        buffer.withBytes { $0[count] = byte }
        count += 1
    }

    /// Removes and wipes the last UTF-8 character with all its bytes.
    package mutating func dropLast() {
        while count > 0 {
            count -= 1
            let byte = buffer.withBytes { bytes in
                defer { bytes[count] = 0 }
                return bytes[count]
            }
            if byte & 0xc0 != 0x80 { break }
        }
    }

    package mutating func clear() {
        buffer.wipe()
        count = 0
    }

    /// Returns what was typed, and wipes it here.
    package mutating func take() -> SecretBytes {
        defer { clear() }
        return copy()
    }

    /// Returns what was typed, which stays here.
    package func copy() -> SecretBytes {
        buffer.withBytes { SecretBytes(copying: UnsafeRawBufferPointer(rebasing: $0[..<count])) }
    }
}

/// What a person typed as a line.
package enum TypedLine: Sendable {
    case line(SecretBytes)
    /// Esc or Ctrl-D, or the terminal was closed.
    case cancelled
    /// Ctrl-C.
    case interrupted
}

extension Terminal {
    /// Interval of checking for a pending terminating signal, in milliseconds.
    private static let tickMilliseconds: CInt = 100
    /// Timeout after which a single escape byte is the Escape key, in milliseconds.
    private static let escapeMilliseconds: CInt = 60

    /// Reads one line without echo.
    ///
    /// A terminating signal received meanwhile takes effect after the terminal's modes have been restored.
    package func readHiddenLine(_ question: String, capacity: Int) -> TypedLine {
        guard let modes = modes() else { return .cancelled }
        // Changes nothing, but stops a background program here (SIGTTOU), where a signal can still end it.
        restore(modes)
        let signals = EndingSignals()
        defer { signals.release() }
        // Written after switching modes: input typed once the question is visible is neither echoed nor discarded.
        readKeys(from: modes)
        write(question)
        defer {
            // Another program may have taken over the terminal meanwhile and set its own modes.
            if isOurs, isReadingKeys(from: modes) {
                // What was typed after the end of the line is a part of a secret, which the shell must not execute.
                tcflush(descriptor.number, TCIFLUSH)
                restore(modes)
                write("\n")
            }
        }
        var typed = TypedSecret(capacity: capacity)
        defer { typed.clear() }
        while let key = nextKey() {
            switch key {
            case 0x0d, 0x0a: return .line(typed.take())
            case 0x03: return .interrupted
            case 0x04 where typed.isEmpty: return .cancelled
            case 0x1b: if !skipSequence() { return .cancelled }
            case 0x7f, 0x08: typed.dropLast()
            case 0x15: typed.clear()
            case 0x09: typed.append(key)
            // Rings: the key has not been taken.
            case 0x00..<0x20: write("\u{7}")
            default: typed.append(key)
            }
        }
        return .cancelled
    }

    /// Skips the rest of the sequence of a key such as an arrow (ECMA-48, 5.4); false for the Escape key alone, after which
    /// nothing follows at once.
    private func skipSequence() -> Bool {
        guard let first = nextKey(within: Self.escapeMilliseconds) else { return false }
        guard [UInt8(ascii: "["), UInt8(ascii: "O")].contains(first) else { return true }
        while let next = nextKey(within: Self.escapeMilliseconds) {
            if (0x40...0x7e).contains(next) { break }
        }
        return true
    }

    /// Whether this program is in the terminal's foreground process group.
    private var isOurs: Bool { tcgetpgrp(descriptor.number) == getpgrp() }

    /// The next byte; nil when the terminal is closed, a terminating signal is pending, or the time is over.
    ///
    /// - Parameter limit: in milliseconds; nil waits without a limit.
    private func nextKey(within limit: CInt? = nil) -> UInt8? {
        while !EndingSignals.isWaiting {
            var entry = pollfd(fd: descriptor.number, events: Int16(POLLIN), revents: 0)
            let ready = poll(&entry, 1, limit ?? Self.tickMilliseconds)
            guard ready != 0 else {
                if limit != nil { return nil }
                continue
            }
            var byte: UInt8 = 0
            if ready > 0 { return Glibc.read(descriptor.number, &byte, 1) == 1 ? byte : nil }
            guard errno == EINTR else { return nil }
        }
        return nil
    }
}
