// SPDX-License-Identifier: Apache-2.0

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
