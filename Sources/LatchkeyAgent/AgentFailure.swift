// SPDX-License-Identifier: Apache-2.0

import LatchkeyAgentProtocol
import LatchkeyModel

/// Why an agent is not registered.
public struct AgentFailure: Error, Sendable {
    /// The kind of failure.
    public enum Code: Sendable {
        /// The daemon cannot be reached or started, or ended the connection.
        case unreachable
        /// Another agent of this user is registered.
        case taken
        /// The daemon answers something else: it is of another version.
        case notUnderstood
    }

    /// The kind.
    public let code: Code
    /// What happened, in a sentence.
    public let message: String
    /// What to do about it; empty when there is nothing.
    public let hint: String

    init(_ code: Code, _ message: String, hint: String = "") {
        self.code = code
        self.message = message
        self.hint = hint
    }

    init(_ failure: Failure) { self.init(.unreachable, failure.message, hint: failure.hint) }

    static let taken = AgentFailure(
        .taken, "Another program shows the prompts of this user already.",
        hint: "End that latchkey-agent first; it may belong to another session.")
    static let ended = AgentFailure(.unreachable, "The daemon ended the connection.")
    static let notUnderstood = AgentFailure(
        .notUnderstood, "The daemon does not answer as an agent expects.", hint: "Install the same version of both.")
}
