// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel

/// The passcode while it is typed: fixed memory that is wiped, never a string.
struct TypedPasscode {
    private var bytes = [UInt8](repeating: 0, count: Limits.passcodeBytes)
    private var count = 0

    var isEmpty: Bool { count == 0 }

    mutating func append(_ byte: UInt8) {
        guard count < bytes.count else { return }
        bytes[count] = byte
        count += 1
    }

    /// Takes back the last character, however many bytes it has in UTF-8.
    mutating func dropLast() {
        while count > 0 {
            count -= 1
            let byte = bytes[count]
            bytes[count] = 0
            if byte & 0xc0 != 0x80 { break }
        }
    }

    mutating func clear() {
        bytes.withUnsafeMutableBytes { if let base = $0.baseAddress { explicit_bzero(base, $0.count) } }
        count = 0
    }

    /// Hands the passcode over and forgets it.
    mutating func take() -> SecretBytes {
        defer { clear() }
        return SecretBytes(bytes[..<count])
    }
}
