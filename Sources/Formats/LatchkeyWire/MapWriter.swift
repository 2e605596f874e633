// SPDX-License-Identifier: Apache-2.0

/// Writes the fields of a map.
struct MapWriter<Message>: MapPass, ~Copyable {
    typealias Failure = Never

    /// A copy of the message would retain each of its properties. The pointer is valid for the closure in `WireMap.write`.
    private let message: UnsafePointer<Message>
    private var writer: CBORWriter
    private let start: Int
    private var order = FieldOrder()
    private var count = 0

    @inline(__always) init(_ message: UnsafePointer<Message>, to writer: consuming CBORWriter) {
        self.message = message
        start = writer.beginContainer()
        self.writer = writer
    }

    @inline(__always) mutating func field<Shape: WireShape>(
        _ number: UInt64, _ value: (Message) -> Shape.Value, _ shape: Shape
    ) -> Shape.Value {
        order.check(number)
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
        writer.unsigned(number)
        shape.write(value, to: &writer)
        count += 1
    }

    /// Completes the head of the map and gives the writer back.
    consuming func release() -> CBORWriter {
        writer.endMap(at: start, count: count)
        return writer
    }
}

extension WireMap {
    package func write(to writer: inout CBORWriter) {
        withUnsafePointer(to: self) { message in
            var map = MapWriter(message, to: writer)
            _ = Self.fields(&map)
            writer = map.release()
        }
    }
}
