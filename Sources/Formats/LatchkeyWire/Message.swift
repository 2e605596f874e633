// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

/// One decoded frame's payload: `[kind, id, body]`. A request is encoded from its own type, not from `Request`.
package enum Message: Equatable, Sendable {
    case request(id: UInt64, Request)
    case reply(id: UInt64, Reply)
    case cancel(id: UInt64)

    package var id: UInt64 {
        switch self {
        case .request(let id, _), .reply(let id, _), .cancel(let id): id
        }
    }

    package static func encoded<Parameters: ClientRequest & WireValue>(
        _ request: Parameters, id: UInt64
    ) -> SecretBytes {
        payload(kind: 0, id) { $0.request(request) }
    }

    package static func encoded(_ reply: Reply, id: UInt64) -> SecretBytes {
        payload(kind: 1, id) { reply.write(to: &$0) }
    }

    package static func encodedCancel(id: UInt64) -> SecretBytes { payload(kind: 2, id) { $0.map(0) } }

    @inline(__always)
    private static func payload(kind: UInt64, _ id: UInt64, _ body: (inout CBORWriter) -> Void) -> SecretBytes {
        var writer = CBORWriter()
        writer.array(3)
        writer.unsigned(kind)
        writer.unsigned(id)
        body(&writer)
        return writer.finish()
    }

    /// Decodes a payload, which must be exactly one canonical message.
    package init(decoding payload: SecretBytes) throws(WireError) {
        self = try payload.withBytes { (bytes) throws(WireError) -> Message in
            var reader = CBORReader(bytes)
            let message = try Message(from: &reader)
            try reader.finish()
            return message
        }
    }

    private init(from reader: inout CBORReader) throws(WireError) {
        self = try reader.tuple(3) { (reader) throws(WireError) -> Message in
            let kind = try reader.unsigned()
            let id = try reader.unsigned()
            switch kind {
            case 0: return .request(id: id, try Request(from: &reader))
            case 1: return .reply(id: id, try Reply(from: &reader))
            case 2:
                try reader.map { (_, _) throws(WireError) in false }
                return .cancel(id: id)
            default: throw .unknownMessage
            }
        }
    }

    /// The id of a request whose body is refused, so that the refusal is sent with that id; nil if the id cannot be read.
    package static func idOfRefusedRequest(_ payload: SecretBytes) -> UInt64? {
        payload.withBytes { bytes in
            var reader = CBORReader(bytes)
            // Only the first two items are read: the body is the part that was refused.
            guard bytes.count > 2, bytes[0] == 0x83, bytes[1] == 0 else { return nil }
            return try? reader.tuple(3) { (reader) throws(WireError) in
                _ = try reader.unsigned()
                return try reader.unsigned()
            }
        }
    }
}
