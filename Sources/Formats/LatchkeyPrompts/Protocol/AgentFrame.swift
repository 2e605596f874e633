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
    /// From the daemon: the audit log has something that a person should learn at once, or the keychain was unlocked after
    /// that. The agent reads the log.
    case news

    /// Why an agent is not registered.
    package enum Refusal: UInt8, CaseIterable, Sendable {
        case taken = 1
    }

    package static func mayBegin(_ payload: SecretBytes) -> Bool { payload.withBytes { $0.first == 0x82 } }

    package func encoded() -> SecretBytes {
        var writer = CBORWriter()
        switch self {
        case .register: writer.message(0)
        case .registered: writer.message(1)
        case .refused(let refusal): writer.message(2, refusal, .number())
        case .message(let prompt, let message): writer.message(3, Numbered(prompt: prompt, message: message))
        case .news: writer.message(4)
        }
        return writer.finish()
    }

    /// Decodes a payload; throws unless it is exactly one canonical frame.
    package init(decoding payload: SecretBytes) throws(WireError) {
        self = try CBORReader.message(of: payload) { (reader, kind) throws(WireError) -> AgentFrame in
            switch kind {
            case 0: return try reader.noFields(.register)
            case 1: return try reader.noFields(.registered)
            case 2: return .refused(try reader.value(.number()))
            case 3:
                let numbered = try Numbered(from: &reader)
                if case .show(let shown) = numbered.message, shown.id != numbered.prompt { throw .invalidValue }
                return .message(prompt: numbered.prompt, numbered.message)
            case 4: return try reader.noFields(.news)
            default: throw .unknownMessage
            }
        }
    }
}

/// A message with the number of its prompt.
private struct Numbered: WireTuple {
    var prompt: UInt64
    var message: AgentMessage

    static func fields<Pass: FieldPass<Self> & ~Copyable>(_ tuple: inout Pass) throws(Pass.Failure) -> Self {
        Self(
            prompt: try tuple.field(0, \.prompt, .unsigned),
            message: try tuple.field(1, \.message, AgentMessageShape()))
    }
}
