// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyPrompts

/// Why `AgentLink.init()` could not register the agent.
public struct AgentFailure: Error, Sendable {
    /// The kinds of failure of a registration.
    public enum Code: Sendable {
        /// The daemon cannot be reached or started, or ended the connection.
        case unreachable
        /// Another agent of this user is registered.
        case taken
        /// The daemon's answer cannot be read, because the daemon has another version.
        case notUnderstood
    }

    /// Which kind of failure occurred.
    public let code: Code
    /// What happened, as a sentence in English.
    public let message: String
    /// What the user can do, as a sentence in English; empty when there is no advice.
    public let hint: String

    init(_ code: Code, _ message: String, hint: String = "") {
        (self.code, self.message, self.hint) = (code, message, hint)
    }

    init(_ failure: Failure) { self.init(.unreachable, "\(failure.text)", hint: "\(failure.advice)") }

    static let taken = AgentFailure(
        .taken, "Another program already shows the prompts of this user.",
        hint: "End that latchkey-agent first; it may belong to another session.")
    static let ended = AgentFailure(.unreachable, "The daemon ended the connection.")
    static let notUnderstood = AgentFailure(
        .notUnderstood, "The daemon's answer cannot be read.", hint: "Install the same version of agent and daemon.")
}
