// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

/// The reason why bytes were refused.
package enum WireError: Error, Equatable, Sendable {
    case truncated
    case trailingBytes
    case notCanonical
    case wrongType
    case unsupportedItem
    case invalidText
    case unsortedKeys
    case tooDeep
    case tooManyEntries
    case tooLong
    case unknownKey(UInt64)
    case missingKey(UInt64)
    case invalidValue
    case unsupportedVersion
    case unknownMessage
}

/// Reads deterministic CBOR strictly: shortest heads, definite lengths, ascending keys, valid UTF-8, bounded depth.
///
/// Each value has one accepted form, the one that `CBORWriter` writes; every other form is refused. No input traps.
/// The reader holds a pointer into the frame, so it must not outlive the closure that provides the bytes.
package struct CBORReader: ~Copyable {
    private let buffer: UnsafeRawBufferPointer
    private var position = 0
    private var depth = 0

    /// A reader at the first byte.
    package init(_ buffer: UnsafeRawBufferPointer) { self.buffer = buffer }

    /// Bytes that are not read yet.
    package var remaining: Int { buffer.count - position }

    /// Whether a byte string comes next.
    package var isAtBytes: Bool { position < buffer.count && buffer[position] >> 5 == 2 }

    /// Whether a text string comes next.
    package var isAtText: Bool { position < buffer.count && buffer[position] >> 5 == 3 }

    /// Whether an integer comes next.
    package var isAtInteger: Bool { position < buffer.count && buffer[position] >> 5 <= 1 }

    /// Whether an array comes next.
    package var isAtArray: Bool { position < buffer.count && buffer[position] >> 5 == 4 }

    /// Refuses bytes after the last item.
    package func finish() throws(WireError) { guard position == buffer.count else { throw .trailingBytes } }

    private mutating func byte() throws(WireError) -> UInt8 {
        guard position < buffer.count else { throw .truncated }
        defer { position += 1 }
        return buffer[position]
    }

    @inline(__always) private mutating func head() throws(WireError) -> (major: UInt8, argument: UInt64) {
        let first = try byte()
        let info = first & 31
        return (first >> 5, info < 24 ? UInt64(info) : try longArgument(info))
    }

    private mutating func longArgument(_ info: UInt8) throws(WireError) -> UInt64 {
        let width: Int
        switch info {
        case 24: width = 1
        case 25: width = 2
        case 26: width = 4
        case 27: width = 8
        default: throw .notCanonical
        }
        var value: UInt64 = 0
        for _ in 0..<width { value = value << 8 | UInt64(try byte()) }
        // A longer form would give one message two encodings.
        let least: UInt64 = width == 1 ? 24 : width == 2 ? 0x100 : width == 4 ? 0x1_0000 : 0x1_0000_0000
        guard value >= least else { throw .notCanonical }
        return value
    }

    private mutating func take(_ count: UInt64, limit: Int) throws(WireError) -> UnsafeRawBufferPointer {
        guard count <= UInt64(limit) else { throw .tooLong }
        guard count <= UInt64(remaining) else { throw .truncated }
        let slice = UnsafeRawBufferPointer(rebasing: buffer[position..<position + Int(count)])
        position += Int(count)
        return slice
    }

    // MARK: - Items

    package mutating func unsigned() throws(WireError) -> UInt64 {
        let (major, argument) = try head()
        guard major == 0 else { throw .wrongType }
        return argument
    }

    package mutating func integer() throws(WireError) -> Int64 {
        let (major, argument) = try head()
        guard major < 2 else { throw .wrongType }
        guard argument <= UInt64(Int64.max) else { throw .invalidValue }
        return major == 0 ? Int64(argument) : ~Int64(argument)
    }

    package mutating func boolean() throws(WireError) -> Bool {
        switch try byte() {
        case 0xf4: return false
        case 0xf5: return true
        default: throw .wrongType
        }
    }

    package mutating func bytes(limit: Int = Limits.frameBytes) throws(WireError) -> [UInt8] {
        Array(try slice(major: 2, limit: limit))
    }

    package mutating func secret(limit: Int = Limits.frameBytes) throws(WireError) -> SecretBytes {
        SecretBytes(copying: try slice(major: 2, limit: limit))
    }

    package mutating func text(limit: Int = Limits.frameBytes) throws(WireError) -> String {
        let utf8 = try slice(major: 3, limit: limit)
        do {
            // Validated once, then copied without a second validation.
            return String(copying: try UTF8Span(validating: utf8.bindMemory(to: UInt8.self).span))
        } catch {
            throw .invalidText
        }
    }

    private mutating func slice(major wanted: UInt8, limit: Int) throws(WireError) -> UnsafeRawBufferPointer {
        let (major, argument) = try head()
        guard major == wanted else { throw .wrongType }
        return try take(argument, limit: limit)
    }

    private mutating func open(_ wanted: UInt8, limit: Int) throws(WireError) -> Int {
        let (major, argument) = try head()
        guard major == wanted else { throw .wrongType }
        guard argument <= UInt64(limit) else { throw .tooManyEntries }
        // Every entry has at least one byte, so a large count in a short frame is refused before memory is reserved.
        guard argument <= UInt64(remaining) else { throw .truncated }
        guard depth < Limits.nesting else { throw .tooDeep }
        depth += 1
        return Int(argument)
    }

    /// Reads the head of an array and returns the number of its items; `close` ends the array.
    mutating func openArray(limit: Int = Limits.entries) throws(WireError) -> Int { try open(4, limit: limit) }

    /// Reads the head of a map and returns the number of its entries; `close` ends the map.
    mutating func openMap(limit: Int = Limits.entries) throws(WireError) -> Int { try open(5, limit: limit) }

    /// Ends an array or a map whose items were read.
    mutating func close() { depth -= 1 }

    /// Reads an array of exactly `count` items.
    package mutating func tuple<R>(
        _ count: Int, _ body: (inout CBORReader) throws(WireError) -> R
    ) throws(WireError) -> R {
        guard try openArray() == count else { throw .invalidValue }
        defer { close() }
        return try body(&self)
    }

    /// Reads an array, calling `body` for each item.
    package mutating func array(
        limit: Int = Limits.entries, _ body: (inout CBORReader) throws(WireError) -> Void
    ) throws(WireError) {
        let count = try openArray(limit: limit)
        defer { close() }
        for _ in 0..<count { try body(&self) }
    }

    /// Reads a map with unsigned keys, calling `body` for each; `body` reads the value, or returns false for an unknown key.
    ///
    /// An unknown key of 128 and above is optional and skipped; a lower one is refused.
    package mutating func map(
        limit: Int = Limits.entries, _ body: (inout CBORReader, UInt64) throws(WireError) -> Bool
    ) throws(WireError) {
        let count = try openMap(limit: limit)
        defer { close() }
        var previous: UInt64?
        for _ in 0..<count {
            let key = try unsigned()
            if let previous, key <= previous { throw .unsortedKeys }
            previous = key
            if try !body(&self, key) {
                guard key >= 128 else { throw .unknownKey(key) }
                try skip()
            }
        }
    }

    /// Skips one item of any kind, with the same checks as an item that is read.
    package mutating func skip() throws(WireError) {
        guard position < buffer.count else { throw .truncated }
        switch buffer[position] >> 5 {
        case 0: _ = try unsigned()
        case 1: _ = try integer()
        case 2: _ = try slice(major: 2, limit: Limits.frameBytes)
        case 3: _ = try text()
        case 4: try array { (reader) throws(WireError) in try reader.skip() }
        case 5:
            try map { (reader, _) throws(WireError) in
                try reader.skip()
                return true
            }
        case 7: _ = try boolean()
        default: throw .unsupportedItem
        }
    }
}
