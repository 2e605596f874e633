// SPDX-License-Identifier: Apache-2.0

internal import CServerPostgreSQL
internal import RelyingParty

extension SQLValue {
    /// A cell of a result in the binary format.
    init(_ result: OpaquePointer, _ row: CInt, _ column: CInt) throws(StorageFailure) {
        guard PQgetisnull(result, row, column) == 0, let start = PQgetvalue(result, row, column) else {
            self = .null
            return
        }
        let bytes = UnsafeRawBufferPointer(start: start, count: Int(PQgetlength(result, row, column)))
        switch PQftype(result, column) {
        // Types of pg_type: boolean, smallint, integer and bigint, all of them big-endian and signed.
        case 16, 21, 23, 20:
            guard let first = bytes.first, bytes.count <= 8 else { throw Self.unexpected }
            self = .integer(bytes.dropFirst().reduce(Int64(Int8(bitPattern: first))) { $0 << 8 | Int64($1) })
        case 17: self = .blob(Array(bytes))
        case 25:
            guard let text = String(validating: bytes, as: UTF8.self) else { throw Self.unexpected }
            self = .text(text)
        // The empty result of a function without one.
        case 2278: self = .null
        default: throw Self.unexpected
        }
    }

    private static var unexpected: StorageFailure {
        StorageFailure("A column has another type than the statements expect.")
    }
}

/// The values of a statement as libpq takes them, in the binary format.
struct Parameters {
    /// All bytes one after another, and one more, so that an empty value has an address too.
    private var bytes: [CChar] = []
    private var starts: [Int?] = []
    private var lengths: [CInt] = []

    init(_ values: [SQLValue]) {
        for value in values {
            let start = bytes.count
            switch value {
            case .integer(let number):
                bytes += (0..<8).map { CChar(truncatingIfNeeded: number >> (56 - 8 * $0)) }
            case .text(let text): bytes += text.utf8.map { CChar(bitPattern: $0) }
            case .blob(let blob): bytes += blob.map { CChar(bitPattern: $0) }
            case .null: break
            }
            starts.append(value == .null ? nil : start)
            lengths.append(CInt(clamping: bytes.count - start))
        }
        bytes.append(0)
    }

    func withPointers<Result>(
        _ body: ([UnsafePointer<CChar>?], [CInt], [CInt]) throws -> Result
    ) rethrows -> Result {
        try bytes.withUnsafeBufferPointer { buffer in
            let pointers = starts.map { start in start.flatMap { start in buffer.baseAddress.map { $0 + start } } }
            return try body(pointers, lengths, starts.map { _ in 1 })
        }
    }
}
