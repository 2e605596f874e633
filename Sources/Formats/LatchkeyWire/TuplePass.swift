// SPDX-License-Identifier: Apache-2.0

/// Writes the items of an array with a fixed number of items.
struct TupleWriter<Message>: FieldPass, ~Copyable {
    typealias Failure = Never

    /// Valid for the closure in `WireTuple.write`.
    private let message: UnsafePointer<Message>
    private var writer: CBORWriter
    private let start: Int
    private var order = FieldOrder()

    @inline(__always) init(_ message: UnsafePointer<Message>, to writer: consuming CBORWriter) {
        self.message = message
        start = writer.beginContainer()
        self.writer = writer
    }

    @inline(__always) mutating func field<Shape: WireShape>(
        _ number: UInt64, _ value: (Message) -> Shape.Value, _ shape: Shape
    ) -> Shape.Value {
        order.checkItem(number)
        let value = value(message.pointee)
        shape.write(value, to: &writer)
        return value
    }

    /// Completes the head of the array and gives the writer back.
    consuming func release() -> CBORWriter {
        writer.endArray(at: start, count: order.count)
        return writer
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
    func finish() throws(WireError) {
        guard order.count == count else { throw .invalidValue }
    }

    /// Ends the array and gives the reader back.
    consuming func release() -> CBORReader {
        reader.close()
        return reader
    }
}

extension WireTuple {
    package func write(to writer: inout CBORWriter) {
        withUnsafePointer(to: self) { message in
            var tuple = TupleWriter(message, to: writer)
            _ = Self.fields(&tuple)
            writer = tuple.release()
        }
    }

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
