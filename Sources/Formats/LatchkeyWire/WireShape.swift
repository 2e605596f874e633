// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

/// The form of a value in CBOR, where its type leaves something open, such as the limit of a text.
package protocol WireShape<Value> {
    associatedtype Value
    func write(_ value: Value, to writer: inout CBORWriter)
    func read(from reader: inout CBORReader) throws(WireError) -> Value
}

/// The form that the type fixes.
struct OwnShape<Value: WireValue>: WireShape {
    func write(_ value: Value, to writer: inout CBORWriter) { value.write(to: &writer) }
    func read(from reader: inout CBORReader) throws(WireError) -> Value { try Value(from: &reader) }
}

/// An unsigned number.
package struct UnsignedShape: WireShape {
    package func write(_ value: UInt64, to writer: inout CBORWriter) { writer.unsigned(value) }
    package func read(from reader: inout CBORReader) throws(WireError) -> UInt64 { try reader.unsigned() }
}

package struct BooleanShape: WireShape {
    package func write(_ value: Bool, to writer: inout CBORWriter) { writer.boolean(value) }
    package func read(from reader: inout CBORReader) throws(WireError) -> Bool { try reader.boolean() }
}

/// A number of a closed set; a number outside the set is refused.
package struct NumberShape<Value: RawRepresentable>: WireShape
where Value.RawValue: FixedWidthInteger & UnsignedInteger {
    package func write(_ value: Value, to writer: inout CBORWriter) { writer.unsigned(UInt64(value.rawValue)) }
    package func read(from reader: inout CBORReader) throws(WireError) -> Value { try reader.number() }
}

/// A shape without the value that the absence of the field represents.
struct ShapeWithout<Base: WireShape>: WireShape where Base.Value: Equatable {
    private let omitted: Base.Value
    private let base: Base

    init(_ omitted: Base.Value, _ base: Base) { (self.omitted, self.base) = (omitted, base) }

    func write(_ value: Base.Value, to writer: inout CBORWriter) { base.write(value, to: &writer) }

    func read(from reader: inout CBORReader) throws(WireError) -> Base.Value {
        let value = try base.read(from: &reader)
        // Accepting it would give one message two encodings.
        guard value != omitted else { throw .notCanonical }
        return value
    }
}

/// Text of at most `limit` bytes of UTF-8.
package struct TextShape: WireShape {
    let limit: Int
    package func write(_ value: String, to writer: inout CBORWriter) { writer.text(value) }
    package func read(from reader: inout CBORReader) throws(WireError) -> String { try reader.text(limit: limit) }
}

/// A text for people: an array of its template and its values.
package struct PhraseShape: WireShape {
    package func write(_ value: Phrase, to writer: inout CBORWriter) {
        writer.array(1 + value.arguments.count)
        for text in [value.template] + value.arguments { writer.text(Self.cut(text)) }
    }

    package func read(from reader: inout CBORReader) throws(WireError) -> Phrase {
        var texts: [String] = []
        try reader.array(limit: 1 + Limits.phraseArguments) { (reader) throws(WireError) in
            texts.append(try reader.text(limit: Limits.phraseBytes))
        }
        guard let template = texts.first else { throw .invalidValue }
        return Phrase(template: template, arguments: Array(texts.dropFirst()))
    }

    /// A value, such as a list of names, may be too long; a scalar has at most four bytes.
    private static func cut(_ text: String) -> String {
        text.utf8.count <= Limits.phraseBytes
            ? text : String(text.unicodeScalars.prefix(Limits.phraseBytes / 4).map(Character.init))
    }
}

/// At most `limit` bytes that are not secret.
package struct BytesShape: WireShape {
    let limit: Int
    package func write(_ value: [UInt8], to writer: inout CBORWriter) { writer.bytes(value) }
    package func read(from reader: inout CBORReader) throws(WireError) -> [UInt8] { try reader.bytes(limit: limit) }
}

/// Exactly `count` bytes that are not secret.
struct FixedBytesShape: WireShape {
    let count: Int
    func write(_ value: [UInt8], to writer: inout CBORWriter) { writer.bytes(value) }

    func read(from reader: inout CBORReader) throws(WireError) -> [UInt8] {
        let bytes = try reader.bytes(limit: count)
        guard bytes.count == count else { throw .invalidValue }
        return bytes
    }
}

/// At most `limit` bytes that are copied from the frame straight into memory that is wiped.
package struct SecretShape: WireShape {
    let limit: Int
    package func write(_ value: SecretBytes, to writer: inout CBORWriter) { writer.bytes(value) }

    package func read(from reader: inout CBORReader) throws(WireError) -> SecretBytes {
        try reader.secret(limit: limit)
    }
}

/// An array of at most `limit` items of one shape.
struct ListShape<Item: WireShape>: WireShape {
    let item: Item
    let limit: Int

    func write(_ value: [Item.Value], to writer: inout CBORWriter) {
        writer.array(value.count)
        for element in value { item.write(element, to: &writer) }
    }

    func read(from reader: inout CBORReader) throws(WireError) -> [Item.Value] {
        var items: [Item.Value] = []
        try reader.array(limit: limit) { (reader) throws(WireError) in items.append(try item.read(from: &reader)) }
        return items
    }
}

// MARK: - Names for field lists

extension WireShape where Self == UnsignedShape {
    package static var unsigned: UnsignedShape { UnsignedShape() }
}

extension WireShape where Self == BooleanShape {
    package static var boolean: BooleanShape { BooleanShape() }
}

extension WireShape {
    package static func number<Value>() -> Self where Self == NumberShape<Value> { NumberShape() }
}

extension WireShape where Self == TextShape {
    package static func text(limit: Int = Limits.frameBytes) -> TextShape { TextShape(limit: limit) }
}

extension WireShape where Self == PhraseShape {
    package static var phrase: PhraseShape { PhraseShape() }
}

extension WireShape where Self == BytesShape {
    package static func bytes(limit: Int) -> BytesShape { BytesShape(limit: limit) }
}

extension WireShape where Self == FixedBytesShape {
    static func bytes(count: Int) -> FixedBytesShape { FixedBytesShape(count: count) }
}

extension WireShape where Self == SecretShape {
    package static func secret(limit: Int = Limits.frameBytes) -> SecretShape { SecretShape(limit: limit) }
}

extension WireShape {
    static func list<Item>(limit: Int = Limits.entries) -> Self where Self == ListShape<OwnShape<Item>> {
        ListShape(item: OwnShape(), limit: limit)
    }

    static func list<Item>(of item: Item, limit: Int = Limits.entries) -> Self where Self == ListShape<Item> {
        ListShape(item: item, limit: limit)
    }
}
