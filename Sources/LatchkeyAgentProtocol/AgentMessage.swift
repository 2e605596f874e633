// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
package import LatchkeyWire

/// A message between the daemon and a program that shows a prompt: `[kind, contents]`.
package enum AgentMessage: Equatable, Sendable {
    /// From the daemon: show this prompt.
    case show(Prompt)
    /// From the daemon: change the content of the prompt.
    case update(PromptContent)
    /// From the daemon: remove the prompt.
    case dismiss
    /// From the prompt: an action of the user or a change of its state.
    case event(PromptEvent)

    /// The message encoded as CBOR.
    package func encoded() -> SecretBytes {
        var writer = CBORWriter()
        write(to: &writer)
        return writer.finish()
    }

    func write(to writer: inout CBORWriter) {
        writer.array(2)
        switch self {
        case .show(let prompt):
            writer.unsigned(0)
            writer.prompt(prompt)
        case .update(let content):
            writer.unsigned(1)
            writer.promptContent(content)
        case .dismiss:
            writer.unsigned(2)
            writer.map(0)
        case .event(let event):
            writer.unsigned(3)
            writer.promptEvent(event)
        }
    }

    /// Decodes a payload; throws unless it is exactly one canonical message.
    package init(decoding payload: SecretBytes) throws(WireError) {
        self = try payload.withBytes { (bytes) throws(WireError) -> AgentMessage in
            var reader = CBORReader(bytes)
            let message = try AgentMessage(from: &reader)
            try reader.finish()
            return message
        }
    }

    init(from reader: inout CBORReader) throws(WireError) {
        self = try reader.tuple(2) { (reader) throws(WireError) -> AgentMessage in
            switch try reader.unsigned() {
            case 0: return .show(try reader.prompt())
            case 1: return .update(try reader.promptContent())
            case 2:
                try reader.map { (_, _) throws(WireError) in false }
                return .dismiss
            case 3: return .event(try reader.promptEvent())
            default: throw .unknownMessage
            }
        }
    }
}
