// SPDX-License-Identifier: Apache-2.0

import LatchkeyAgentProtocol
package import LatchkeyModel
import LatchkeySeams
import LatchkeySystem
import Synchronization

/// Shows prompts through the registered agent of this user; at most one agent is registered at a time.
///
/// Without an agent a prompt is `unavailable`; when the agent's connection ends, its prompts are `lost`.
package final class AgentPrompter: Prompter {
    private struct State: Sendable {
        var agent: RegisteredAgent?
        /// Event handlers of the prompts that the agent shows.
        var shown: [UInt64: @Sendable (PromptEvent) -> Void] = [:]
    }
    private let state = Mutex(State())

    /// Creates a prompter without a registered agent.
    package init() {}

    // MARK: - The agent

    /// Whether the first payload of a connection asks for registration.
    package static func isRegistration(_ payload: SecretBytes) -> Bool {
        // A frame that cannot be read registers no agent.
        AgentFrame.mayBegin(payload) && (try? AgentFrame(decoding: payload)) == .register
    }

    /// Registers the sender of the registration payload; refuses it and returns nil when another agent is registered.
    package func register(send: @escaping @Sendable (SecretBytes) -> Void) -> RegisteredAgent? {
        let agent = RegisteredAgent(self, send: send)
        return state.withLock { state in
            let isFirst = state.agent == nil
            // Sent with the lock held: no prompt may be sent before the agent has received this reply.
            send((isFirst ? AgentFrame.registered : .refused(.taken)).encoded())
            guard isFirst else { return nil }
            state.agent = agent
            return agent
        }
    }

    fileprivate func heard(_ prompt: UInt64, _ event: PromptEvent) {
        // Ignores events of prompts already dismissed.
        let tell = state.withLock { state in
            switch event {
            case .unavailable, .lost: state.shown.removeValue(forKey: prompt)
            default: state.shown[prompt]
            }
        }
        tell?(event)
    }

    fileprivate func ended(_ agent: RegisteredAgent) {
        let lost = state.withLock { state -> [@Sendable (PromptEvent) -> Void] in
            guard state.agent === agent else { return [] }
            defer { state = State() }
            return Array(state.shown.values)
        }
        for tell in lost { tell(.lost) }
    }

    // MARK: - Prompts

    package func show(_ prompt: Prompt, events: @escaping @Sendable (PromptEvent) -> Void) {
        let agent = state.withLock { state in
            if state.agent != nil { state.shown[prompt.id] = events }
            return state.agent
        }
        // Events must not be reported from within this call.
        guard let agent else { return Processes.detachThread { events(.unavailable) } }
        agent.send(prompt.id, .show(prompt))
    }

    package func update(_ id: UInt64, _ content: PromptContent) {
        state.withLock { $0.shown[id] == nil ? nil : $0.agent }?.send(id, .update(content))
    }

    package func dismiss(_ id: UInt64) {
        state.withLock { $0.shown.removeValue(forKey: id) == nil ? nil : $0.agent }?.send(id, .dismiss)
    }
}

/// The connection of the agent, as the daemon's server sees it.
package final class RegisteredAgent: Sendable {
    private let prompter: AgentPrompter
    private let sendFrame: @Sendable (SecretBytes) -> Void

    fileprivate init(_ prompter: AgentPrompter, send: @escaping @Sendable (SecretBytes) -> Void) {
        self.prompter = prompter
        sendFrame = send
    }

    fileprivate func send(_ prompt: UInt64, _ message: AgentMessage) {
        sendFrame(AgentFrame.message(prompt: prompt, message).encoded())
    }

    /// Processes a payload; false when it is not a valid event and the connection must end.
    package func received(_ payload: SecretBytes) -> Bool {
        // An agent whose frame cannot be read is disconnected by the caller.
        guard case .message(let prompt, .event(let event)) = try? AgentFrame(decoding: payload) else { return false }
        prompter.heard(prompt, event)
        return true
    }

    /// The connection has ended.
    package func disconnected() { prompter.ended(self) }
}
