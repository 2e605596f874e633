// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel

/// A value whose type fixes its form in CBOR.
protocol WireValue {
    func write(to writer: inout CBORWriter)
    init(from reader: inout CBORReader) throws(WireError)
}

extension UInt64: WireValue {
    func write(to writer: inout CBORWriter) { writer.unsigned(self) }
    init(from reader: inout CBORReader) throws(WireError) { self = try reader.unsigned() }
}

/// A number: 0 for all items.
extension MatchLimit: WireValue {
    func write(to writer: inout CBORWriter) { writer.unsigned(maximum ?? 0) }
    init(from reader: inout CBORReader) throws(WireError) { self = MatchLimit(try reader.unsigned()) ?? .all }
}

extension Int64: WireValue {
    func write(to writer: inout CBORWriter) { writer.integer(self) }
    init(from reader: inout CBORReader) throws(WireError) { self = try reader.integer() }
}

extension Int32: WireValue {
    func write(to writer: inout CBORWriter) { writer.integer(Int64(self)) }
    init(from reader: inout CBORReader) throws(WireError) {
        guard let value = Int32(exactly: try reader.integer()) else { throw .invalidValue }
        self = value
    }
}

extension Bool: WireValue {
    func write(to writer: inout CBORWriter) { writer.boolean(self) }
    init(from reader: inout CBORReader) throws(WireError) { self = try reader.boolean() }
}

extension ContextHandle: WireValue {
    func write(to writer: inout CBORWriter) { writer.contextHandle(self) }
    init(from reader: inout CBORReader) throws(WireError) { self = try reader.contextHandle() }
}

extension Attributes: WireValue {
    func write(to writer: inout CBORWriter) { writer.attributes(self) }
    init(from reader: inout CBORReader) throws(WireError) { self = try reader.attributes() }
}

// MARK: - Reading by the expected type

extension CBORReader {
    /// A value of the type that the caller expects.
    @inline(__always) mutating func value<Value: WireValue>() throws(WireError) -> Value { try Value(from: &self) }

    /// A value of that shape.
    @inline(__always) package mutating func value<Shape: WireShape>(_ shape: Shape) throws(WireError) -> Shape.Value {
        try shape.read(from: &self)
    }

    /// An empty map, and then `result`.
    @inline(__always) package mutating func noFields<Result>(_ result: Result) throws(WireError) -> Result {
        try map { (_, _) throws(WireError) in false }
        return result
    }
}

// MARK: - Flags

// Not generic: generic code calls another module's conformance to `OptionSet` through its witness table.

extension AccessConstraints: WireValue {
    func write(to writer: inout CBORWriter) { writer.unsigned(UInt64(rawValue)) }

    init(from reader: inout CBORReader) throws(WireError) {
        self.init(rawValue: try reader.flags(known: Self.known.rawValue))
    }
}

extension Returns: WireValue {
    func write(to writer: inout CBORWriter) { writer.unsigned(UInt64(rawValue)) }

    init(from reader: inout CBORReader) throws(WireError) {
        self.init(rawValue: try reader.flags(known: Self.known.rawValue))
    }
}

extension CBORReader {
    /// Flags in one unsigned integer; an unknown flag is refused.
    fileprivate mutating func flags<Bits: FixedWidthInteger>(known: Bits) throws(WireError) -> Bits {
        guard let bits = Bits(exactly: try unsigned()), bits & ~known == 0 else { throw .invalidValue }
        return bits
    }
}
