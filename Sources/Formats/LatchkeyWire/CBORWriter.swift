// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import LatchkeyModel

/// Writes deterministic CBOR (RFC 8949, section 4.2) into memory that is wiped.
///
/// Callers write map keys in ascending order; `CBORReader` refuses any other order, and the golden vectors check both.
package struct CBORWriter: ~Copyable {
    private var base: UnsafeMutableRawPointer
    private var capacity: Int
    private var count = 0

    /// Makes an empty writer with room for `capacity` bytes.
    package init(capacity: Int = 256) {
        self.capacity = max(capacity, 16)
        base = UnsafeMutableRawPointer.allocate(byteCount: self.capacity, alignment: 16)
    }

    deinit {
        explicit_bzero(base, count)
        base.deallocate()
    }

    /// Bytes written so far.
    package var byteCount: Int { count }

    /// The bytes, in memory that is wiped.
    package func finish() -> SecretBytes { SecretBytes(copying: UnsafeRawBufferPointer(start: base, count: count)) }

    /// The bytes as an array, for values that are not secret.
    package func finishBytes() -> [UInt8] { Array(UnsafeRawBufferPointer(start: base, count: count)) }

    @inline(__always) private mutating func reserve(_ extra: Int) {
        if count + extra > capacity { grow(by: extra) }
    }

    @inline(never) private mutating func grow(by extra: Int) {
        let larger = max(capacity * 2, count + extra)
        let moved = UnsafeMutableRawPointer.allocate(byteCount: larger, alignment: 16)
        moved.copyMemory(from: base, byteCount: count)
        explicit_bzero(base, capacity)
        base.deallocate()
        base = moved
        capacity = larger
    }

    @inline(__always) private mutating func append(_ byte: UInt8) {
        reserve(1)
        base.storeBytes(of: byte, toByteOffset: count, as: UInt8.self)
        count += 1
    }

    private mutating func append(_ bytes: UnsafeRawBufferPointer) {
        guard let source = bytes.baseAddress, !bytes.isEmpty else { return }
        reserve(bytes.count)
        (base + count).copyMemory(from: source, byteCount: bytes.count)
        count += bytes.count
    }

    /// The head of an item: major type and argument in the shortest form.
    @inline(__always) private mutating func head(_ major: UInt8, _ argument: UInt64) {
        if argument < 24 { append(major << 5 | UInt8(argument)) } else { longHead(major << 5, argument) }
    }

    private mutating func longHead(_ type: UInt8, _ argument: UInt64) {
        switch argument {
        case 0...0xff: big(type | 24, argument, bytes: 1)
        case 0...0xffff: big(type | 25, argument, bytes: 2)
        case 0...0xffff_ffff: big(type | 26, argument, bytes: 4)
        default: big(type | 27, argument, bytes: 8)
        }
    }

    @inline(__always) private mutating func big(_ first: UInt8, _ value: UInt64, bytes: UInt64) {
        append(first)
        for index in (0..<bytes).reversed() { append(UInt8(truncatingIfNeeded: value >> (index * 8))) }
    }

    // MARK: - Items

    package mutating func unsigned(_ value: UInt64) { head(0, value) }

    package mutating func integer(_ value: Int64) {
        if value >= 0 { head(0, UInt64(value)) } else { head(1, ~UInt64(bitPattern: value)) }
    }

    package mutating func bytes(_ value: [UInt8]) {
        head(2, UInt64(value.count))
        value.withUnsafeBytes { append($0) }
    }

    package mutating func bytes(_ value: SecretBytes) {
        head(2, UInt64(value.count))
        value.withBytes { append($0) }
    }

    /// The 16 bytes of a context, without an array for them.
    mutating func contextHandle(_ handle: ContextHandle) {
        head(2, 16)
        withUnsafeBytes(of: (handle.high.bigEndian, handle.low.bigEndian)) { append($0) }
    }

    package mutating func text(_ value: String) {
        var copy = value
        copy.withUTF8 { utf8 in
            head(3, UInt64(utf8.count))
            append(UnsafeRawBufferPointer(utf8))
        }
    }

    package mutating func array(_ count: Int) { head(4, UInt64(count)) }

    package mutating func map(_ count: Int) { head(5, UInt64(count)) }

    /// Reserves one byte for the head of a map or an array whose count is not known yet, and returns its position.
    /// `endMap` or `endArray` writes the head, so the count is at most 23.
    mutating func beginContainer() -> Int {
        append(0)
        return count - 1
    }

    mutating func endArray(at start: Int, count: Int) { end(4, at: start, count: count) }

    mutating func endMap(at start: Int, count: Int) { end(5, at: start, count: count) }

    private mutating func end(_ major: UInt8, at start: Int, count: Int) {
        assert(count < 24, "a field list with \(count) fields needs a head of two bytes")
        base.storeBytes(of: major << 5 | UInt8(truncatingIfNeeded: count), toByteOffset: start, as: UInt8.self)
    }

    package mutating func boolean(_ value: Bool) { append(value ? 0xf5 : 0xf4) }
}
