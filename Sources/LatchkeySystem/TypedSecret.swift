// SPDX-License-Identifier: Apache-2.0

import Glibc
package import LatchkeyModel

/// A secret while it is typed: memory of a fixed size that is wiped, never a string.
package struct TypedSecret {
    private let buffer: SecretBuffer
    private var count = 0

    /// Makes room for `capacity` bytes; what is typed beyond that is dropped.
    package init(capacity: Int) { buffer = SecretBuffer(capacity: capacity) }

    /// Whether nothing has been typed.
    package var isEmpty: Bool { count == 0 }

    /// Number of characters in UTF-8, as `dropLast` takes them back.
    package var characterCount: Int { buffer.withBytes { bytes in bytes[..<count].count { $0 & 0xc0 != 0x80 } } }

    /// Takes one more byte.
    package mutating func append(_ byte: UInt8) {
        guard count < buffer.capacity else { return }
        buffer.withBytes { $0[count] = byte }
        count += 1
    }

    /// Takes back the last character, however many bytes it has in UTF-8.
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

    /// Forgets what was typed.
    package mutating func clear() {
        buffer.wipe()
        count = 0
    }

    /// Hands the passcode over and forgets it.
    package mutating func take() -> SecretBytes {
        defer { clear() }
        return buffer.withBytes { SecretBytes(copying: UnsafeRawBufferPointer(rebasing: $0[..<count])) }
    }
}

extension Terminal {
    /// Milliseconds between two looks whether the program is told to end.
    private static let tickMilliseconds: CInt = 100

    /// Asks for one line without showing it; nil when the person gives up (Ctrl-C, Ctrl-D, Esc).
    ///
    /// A signal that ends the program meanwhile ends it when the terminal shows again what is typed.
    package func readHiddenLine(_ question: String, capacity: Int) -> SecretBytes? {
        guard let modes = modes() else { return nil }
        // No change; but a program in the background stops here, where a signal can still end it.
        restore(modes)
        let signals = EndingSignals()
        defer { signals.release() }
        // The question comes when keys are taken: what is typed at its sight is neither shown nor dropped.
        readKeys(from: modes)
        write(question)
        defer {
            // Meanwhile the terminal may have become another program's, with its own modes.
            if isOurs, isReadingKeys(from: modes) {
                restore(modes)
                write("\n")
            }
        }
        var typed = TypedSecret(capacity: capacity)
        defer { typed.clear() }
        while let key = nextKey() {
            switch key {
            case 0x0d, 0x0a: return typed.take()
            case 0x03, 0x04, 0x1b: return nil
            case 0x7f, 0x08: typed.dropLast()
            case 0x15: typed.clear()
            case 0x00..<0x20: break
            default: typed.append(key)
            }
        }
        return nil
    }

    /// Whether this program is the one that the terminal's keys go to.
    private var isOurs: Bool { tcgetpgrp(descriptor.number) == getpgrp() }

    /// The next byte; nil when the terminal is gone, or the program is told to end.
    private func nextKey() -> UInt8? {
        while !EndingSignals.isWaiting {
            var entry = pollfd(fd: descriptor.number, events: Int16(POLLIN), revents: 0)
            let ready = poll(&entry, 1, Self.tickMilliseconds)
            guard ready != 0 else { continue }
            var byte: UInt8 = 0
            if ready > 0 { return Glibc.read(descriptor.number, &byte, 1) == 1 ? byte : nil }
            guard errno == EINTR else { return nil }
        }
        return nil
    }
}
