// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Immutable bytes whose memory is overwritten when the last reference is released.
///
/// Holds every secret, key, passcode and wire frame of Latchkey. It is deliberately neither `CustomStringConvertible`
/// nor `Codable`, so that no log line or error text can contain its bytes. Values of equal length are compared in
/// constant time.
package final class SecretBytes: @unchecked Sendable {
    // Immutable after `init` returns, so sharing between threads is safe.
    private let base: UnsafeMutableRawPointer

    /// Number of bytes.
    package let count: Int

    /// Allocates `count` zero bytes and passes them to `fill`, the only code that writes them.
    package init<E: Error>(count: Int, fill: (UnsafeMutableRawBufferPointer) throws(E) -> Void) throws(E) {
        self.count = count
        base = SecretMemory.allocate(count)
        try fill(UnsafeMutableRawBufferPointer(start: base, count: count))
    }

    /// Copies `bytes`.
    ///
    /// Takes a collection, not a sequence: its count is known in advance, so no intermediate copy is left in memory.
    package convenience init(_ bytes: some Collection<UInt8>) {
        self.init(count: bytes.count) { $0.copyBytes(from: bytes) }
    }

    /// Copies a region of memory.
    package convenience init(copying source: UnsafeRawBufferPointer) {
        self.init(count: source.count) { $0.copyMemory(from: source) }
    }

    deinit { SecretMemory.free(base, count) }

    /// Calls `body` with the bytes; the pointer must not escape the closure.
    package func withBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
        try body(UnsafeRawBufferPointer(start: base, count: count))
    }

    /// Returns a copy that is not overwritten on release, for values that leave Latchkey.
    package func copyBytes() -> [UInt8] { withBytes { Array($0) } }
}

extension SecretBytes: Equatable {
    /// Compares both values in a time that depends only on their lengths.
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

/// Overwrites and empties an array of bytes; for buffers that a C library filled.
package func wipe(_ bytes: inout [UInt8]) {
    bytes.withUnsafeMutableBytes { if let base = $0.baseAddress { explicit_bzero(base, $0.count) } }
    bytes.removeAll(keepingCapacity: false)
}
