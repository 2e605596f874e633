// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Bytes that are overwritten when the last reference goes away.
///
/// Every secret, key, passcode and wire frame of Latchkey lives in this type. It is deliberately not
/// `CustomStringConvertible` and not `Codable`, so that no log line or error text can show what it holds, and
/// its comparison takes the same time wherever two values differ.
///
/// The memory is written only while the value is being made and is immutable afterwards.
package final class SecretBytes: @unchecked Sendable {
    // Immutable after `init` returns, so sharing between threads is safe.
    private let base: UnsafeMutableRawPointer

    /// Number of bytes.
    package let count: Int

    /// Makes `count` bytes and lets `fill` write them.
    package init<E: Error>(count: Int, fill: (UnsafeMutableRawBufferPointer) throws(E) -> Void) throws(E) {
        self.count = count
        base = SecretMemory.allocate(count)
        try fill(UnsafeMutableRawBufferPointer(start: base, count: count))
    }

    /// Copies `bytes`.
    ///
    /// A collection, whose count is known: no copy in between is left behind.
    package convenience init(_ bytes: some Collection<UInt8>) {
        self.init(count: bytes.count) { $0.copyBytes(from: bytes) }
    }

    /// Copies a region of memory.
    package convenience init(copying source: UnsafeRawBufferPointer) {
        self.init(count: source.count) { $0.copyMemory(from: source) }
    }

    deinit { SecretMemory.free(base, count) }

    /// Lends the bytes to `body`; the pointer must not leave it.
    package func withBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
        try body(UnsafeRawBufferPointer(start: base, count: count))
    }

    /// A copy outside the wiping type, for values that leave Latchkey.
    package func copyBytes() -> [UInt8] { withBytes { Array($0) } }
}

extension SecretBytes: Equatable {
    /// Compares in a time that depends on the lengths only.
    package static func == (left: SecretBytes, right: SecretBytes) -> Bool {
        guard left.count == right.count else { return false }
        return left.withBytes { a in
            right.withBytes { b in
                var difference: UInt8 = 0
                for index in 0..<a.count { difference |= a[index] ^ b[index] }
                return difference == 0
            }
        }
    }
}

/// Overwrites an array of bytes in place; for buffers a C library had to fill.
package func wipe(_ bytes: inout [UInt8]) {
    bytes.withUnsafeMutableBytes { if let base = $0.baseAddress { explicit_bzero(base, $0.count) } }
    bytes.removeAll(keepingCapacity: false)
}
