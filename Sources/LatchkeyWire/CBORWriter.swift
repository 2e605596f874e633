// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import LatchkeyModel

/// Writes deterministic CBOR (RFC 8949, section 4.2) into memory that is wiped.
///
/// Callers give map keys in ascending order; `CBORReader` refuses anything else, and the golden vectors bind both.
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
        explicit_bzero(base, capacity)
        base.deallocate()
    }

    /// Bytes written so far.
    package var byteCount: Int { count }

    /// The bytes as a wiping value.
    package func finish() -> SecretBytes {
        SecretBytes(copying: UnsafeRawBufferPointer(start: base, count: count))
    }

    /// The bytes as an array; for values that are no secret.
    package func finishBytes() -> [UInt8] { Array(UnsafeRawBufferPointer(start: base, count: count)) }

    private mutating func reserve(_ extra: Int) {
        guard count + extra > capacity else { return }
        let larger = max(capacity * 2, count + extra)
        let moved = UnsafeMutableRawPointer.allocate(byteCount: larger, alignment: 16)
        moved.copyMemory(from: base, byteCount: count)
        explicit_bzero(base, capacity)
        base.deallocate()
        base = moved
        capacity = larger
    }

    private mutating func append(_ byte: UInt8) {
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
    private mutating func head(_ major: UInt8, _ argument: UInt64) {
        let type = major << 5
        switch argument {
        case 0..<24: append(type | UInt8(argument))
        case 24...0xff: big(type | 24, argument, bytes: 1)
        case 0x100...0xffff: big(type | 25, argument, bytes: 2)
        case 0x1_0000...0xffff_ffff: big(type | 26, argument, bytes: 4)
        default: big(type | 27, argument, bytes: 8)
        }
    }

    private mutating func big(_ first: UInt8, _ value: UInt64, bytes: UInt64) {
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

    package mutating func text(_ value: String) {
        var copy = value
        copy.withUTF8 { utf8 in
            head(3, UInt64(utf8.count))
            append(UnsafeRawBufferPointer(utf8))
        }
    }

    package mutating func array(_ count: Int) { head(4, UInt64(count)) }

    package mutating func map(_ count: Int) { head(5, UInt64(count)) }

    package mutating func boolean(_ value: Bool) { append(value ? 0xf5 : 0xf4) }
}
