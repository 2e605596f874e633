// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

/// A value whose type fixes its form in CBOR.
package protocol WireValue {
    func write(to writer: inout CBORWriter)
    init(from reader: inout CBORReader) throws(WireError)
}

extension UInt64: WireValue {
    package func write(to writer: inout CBORWriter) { writer.unsigned(self) }
    package init(from reader: inout CBORReader) throws(WireError) { self = try reader.unsigned() }
}

/// A number: 0 for all items.
extension MatchLimit: WireValue {
    package func write(to writer: inout CBORWriter) { writer.unsigned(maximum ?? 0) }
    package init(from reader: inout CBORReader) throws(WireError) { self = MatchLimit(try reader.unsigned()) ?? .all }
}

extension Int64: WireValue {
    package func write(to writer: inout CBORWriter) { writer.integer(self) }
    package init(from reader: inout CBORReader) throws(WireError) { self = try reader.integer() }
}

extension Int32: WireValue {
    package func write(to writer: inout CBORWriter) { writer.integer(Int64(self)) }
    package init(from reader: inout CBORReader) throws(WireError) {
        guard let value = Int32(exactly: try reader.integer()) else { throw .invalidValue }
        self = value
    }
}

extension Bool: WireValue {
    package func write(to writer: inout CBORWriter) { writer.boolean(self) }
    package init(from reader: inout CBORReader) throws(WireError) { self = try reader.boolean() }
}

extension ContextHandle: WireValue {
    package func write(to writer: inout CBORWriter) { writer.contextHandle(self) }
    package init(from reader: inout CBORReader) throws(WireError) { self = try reader.contextHandle() }
}

extension Attributes: WireValue {
    package func write(to writer: inout CBORWriter) { writer.attributes(self) }
    package init(from reader: inout CBORReader) throws(WireError) { self = try reader.attributes() }
}

// MARK: - Reading by the expected type

extension CBORReader {
    /// A value of the type that the caller expects.
    @inline(__always) mutating func value<Value: WireValue>() throws(WireError) -> Value { try Value(from: &self) }

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
    package func write(to writer: inout CBORWriter) { writer.unsigned(UInt64(rawValue)) }

    package init(from reader: inout CBORReader) throws(WireError) {
        self.init(rawValue: try reader.flags(known: Self.known.rawValue))
    }
}

extension Returns: WireValue {
    package func write(to writer: inout CBORWriter) { writer.unsigned(UInt64(rawValue)) }

    package init(from reader: inout CBORReader) throws(WireError) {
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

/// A closed set of numbers; a number outside the set is refused.
protocol ClosedSet: WireValue, RawRepresentable where RawValue: FixedWidthInteger & UnsignedInteger {}

extension ClosedSet {
    package func write(to writer: inout CBORWriter) { writer.unsigned(UInt64(rawValue)) }
    package init(from reader: inout CBORReader) throws(WireError) { self = try reader.number() }
}

extension Accessibility: ClosedSet {}
extension AuditEvent: ClosedSet {}
extension UntrustedSource: ClosedSet {}
extension AuthenticationMethod: ClosedSet {}
extension BiometryKind: ClosedSet {}
extension EnclaveDevice: ClosedSet {}
extension EnclaveKind: ClosedSet {}
extension KeyUses: ClosedSet {}
extension Finding.Kind: ClosedSet {}
extension ItemClass: ClosedSet {}
extension PasscodeDemand.Part: ClosedSet {}
extension PasscodeKind: ClosedSet {}
extension Policy: ClosedSet {}
extension SkipReason: ClosedSet {}
extension Status: ClosedSet {}
extension Tier: ClosedSet {}
extension TriedProof: ClosedSet {}
