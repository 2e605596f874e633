// SPDX-License-Identifier: Apache-2.0
//
// libFuzzer target of the frame decoder; `scripts/fuzz 60 frame` runs it. The tests of LatchkeyWire check the same
// property for the corpus and for their own inputs.

import LatchkeyModel
import LatchkeyWire

/// Decodes one input and describes how the result violates the property; nil when it does not.
///
/// Every rejection is correct. An accepted frame must be the only encoding of its message, apart from optional keys,
/// which the decoder skips.
func complaint(aboutFrame payload: [UInt8]) -> String? {
    let frame = SecretBytes(payload)
    let refusedID = Message.idOfRefusedRequest(frame)
    guard let message = try? Message(decoding: frame) else { return nil }
    guard let item = CBORItem(reading: payload) else { return "accepts bytes that are not one CBOR item" }
    if item.encoded != payload { return "accepts bytes that are not deterministic CBOR" }
    let encoded = encoding(of: message)
    if encoded.copyBytes() != item.withoutOptionalKeys.encoded { return "accepts two encodings of one message" }
    guard let again = try? Message(decoding: encoded) else { return "rejects the encoder's output" }
    if again != message { return "decodes its own output to another message" }
    if case .request(let id, _) = message, refusedID != id { return "idOfRefusedRequest finds another id" }
    return nil
}

/// The bytes of a message. A request is encoded from its own type, which the case carries.
private func encoding(of message: Message) -> SecretBytes {
    switch message {
    case .request(let id, let request):
        guard let typed = Mirror(reflecting: request).children.first?.value as? any ClientRequest & WireValue else {
            fatalError("the case carries no request")
        }
        return Message.encoded(typed, id: id)
    case .reply(let id, let reply): return Message.encoded(reply, id: id)
    case .cancel(let id): return Message.encodedCancel(id: id)
    }
}

/// A CBOR item, read and written independently of LatchkeyWire, as a reference implementation.
enum CBORItem: Equatable {
    case unsigned(UInt64)
    case negative(UInt64)
    case bytes([UInt8])
    case text([UInt8])
    case array([CBORItem])
    case map([Entry])
    case simple(UInt8)

    struct Entry: Equatable {
        var key: CBORItem
        var value: CBORItem
    }

    /// Reads all of `bytes`; nil when they are not one item of these kinds. Also accepts heads that are not the
    /// shortest.
    init?(reading bytes: [UInt8]) {
        var rest = bytes[...]
        guard let item = CBORItem(from: &rest, depth: 0), rest.isEmpty else { return nil }
        self = item
    }

    private init?(from rest: inout ArraySlice<UInt8>, depth: Int) {
        guard depth < 64, let first = rest.popFirst() else { return nil }
        var argument = UInt64(first & 31)
        if argument > 27 { return nil }
        if argument > 23 {
            let width = 1 << (Int(argument) - 24)
            guard rest.count >= width else { return nil }
            argument = rest.prefix(width).reduce(0) { $0 << 8 | UInt64($1) }
            rest = rest.dropFirst(width)
        }
        func take() -> [UInt8]? {
            guard argument <= UInt64(rest.count) else { return nil }
            defer { rest = rest.dropFirst(Int(argument)) }
            return Array(rest.prefix(Int(argument)))
        }
        func items(_ count: UInt64) -> [CBORItem]? {
            var items: [CBORItem] = []
            guard count <= UInt64(rest.count) else { return nil }
            for _ in 0..<count {
                guard let item = CBORItem(from: &rest, depth: depth + 1) else { return nil }
                items.append(item)
            }
            return items
        }
        switch first >> 5 {
        case 0: self = .unsigned(argument)
        case 1: self = .negative(argument)
        case 2:
            guard let bytes = take() else { return nil }
            self = .bytes(bytes)
        case 3:
            guard let bytes = take() else { return nil }
            self = .text(bytes)
        case 4:
            guard let items = items(argument) else { return nil }
            self = .array(items)
        case 5:
            guard argument <= UInt64(rest.count), let items = items(2 * argument) else { return nil }
            self = .map(stride(from: 0, to: items.count, by: 2).map { Entry(key: items[$0], value: items[$0 + 1]) })
        case 7 where first < 0xf8: self = .simple(first & 31)
        default: return nil
        }
    }

    /// The item with every head in the shortest form.
    var encoded: [UInt8] {
        switch self {
        case .unsigned(let value): Self.head(0, value)
        case .negative(let value): Self.head(1, value)
        case .bytes(let bytes): Self.head(2, UInt64(bytes.count)) + bytes
        case .text(let bytes): Self.head(3, UInt64(bytes.count)) + bytes
        case .array(let items): Self.head(4, UInt64(items.count)) + items.flatMap(\.encoded)
        case .map(let entries):
            Self.head(5, UInt64(entries.count)) + entries.flatMap { $0.key.encoded + $0.value.encoded }
        case .simple(let value): [0xe0 | value]
        }
    }

    private static func head(_ major: UInt8, _ argument: UInt64) -> [UInt8] {
        if argument < 24 { return [major << 5 | UInt8(argument)] }
        let exponent = argument < 1 << 8 ? 0 : argument < 1 << 16 ? 1 : argument < 1 << 32 ? 2 : 3
        let bytes = (0..<1 << exponent).map { UInt8(truncatingIfNeeded: argument >> UInt64(8 * $0)) }
        return [major << 5 | UInt8(24 + exponent)] + bytes.reversed()
    }

    /// The item without the map entries that a reader skips: those with an unsigned key of 128 or more.
    var withoutOptionalKeys: CBORItem {
        switch self {
        case .array(let items): .array(items.map(\.withoutOptionalKeys))
        case .map(let entries):
            .map(
                entries.compactMap { entry in
                    if case .unsigned(128...) = entry.key { return nil }
                    return Entry(key: entry.key, value: entry.value.withoutOptionalKeys)
                })
        default: self
        }
    }
}
