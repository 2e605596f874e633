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

    package func encoded() -> SecretBytes {
        var writer = CBORWriter()
        AgentMessageShape().write(self, to: &writer)
        return writer.finish()
    }

    /// Decodes a payload; throws unless it is exactly one canonical message.
    package init(decoding payload: SecretBytes) throws(WireError) {
        self = try CBORReader.message(of: payload, AgentMessageShape.contents)
    }
}

/// A message within a frame.
struct AgentMessageShape: WireShape {
    func write(_ value: AgentMessage, to writer: inout CBORWriter) {
        switch value {
        case .show(let prompt): writer.message(0, prompt)
        case .update(let content): writer.message(1, content, .promptContent)
        case .dismiss: writer.message(2)
        case .event(let event): writer.message(3, event, .promptEvent)
        }
    }

    func read(from reader: inout CBORReader) throws(WireError) -> AgentMessage { try reader.message(Self.contents) }

    fileprivate static func contents(_ reader: inout CBORReader, _ kind: UInt64) throws(WireError) -> AgentMessage {
        switch kind {
        case 0: .show(try Prompt(from: &reader))
        case 1: .update(try reader.value(.promptContent))
        case 2: try reader.noFields(.dismiss)
        case 3: .event(try reader.value(.promptEvent))
        default: throw .unknownMessage
        }
    }
}
