// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
package import LatchkeyWire

/// One frame on the connection between daemon and agent, which shows all prompts of a user: `[kind, contents]`.
///
/// The frames of clients are arrays of three items, these of two: the first byte of a connection distinguishes them.
package enum AgentFrame: Equatable, Sendable {
    /// From the agent, as its first frame: requests registration.
    case register
    /// From the daemon: the agent is registered.
    case registered
    /// From the daemon: registration is refused; the connection ends.
    case refused(Refusal)
    /// From either side: a message about the prompt with this number, so that a late answer to an earlier prompt cannot
    /// answer the current one.
    case message(prompt: UInt64, AgentMessage)

    /// Why an agent is not registered.
    package enum Refusal: UInt8, CaseIterable, Sendable {
        /// Another agent is registered.
        case taken = 1
    }

    /// Whether a payload begins as a frame of an agent does.
    package static func mayBegin(_ payload: SecretBytes) -> Bool { payload.withBytes { $0.first == 0x82 } }

    /// The frame encoded as CBOR.
    package func encoded() -> SecretBytes {
        var writer = CBORWriter()
        writer.array(2)
        switch self {
        case .register:
            writer.unsigned(0)
            writer.map(0)
        case .registered:
            writer.unsigned(1)
            writer.map(0)
        case .refused(let refusal):
            writer.unsigned(2)
            writer.unsigned(UInt64(refusal.rawValue))
        case .message(let prompt, let message):
            writer.unsigned(3)
            writer.array(2)
            writer.unsigned(prompt)
            message.write(to: &writer)
        }
        return writer.finish()
    }

    /// Decodes a payload; throws unless it is exactly one canonical frame.
    package init(decoding payload: SecretBytes) throws(WireError) {
        self = try payload.withBytes { (bytes) throws(WireError) -> AgentFrame in
            var reader = CBORReader(bytes)
            let frame = try reader.tuple(2) { (reader) throws(WireError) -> AgentFrame in
                switch try reader.unsigned() {
                case 0:
                    try reader.map { (_, _) throws(WireError) in false }
                    return .register
                case 1:
                    try reader.map { (_, _) throws(WireError) in false }
                    return .registered
                case 2: return .refused(try reader.number())
                case 3:
                    return try reader.tuple(2) { (reader) throws(WireError) -> AgentFrame in
                        let prompt = try reader.unsigned()
                        let message = try AgentMessage(from: &reader)
                        if case .show(let shown) = message, shown.id != prompt { throw .invalidValue }
                        return .message(prompt: prompt, message)
                    }
                default: throw .unknownMessage
                }
            }
            try reader.finish()
            return frame
        }
    }
}
