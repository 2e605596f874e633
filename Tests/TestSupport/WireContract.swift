// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
package import LatchkeyWire
import Testing

/// A message between two processes.
package protocol WireMessage: Equatable, Sendable {
    /// The files of `Tests/Vectors/wire` that have its golden vectors.
    static var vectors: [String] { get }

    init(decoding payload: SecretBytes) throws(WireError)
    func encoded() -> SecretBytes

    /// How these bytes are read in spite of the contract; nil if they are refused or are the encoding of a message.
    static func complaint(about bytes: [UInt8]) -> String?
}

extension WireMessage {
    package static func complaint(about bytes: [UInt8]) -> String? {
        guard let message = try? Self(decoding: SecretBytes(bytes)) else { return nil }
        return message.encoded().copyBytes() == bytes ? nil : "accepts a message in another encoding"
    }

    /// Why the bytes are refused; nil if they are accepted.
    package static func refusal(of bytes: [UInt8]) -> WireError? {
        do throws(WireError) {
            _ = try Self(decoding: SecretBytes(bytes))
            return nil
        } catch {
            return error
        }
    }
}

/// A message and the name of its golden vector.
package struct WireSample<Message: WireMessage>: Sendable, CustomTestStringConvertible {
    package let name: String
    package let message: Message
    package var testDescription: String { name }

    package init(_ name: String, _ message: Message) {
        self.name = name
        self.message = message
    }
}

/// What holds for each message of a protocol: it has exactly one encoding, and no other bytes are read.
package enum WireContract<Message: WireMessage>: CaseIterable, Sendable {
    case encodingYieldsTheVectorAndDecodingYieldsTheMessage
    case everyPrefixIsRefused
    case everyTrailingByteIsRefused
    case everyChangeIsRefusedOrGivesAnotherMessage

    package static func expectOneSampleForEachVector(_ samples: [WireSample<Message>]) throws {
        let vectors = try Vector.load(Message.vectors)
        #expect(samples.map(\.name).sorted() == vectors.map(\.name).sorted())
        #expect(Set(vectors.map(\.name)).count == vectors.count && Set(vectors.map(\.payload)).count == vectors.count)
    }

    package func check(_ sample: WireSample<Message>) throws {
        let bytes = sample.message.encoded().copyBytes()
        switch self {
        case .encodingYieldsTheVectorAndDecodingYieldsTheMessage:
            let vector = try #require(try Vector.load(Message.vectors).first { $0.name == sample.name })
            #expect(bytes == vector.payload, "\(sample.name) \(digits(bytes))")
            let decoded = try Message(decoding: SecretBytes(vector.payload))
            #expect(decoded == sample.message)
            // `Failure` compares codes only, so the bytes are compared too.
            #expect(decoded.encoded().copyBytes() == vector.payload)
        case .everyPrefixIsRefused:
            for count in bytes.indices {
                #expect(Message.refusal(of: Array(bytes[..<count])) == .truncated, "first \(count) bytes")
            }
        case .everyTrailingByteIsRefused:
            for byte in UInt8.min...UInt8.max { #expect(Message.refusal(of: bytes + [byte]) == .trailingBytes) }
            #expect(Message.refusal(of: bytes + bytes) == .trailingBytes)
        case .everyChangeIsRefusedOrGivesAnotherMessage:
            for place in bytes.indices {
                // The first bytes select the message and its fields; behind them, each value would take too long.
                let changes = place < 24 ? Array(1...UInt8.max) : (0..<8).map { UInt8(1) << $0 }
                for change in changes {
                    var changed = bytes
                    changed[place] ^= change
                    let complaint = Message.complaint(about: changed)
                    #expect(complaint == nil, "byte \(place): \(digits(changed))")
                }
            }
        }
    }
}
