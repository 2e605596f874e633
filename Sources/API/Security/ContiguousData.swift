// SPDX-License-Identifier: Apache-2.0

public import Foundation

// Apps read results with `as? Data`, which on Linux copies an NSData byte by byte (swift-corelibs-foundation of
// Swift 6.3): 17 µs for 256 bytes, 60 ms for 1 MiB. With this conformance Data copies all bytes at once. It applies to
// the whole process and is listed in docs/reference/compatibility.md. Remove it when NSData conforms to ContiguousBytes
// upstream.

// swift-format-ignore: AvoidRetroactiveConformances
extension NSData: @retroactive ContiguousBytes {
    /// Calls a closure with the bytes of the data, without a copy.
    ///
    /// - Parameter body: receives the bytes; the pointer is valid only until the closure returns.
    /// - Returns: the closure's result.
    /// - Throws: the closure's error.
    ///
    /// Apple: `ContiguousBytes.withUnsafeBytes(_:)`.
    public func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        try withExtendedLifetime(self) { try body(UnsafeRawBufferPointer(start: bytes, count: length)) }
    }
}
