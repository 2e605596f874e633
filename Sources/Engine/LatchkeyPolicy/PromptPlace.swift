// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel

/// Where the prompt of an evaluation is shown. Two prompts are shown at the same time only if their places do not overlap:
/// otherwise a passcode that the user is typing at one of them could be read by the other one.
package struct PromptPlace: Hashable, Sendable {
    /// The login session of the program; empty for a program outside of sessions.
    package var session: String
    /// The login session of the agent that shows the prompt, which can be another one. For a prompt on a terminal, the
    /// login session of the program.
    package var agent: String
    /// The terminal of the program; 0 if it has none.
    package var terminal: UInt64

    /// - Parameter agent: by default that of the session.
    package init(session: String, agent: String? = nil, terminal: UInt64 = 0) {
        self.session = session
        self.agent = agent ?? session
        self.terminal = terminal
    }

    /// Whether two prompts would be in the same login session, or on the same terminal.
    ///
    /// - Parameter sessions: the sessions at the machine. Programs of the user's service manager are on their screens.
    func overlaps(_ other: PromptPlace, _ sessions: BiometrySessions) -> Bool {
        if terminal != 0, terminal == other.terminal { return true }
        func isSame(_ one: String, _ another: String) -> Bool {
            one == another || one == BiometrySessions.userManager && sessions.permits(another)
                || another == BiometrySessions.userManager && sessions.permits(one)
        }
        return isSame(session, other.session) || isSame(session, other.agent) || isSame(agent, other.session)
            || isSame(agent, other.agent)
    }
}
