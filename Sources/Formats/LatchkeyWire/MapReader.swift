// SPDX-License-Identifier: Apache-2.0

/// Reads the fields of a map.
///
/// Keys ascend in the frame and in the field list, so a field is either the next entry or absent. An unknown key of 128 and
/// above is optional and skipped; a lower one is refused.
struct MapReader<Message>: MapPass, ~Copyable {
    typealias Failure = WireError

    private var reader: CBORReader
    private var order = FieldOrder()
    private var entriesLeft: Int
    private var key: UInt64?
    /// Whether the value of `key` is not read yet.
    private var isAtValue = false
    /// Whether an unknown key of 128 and above is refused, too.
    private let refusesUnknown: Bool

    init(_ reader: consuming CBORReader, entries: Int, refusesUnknown: Bool) {
        self.reader = reader
        entriesLeft = entries
        self.refusesUnknown = refusesUnknown
    }

    @inline(__always) mutating func field<Shape: WireShape>(
        _ number: UInt64, _ value: (Message) -> Shape.Value, _ shape: Shape
    ) throws(WireError) -> Shape.Value {
        order.check(number)
        guard try advance(to: number) else { throw try refusal(missing: number) }
        return try shape.read(from: &reader)
    }

    @inline(__always) mutating func optional<Shape: WireShape>(
        _ number: UInt64, _ value: (Message) -> Shape.Value?, _ shape: Shape
    ) throws(WireError) -> Shape.Value? {
        order.check(number)
        return try advance(to: number) ? try shape.read(from: &reader) : nil
    }

    /// Skips or refuses the entries after the last field of the list.
    mutating func finish() throws(WireError) { _ = try advance(to: nil) }

    /// Ends the map and gives the reader back.
    consuming func release() -> CBORReader {
        reader.close()
        return reader
    }

    /// Reads keys up to `number`, or to the end of the map. Returns whether the value of `number` is next.
    private mutating func advance(to number: UInt64?) throws(WireError) -> Bool {
        while let key = try peekKey() {
            if let number, key > number { return false }
            isAtValue = false
            if key == number { return true }
            guard key >= 128, !refusesUnknown else { throw .unknownKey(key) }
            try reader.skip()
        }
        return false
    }

    /// The key of the next entry; nil at the end of the map.
    @inline(__always) private mutating func peekKey() throws(WireError) -> UInt64? {
        if isAtValue { return key }
        guard entriesLeft > 0 else { return nil }
        let next = try reader.unsigned()
        if let key, next <= key { throw .unsortedKeys }
        (key, isAtValue) = (next, true)
        entriesLeft -= 1
        return next
    }

    /// The reason for refusing a map without a mandatory field. If the rest of the map is malformed or out of order, that is
    /// the reason.
    private mutating func refusal(missing number: UInt64) throws(WireError) -> WireError {
        while try peekKey() != nil {
            isAtValue = false
            try reader.skip()
        }
        return .missingKey(number)
    }
}

extension WireMap {
    package init(from reader: inout CBORReader) throws(WireError) {
        let entries = try reader.openMap()
        var map = MapReader<Self>(reader, entries: entries, refusesUnknown: Self.refusesUnknownFields)
        do throws(WireError) {
            self = try Self.fields(&map)
            try map.finish()
            reader = map.release()
        } catch {
            reader = map.release()
            throw error
        }
    }
}

/// Reads the items of an array with a fixed number of items.
struct TupleReader<Message>: FieldPass, ~Copyable {
    typealias Failure = WireError

    private var reader: CBORReader
    private var order = FieldOrder()
    private let count: Int

    init(_ reader: consuming CBORReader, count: Int) {
        self.reader = reader
        self.count = count
    }

    @inline(__always) mutating func field<Shape: WireShape>(
        _ number: UInt64, _ value: (Message) -> Shape.Value, _ shape: Shape
    ) throws(WireError) -> Shape.Value {
        guard order.count < count else { throw .invalidValue }
        order.checkItem(number)
        return try shape.read(from: &reader)
    }

    /// Refuses items after the last one of the list.
    func finish() throws(WireError) { guard order.count == count else { throw .invalidValue } }

    /// Ends the array and gives the reader back.
    consuming func release() -> CBORReader {
        reader.close()
        return reader
    }
}

extension WireTuple {
    package init(from reader: inout CBORReader) throws(WireError) {
        let count = try reader.openArray()
        var tuple = TupleReader<Self>(reader, count: count)
        do throws(WireError) {
            self = try Self.fields(&tuple)
            try tuple.finish()
            reader = tuple.release()
        } catch {
            reader = tuple.release()
            throw error
        }
    }
}
