// SPDX-License-Identifier: Apache-2.0

// How messages are described.
//
// A message states its fields once, in the function `fields`, and that function both writes and reads the message. For
// each field it states the number, the property, the limit, and whether the field is mandatory (`field`), absent when nil
// (`optional`) or absent when it has its default value (`omitting:`):
//
//     extension Request.Hello: WireMap {
//         package static func fields<Pass: MapPass<Self> & ~Copyable>(_ map: inout Pass) throws(Pass.Failure) -> Self {
//             Self(
//                 application: try map.field(0, \.application, .text(limit: Limits.applicationBytes)),
//                 faceUsage: try map.optional(1, \.faceUsage, .text(limit: Limits.titleBytes)))
//         }
//     }
//
// The parameter is one of two passes. `FieldWriter` writes the property of a message and returns it. `MapReader` ignores the
// property and returns the value that it reads from the frame. The function is generic, and the compiler makes a
// specialised copy for each pass: no existential, key path object or table exists at run time.
//
// Fields are listed in ascending order of their numbers. Deterministic CBOR requires that order, and the reader relies on
// it: an entry is either the next field of the list or unknown. `FieldOrder` asserts the order in both passes.
//
// The type of a property fixes its form (`WireValue`). A type that leaves something open, such as the limit of a text, has
// a shape (`WireShape`), which the field names.
//
// The protocols with few messages, which other modules define, have tuples only. Tuples and shapes are therefore available
// in the whole package, maps and `WireValue` in this module.
//
// A new field is one more line here. If an old reader may ignore it, its number is 128 or above and it is optional.
// A query has no such fields: a reader that ignored a condition would find, and delete, more items.

/// One pass over the fields of a message.
package protocol FieldPass<Message>: ~Copyable {
    associatedtype Message
    /// `WireError` when reading, `Never` when writing.
    associatedtype Failure: Error

    mutating func field<Shape: WireShape>(
        _ number: UInt64, _ value: (Message) -> Shape.Value, _ shape: Shape
    ) throws(Failure) -> Shape.Value
}

/// One pass over the fields of a map, where fields can be absent.
package protocol MapPass<Message>: FieldPass, ~Copyable {
    /// A field that is absent when its value is nil.
    mutating func optional<Shape: WireShape>(
        _ number: UInt64, _ value: (Message) -> Shape.Value?, _ shape: Shape
    ) throws(Failure) -> Shape.Value?
}

/// A message, or a part of one, that is a map from field numbers to values.
package protocol WireMap: WireValue {
    /// The fields, in ascending order of their numbers.
    static func fields<Pass: MapPass<Self> & ~Copyable>(_ map: inout Pass) throws(Pass.Failure) -> Self

    /// Whether an unknown field is refused even if its number is that of an optional one.
    static var refusesUnknownFields: Bool { get }
}

extension WireMap {
    package static var refusesUnknownFields: Bool { false }
}

/// A message, or a part of one, that is an array with a fixed number of items.
package protocol WireTuple {
    /// The items, numbered from 0.
    static func fields<Pass: FieldPass<Self> & ~Copyable>(_ tuple: inout Pass) throws(Pass.Failure) -> Self
}

extension FieldPass where Self: ~Copyable {
    /// A mandatory field whose type fixes its form.
    @inline(__always) mutating func field<Value: WireValue>(
        _ number: UInt64, _ value: (Message) -> Value
    ) throws(Failure) -> Value {
        try field(number, value, OwnShape())
    }
}

extension MapPass where Self: ~Copyable {
    /// A field that is absent when its value is nil, and whose type fixes its form.
    @inline(__always) mutating func optional<Value: WireValue>(
        _ number: UInt64, _ value: (Message) -> Value?
    ) throws(Failure) -> Value? {
        try optional(number, value, OwnShape())
    }

    /// A field that is absent when it has its default value. The reader refuses a frame that contains the default value.
    @inline(__always) mutating func field<Value: WireValue & Equatable>(
        _ number: UInt64, _ value: (Message) -> Value, omitting omitted: Value
    ) throws(Failure) -> Value {
        try field(number, value, OwnShape(), omitting: omitted)
    }

    @inline(__always) mutating func field<Shape: WireShape>(
        _ number: UInt64, _ value: (Message) -> Shape.Value, _ shape: Shape, omitting omitted: Shape.Value
    ) throws(Failure) -> Shape.Value where Shape.Value: Equatable {
        func present(_ message: Message) -> Shape.Value? {
            let value = value(message)
            return value == omitted ? nil : value
        }
        return try optional(number, present, ShapeWithout(omitted, shape)) ?? omitted
    }
}

/// Asserts, in debug builds, that a field list names each number once and in ascending order.
///
/// A field is checked even if its value is nil, so encoding one message of a type checks its whole list. The tests encode
/// a sample of each type (`RoundTripTests.everyCaseHasASample`).
struct FieldOrder {
    private var least: UInt64 = 0

    /// Items of an array that were checked.
    var count: Int { Int(least) }

    @inline(__always) mutating func check(_ number: UInt64) {
        assert(number >= least, "field \(number) is listed after field \(least - 1)")
        least = number + 1
    }

    /// Checks the next item of an array, where no number may be left out.
    @inline(__always) mutating func checkItem(_ number: UInt64) {
        assert(number == least, "item \(number) is listed as item \(least)")
        least += 1
    }
}
