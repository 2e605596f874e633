// SPDX-License-Identifier: Apache-2.0

/// Writes the fields of a map with their numbers, or the items of an array with a fixed number of items.
struct FieldWriter<Message>: MapPass, ~Copyable {
    typealias Failure = Never

    /// A copy of the message would retain each of its properties. The pointer is valid for the closure in `write`.
    private let message: UnsafePointer<Message>
    private let isMap: Bool
    private var writer: CBORWriter
    private let start: Int
    private var order = FieldOrder()
    private var count = 0

    @inline(__always) init(_ message: UnsafePointer<Message>, isMap: Bool, to writer: consuming CBORWriter) {
        self.message = message
        self.isMap = isMap
        start = writer.beginContainer()
        self.writer = writer
    }

    @inline(__always) mutating func field<Shape: WireShape>(
        _ number: UInt64, _ value: (Message) -> Shape.Value, _ shape: Shape
    ) -> Shape.Value {
        if isMap { order.check(number) } else { order.checkItem(number) }
        let value = value(message.pointee)
        write(number, value, shape)
        return consume value
    }

    @inline(__always) mutating func optional<Shape: WireShape>(
        _ number: UInt64, _ value: (Message) -> Shape.Value?, _ shape: Shape
    ) -> Shape.Value? {
        order.check(number)
        let value = value(message.pointee)
        if let value { write(number, value, shape) }
        return consume value
    }

    @inline(__always) private mutating func write<Shape: WireShape>(
        _ number: UInt64, _ value: Shape.Value, _ shape: Shape
    ) {
        if isMap { writer.unsigned(number) }
        shape.write(value, to: &writer)
        count += 1
    }

    /// Completes the head of the map or the array and gives the writer back.
    consuming func release() -> CBORWriter {
        if isMap { writer.endMap(at: start, count: count) } else { writer.endArray(at: start, count: count) }
        return writer
    }
}

extension WireMap {
    package func write(to writer: inout CBORWriter) {
        withUnsafePointer(to: self) { message in
            var map = FieldWriter(message, isMap: true, to: writer)
            _ = Self.fields(&map)
            writer = map.release()
        }
    }
}

extension WireTuple {
    package func write(to writer: inout CBORWriter) {
        withUnsafePointer(to: self) { message in
            var tuple = FieldWriter(message, isMap: false, to: writer)
            _ = Self.fields(&tuple)
            writer = tuple.release()
        }
    }
}
