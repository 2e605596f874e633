// SPDX-License-Identifier: Apache-2.0

/// Reads CBOR in the canonical form of CTAP2 (CTAP 2.1, section 8), and refuses every other form: each value has exactly
/// one accepted encoding. Floating-point numbers, tags, indefinite lengths and undefined values are no part of it.
package struct CBORReader {
    /// Why bytes are refused.
    package enum Failure: Error, Equatable, Sendable {
        /// Not CBOR, cut off, followed by other bytes, or of a kind that is not accepted.
        case malformed
        /// A longer encoding than necessary, or keys in another order, which includes a key that appears twice.
        case notCanonical
        case tooDeep
        case tooMany
    }

    /// Maximum nesting of arrays and maps, the limit of CTAP2: reading is recursive, and the stack is finite.
    package static let depthLimit = 4
    /// The most values in one text.
    package static let valueLimit = 256

    private let bytes: ArraySlice<UInt8>
    private var position: Int
    private var valueCount = 0

    private init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        position = bytes.startIndex
    }

    /// Reads one value, which is all of the bytes.
    package static func read(_ bytes: [UInt8]) throws(Failure) -> CBORValue {
        let (value, rest) = try readFirst(bytes[...])
        guard rest.isEmpty else { throw .malformed }
        return value
    }

    /// Reads one value, and returns what follows it too.
    package static func readFirst(
        _ bytes: ArraySlice<UInt8>
    ) throws(Failure) -> (value: CBORValue, rest: ArraySlice<UInt8>) {
        var reader = CBORReader(bytes)
        let value = try reader.value(depth: 0)
        return (value, reader.bytes[reader.position...])
    }

    private mutating func take(_ count: UInt64) throws(Failure) -> ArraySlice<UInt8> {
        // Compared before it is converted: a length can be as high as 2^64 - 1.
        guard count <= UInt64(bytes.endIndex - position) else { throw .malformed }
        let start = position
        position += Int(count)
        return bytes[start..<position]
    }

    /// The major type, and the number that follows it in its shortest form.
    private mutating func head() throws(Failure) -> (major: UInt8, number: UInt64) {
        guard let first = try take(1).first else { throw .malformed }
        let (major, information) = (first >> 5, first & 31)
        guard information >= 24 else { return (major, UInt64(information)) }
        // 28 to 30 are reserved, and 31 is an indefinite length.
        guard information <= 27 else { throw .malformed }
        let size = UInt64(1) << (information - 24)
        let number = try take(size).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        // Simple values and floating-point numbers, which have a form of their own.
        guard major != 7 else { throw .malformed }
        let least: UInt64 = size == 1 ? 24 : 1 << (size * 4)
        guard number >= least else { throw .notCanonical }
        return (major, number)
    }

    private mutating func value(depth: Int) throws(Failure) -> CBORValue {
        guard valueCount < Self.valueLimit else { throw .tooMany }
        valueCount += 1
        let (major, number) = try head()
        switch major {
        case 0, 1:
            guard let magnitude = Int64(exactly: number) else { throw .malformed }
            return .integer(major == 0 ? magnitude : -1 - magnitude)
        case 2: return .bytes(Array(try take(number)))
        case 3:
            guard let text = String(validating: try take(number), as: UTF8.self) else { throw .malformed }
            return .text(text)
        case 4: return try array(number, depth)
        case 5: return try map(number, depth)
        case 7:
            switch number {
            case 20: return .bool(false)
            case 21: return .bool(true)
            case 22: return .null
            default: throw .malformed
            }
        default: throw .malformed
        }
    }

    private mutating func array(_ count: UInt64, _ depth: Int) throws(Failure) -> CBORValue {
        guard depth < Self.depthLimit else { throw .tooDeep }
        guard count <= UInt64(Self.valueLimit) else { throw .tooMany }
        var values: [CBORValue] = []
        for _ in 0..<count { values.append(try value(depth: depth + 1)) }
        return .array(values)
    }

    private mutating func map(_ count: UInt64, _ depth: Int) throws(Failure) -> CBORValue {
        guard depth < Self.depthLimit else { throw .tooDeep }
        guard count <= UInt64(Self.valueLimit) else { throw .tooMany }
        var entries: [CBORValue.Entry] = []
        var before: ArraySlice<UInt8> = []
        for _ in 0..<count {
            let start = position
            let key = try value(depth: depth + 1)
            switch key {
            case .integer, .text: break
            default: throw .malformed
            }
            let encoded = bytes[start..<position]
            guard before.isEmpty || Self.isOrdered(before, encoded) else { throw .notCanonical }
            before = encoded
            entries.append(CBORValue.Entry(key: key, value: try value(depth: depth + 1)))
        }
        return .map(entries)
    }

    /// Whether a key comes before another one: by major type, then by length, then by bytes.
    private static func isOrdered(_ left: ArraySlice<UInt8>, _ right: ArraySlice<UInt8>) -> Bool {
        guard let first = left.first, let second = right.first else { return false }
        if first >> 5 != second >> 5 { return first >> 5 < second >> 5 }
        if left.count != right.count { return left.count < right.count }
        return left.lexicographicallyPrecedes(right)
    }
}
