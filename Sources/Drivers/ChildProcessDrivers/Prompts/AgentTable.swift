// SPDX-License-Identifier: Apache-2.0

/// The registered agents: at most one for each login session of a user.
///
/// The user of an agent is that of its connection, as the kernel reports it. A prompt of a user goes only to an agent of
/// the same user.
package struct AgentTable<Agent: AnyObject & Sendable>: Sendable {
    private struct Entry: Sendable {
        let agent: Agent
        let user: UInt32
        let session: String
    }

    /// In the order of registration.
    private var entries: [Entry] = []

    package init() {}

    /// Adds the agent of a login session; false if the session has one.
    ///
    /// - Parameter session: the identifier of the login session; empty if it has none.
    package mutating func add(_ agent: Agent, user: UInt32, session: String) -> Bool {
        guard !entries.contains(where: { $0.user == user && $0.session == session }) else { return false }
        entries.append(Entry(agent: agent, user: user, session: session))
        return true
    }

    /// Removes an agent; has no effect if it is not in the table.
    package mutating func remove(_ agent: Agent) { entries.removeAll { $0.agent === agent } }

    /// Returns the login session of the agent for prompts of a user; nil if the user has no agent.
    package func session(of user: UInt32, preferring session: String) -> String? {
        entry(of: user, preferring: session)?.session
    }

    /// Returns the agent for prompts of a user: that of the session if there is one, otherwise the one of the user that
    /// registered first.
    package func agent(of user: UInt32, preferring session: String) -> Agent? {
        entry(of: user, preferring: session)?.agent
    }

    /// Returns every agent of a user.
    package func agents(of user: UInt32) -> [Agent] { entries.filter { $0.user == user }.map(\.agent) }

    private func entry(of user: UInt32, preferring session: String) -> Entry? {
        let own = entries.filter { $0.user == user }
        return own.first { $0.session == session } ?? own.first
    }
}
