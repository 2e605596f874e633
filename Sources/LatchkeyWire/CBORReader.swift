// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

/// Why bytes were refused.
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
/// Whatever an encoder of this project writes reads back; whatever else arrives is refused. Nothing traps.
/// A pointer into the frame is kept, so a reader must not outlive the closure that lends the bytes.
package struct CBORReader: ~Copyable {
    private let buffer: UnsafeRawBufferPointer
    private var position = 0
    private var depth = 0

    /// Starts at the first byte.
    package init(_ buffer: UnsafeRawBufferPointer) { self.buffer = buffer }

    /// Bytes left.
    package var remaining: Int { buffer.count - position }

    /// Whether a byte string comes next.
    package var isAtBytes: Bool { position < buffer.count && buffer[position] >> 5 == 2 }

    /// Whether a text string comes next.
    package var isAtText: Bool { position < buffer.count && buffer[position] >> 5 == 3 }

    /// Whether an integer comes next.
    package var isAtInteger: Bool { position < buffer.count && buffer[position] >> 5 <= 1 }

    /// Refuses what follows the last item.
    package func finish() throws(WireError) {
        guard position == buffer.count else { throw .trailingBytes }
    }

    private mutating func byte() throws(WireError) -> UInt8 {
        guard position < buffer.count else { throw .truncated }
        defer { position += 1 }
        return buffer[position]
    }

    private mutating func head() throws(WireError) -> (major: UInt8, argument: UInt64) {
        let first = try byte()
        let major = first >> 5
        let info = first & 31
        if info < 24 { return (major, UInt64(info)) }
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
        // The shortest form is the only one: no two byte strings stand for the same message.
        let least: UInt64 = width == 1 ? 24 : width == 2 ? 0x100 : width == 4 ? 0x1_0000 : 0x1_0000_0000
        guard value >= least else { throw .notCanonical }
        return (major, value)
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
            // Found valid in one look, and then copied as it is.
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

    private mutating func container(_ wanted: UInt8, limit: Int) throws(WireError) -> Int {
        let (major, argument) = try head()
        guard major == wanted else { throw .wrongType }
        guard argument <= UInt64(limit) else { throw .tooManyEntries }
        // Every entry takes a byte at least, so a large count in a short frame is refused before any work.
        guard argument <= UInt64(remaining) else { throw .truncated }
        guard depth < Limits.nesting else { throw .tooDeep }
        return Int(argument)
    }

    /// Reads an array of exactly `count` items.
    package mutating func tuple<R>(
        _ count: Int, _ body: (inout CBORReader) throws(WireError) -> R
    ) throws(WireError) -> R {
        guard try container(4, limit: Limits.entries) == count else { throw .invalidValue }
        depth += 1
        defer { depth -= 1 }
        return try body(&self)
    }

    /// Reads an array, calling `body` for each item.
    package mutating func array(
        limit: Int = Limits.entries, _ body: (inout CBORReader) throws(WireError) -> Void
    ) throws(WireError) {
        let count = try container(4, limit: limit)
        depth += 1
        defer { depth -= 1 }
        for _ in 0..<count { try body(&self) }
    }

    /// Reads a map with unsigned keys, calling `body` for each; `body` reads the value or returns false.
    ///
    /// A key of 128 and above that `body` does not know is optional and skipped; a lower one is refused.
    package mutating func map(
        limit: Int = Limits.entries, _ body: (inout CBORReader, UInt64) throws(WireError) -> Bool
    ) throws(WireError) {
        let count = try container(5, limit: limit)
        depth += 1
        defer { depth -= 1 }
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

    /// Reads over one item of any kind, as strictly as if it were wanted.
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
