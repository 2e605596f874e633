// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
import LatchkeyPrompts
import LatchkeySeams
import LatchkeySystem
import Synchronization

/// Shows prompts through registered agents: each prompt through an agent of the caller's user, and preferably of the
/// caller's login session. At most one agent is registered for a session, and it shows one prompt at a time.
///
/// Without an agent a prompt is `unavailable`; when the agent's connection ends, its prompts are `lost`.
package final class AgentPrompter: Prompter {
    private struct Shown: Sendable {
        let agent: RegisteredAgent
        let events: @Sendable (PromptEvent) -> Void
        /// The prompt, while the agent shows another one. The user of the agent types into one window: a second one must
        /// not take the place of the first.
        var waiting: Prompt?
    }
    private struct State: Sendable {
        var agents = AgentTable<RegisteredAgent>()
        var shown: [UInt64: Shown] = [:]

        /// Removes a prompt, and sends its agent the one that waits longest. Called with the lock held, so that the agent
        /// receives the messages about a prompt in their order.
        mutating func remove(_ id: UInt64) -> Shown? {
            guard let removed = shown.removeValue(forKey: id) else { return nil }
            let others = shown.values.filter { $0.agent === removed.agent }
            guard !others.contains(where: { $0.waiting == nil }),
                let next = others.compactMap(\.waiting).min(by: { $0.id < $1.id })
            else { return removed }
            shown[next.id]?.waiting = nil
            removed.agent.send(next.id, .show(next))
            return removed
        }
    }
    private let state = Mutex(State())
    private let session: @Sendable (Prompt) -> String
    /// Whether agents may send touches of a simulated sensor and confirmations of a simulated paired device.
    fileprivate let isSimulated: Bool

    /// Creates a prompter without registered agents.
    ///
    /// - Parameters:
    ///   - isSimulated: whether the tier is `simulated`.
    ///   - session: returns the login session of a prompt's caller, and an empty string if it has none.
    package init(isSimulated: Bool = false, session: @escaping @Sendable (Prompt) -> String = { _ in "" }) {
        (self.isSimulated, self.session) = (isSimulated, session)
    }

    // MARK: - Agents

    /// Whether the first payload of a connection asks for registration.
    package static func isRegistration(_ payload: SecretBytes) -> Bool {
        // A frame that cannot be read registers no agent.
        AgentFrame.mayBegin(payload) && (try? AgentFrame(decoding: payload)) == .register
    }

    /// Registers the sender of the registration payload; refuses it and returns nil if its session has another agent.
    ///
    /// - Parameters:
    ///   - user: the user of the connection, as the kernel reports it.
    ///   - session: the login session of the connection's process; empty if it has none.
    package func register(
        user: UInt32, session: String, send: @escaping @Sendable (SecretBytes) -> Void
    ) -> RegisteredAgent? {
        let agent = RegisteredAgent(self, send: send)
        return state.withLock { state in
            let isFirst = state.agents.add(agent, user: user, session: session)
            // Sent with the lock held: no prompt may be sent before the agent has received this reply.
            send((isFirst ? AgentFrame.registered : .refused(.taken)).encoded())
            return isFirst ? agent : nil
        }
    }

    fileprivate func heard(_ prompt: UInt64, _ event: PromptEvent, from agent: RegisteredAgent) {
        let shown: Shown? = state.withLock { state in
            // Ignores events of prompts already dismissed. Only the agent that shows a prompt can answer it: another
            // one may belong to another user.
            guard let shown = state.shown[prompt], shown.agent === agent, shown.waiting == nil else { return nil }
            return event == .unavailable || event == .lost ? state.remove(prompt) : shown
        }
        shown?.events(event)
    }

    fileprivate func ended(_ agent: RegisteredAgent) {
        let lost = state.withLock { state in
            state.agents.remove(agent)
            let lost = state.shown.filter { $0.value.agent === agent }
            for id in lost.keys { state.shown[id] = nil }
            return lost.values.map(\.events)
        }
        for notify in lost { notify(.lost) }
    }

    // MARK: - Prompts

    package func agentSession(of user: UInt32, for session: String) -> String? {
        state.withLock { $0.agents.session(of: user, preferring: session) }
    }

    package func announceNews(to user: UInt32) {
        state.withLock { state in for agent in state.agents.agents(of: user) { agent.sendNews() } }
    }

    package func show(_ prompt: Prompt, events: @escaping @Sendable (PromptEvent) -> Void) {
        let session = session(prompt)
        let hasAgent = state.withLock { state in
            guard let agent = state.agents.agent(of: prompt.userID, preferring: session) else { return false }
            let isBusy = state.shown.values.contains { $0.agent === agent }
            state.shown[prompt.id] = Shown(agent: agent, events: events, waiting: isBusy ? prompt : nil)
            if !isBusy { agent.send(prompt.id, .show(prompt)) }
            return true
        }
        // Events must not be reported from within this call.
        if !hasAgent { Processes.detachThread { events(.unavailable) } }
    }

    package func update(_ id: UInt64, _ content: PromptContent) {
        state.withLock { state in
            guard let shown = state.shown[id] else { return }
            guard shown.waiting != nil else { return shown.agent.send(id, .update(content)) }
            state.shown[id]?.waiting?.content = content
        }
    }

    package func dismiss(_ id: UInt64) {
        state.withLock { state in
            // A prompt that waits was not sent.
            if let shown = state.shown[id], shown.waiting == nil { shown.agent.send(id, .dismiss) }
            _ = state.remove(id)
        }
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

    fileprivate func sendNews() { sendFrame(AgentFrame.news.encoded()) }

    /// Processes a payload; false when it is not a valid event and the connection must end.
    package func received(_ payload: SecretBytes) -> Bool {
        // An agent whose frame cannot be read is disconnected by the caller.
        guard case .message(let prompt, .event(let event)) = try? AgentFrame(decoding: payload),
            prompter.isSimulated || !event.isSimulation
        else { return false }
        prompter.heard(prompt, event, from: self)
        return true
    }

    package func disconnected() { prompter.ended(self) }
}

extension PromptEvent {
    /// Whether the event stands for hardware that exists in tier `simulated` only. An agent of another tier that sends it
    /// pretends a match.
    fileprivate var isSimulation: Bool {
        switch self {
        case .simulatedTouch: true
        case .visible, .unavailable, .lost, .cancel, .interrupt, .fallback, .passcode, .permission, .codeAcknowledged,
            .codeEntered, .newPasscodeEntered, .newPasscodeRepeated:
            false
        }
    }
}
