// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyWire
import TestSupport

@testable import FuzzProperties

/// Reads `bytes` with `body`; bytes that `body` leaves are refused.
func read<R>(
    _ bytes: [UInt8], _ body: (inout CBORReader) throws(WireError) -> R
) throws(WireError) -> R {
    try SecretBytes(bytes).withBytes { (buffer) throws(WireError) -> R in
        var reader = CBORReader(buffer)
        let result = try body(&reader)
        try reader.finish()
        return result
    }
}

/// The bytes that `body` writes.
func written(_ body: (inout CBORWriter) -> Void) -> [UInt8] {
    var writer = CBORWriter()
    body(&writer)
    return writer.finishBytes()
}

/// Why the payload is refused, or nil when it is accepted.
func refusal(of payload: [UInt8]) -> WireError? { Message.refusal(of: payload) }

/// The bytes of a request with these items: `[0, id, [operation, parameters]]`.
func request(_ operation: UInt64, _ parameters: CBORItem, id: UInt64 = 1) -> [UInt8] {
    CBORItem.array([.unsigned(0), .unsigned(id), .array([.unsigned(operation), parameters])]).encoded
}

/// The bytes of a reply with these items: `[1, id, [kind, contents]]`.
func reply(_ kind: UInt64, _ contents: CBORItem, id: UInt64 = 1) -> [UInt8] {
    CBORItem.array([.unsigned(1), .unsigned(id), .array([.unsigned(kind), contents])]).encoded
}

extension CBORItem: ExpressibleByDictionaryLiteral, ExpressibleByArrayLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByStringLiteral, ExpressibleByBooleanLiteral
{
    init(dictionaryLiteral entries: (UInt64, CBORItem)...) {
        self = .map(entries.map { Entry(key: .unsigned($0.0), value: $0.1) })
    }

    init(arrayLiteral items: CBORItem...) { self = .array(items) }

    init(integerLiteral value: UInt64) { self = .unsigned(value) }

    init(stringLiteral text: String) { self = .text(Array(text.utf8)) }

    init(booleanLiteral flag: Bool) { self = .simple(flag ? 21 : 20) }

    /// That many arrays of one item, each inside the previous one.
    static func nested(_ depth: Int) -> CBORItem { depth == 0 ? 0 : .array([nested(depth - 1)]) }

    /// A byte string of zeros.
    static func zeros(_ count: Int) -> CBORItem { .bytes([UInt8](repeating: 0, count: count)) }

    /// A text of that many bytes.
    static func text(ofLength count: Int) -> CBORItem { .text([UInt8](repeating: 0x61, count: count)) }
}
