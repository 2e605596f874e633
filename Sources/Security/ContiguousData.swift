// SPDX-License-Identifier: Apache-2.0

public import Foundation

// `as? Data` on an NSData, with which every app reads a result, copies byte by byte on Linux (swift-corelibs-foundation of
// Swift 6.3): 17 µs for 256 bytes, 60 ms for 1 MiB. Data looks for this conformance first and then copies in one go. It
// holds for the whole process; docs/compatibility.md names it. It goes when NSData has one of its own.

// swift-format-ignore: AvoidRetroactiveConformances
extension NSData: @retroactive ContiguousBytes {
    /// Lends the bytes.
    public func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        try withExtendedLifetime(self) { try body(UnsafeRawBufferPointer(start: bytes, count: length)) }
    }
}
