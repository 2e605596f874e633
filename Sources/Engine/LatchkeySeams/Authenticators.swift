// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

/// The role of a fingerprint reader or a camera.
///
/// A reader compares a finger or face with the enrolled ones and reports the result with the enrolment set that it
/// compared. It counts no tries and ends no evaluation: that is the policy's task, so that all drivers have the same
/// limits.
///
/// A driver calls `events` on any thread, but never from within `arm` or `disarm`. Users are given by their numbers
/// (`uid_t`); a finger or face of one user never matches for another.
package protocol BiometricReader: AnyObject, Sendable {
    /// Returns the connected sensor and the enrolment set of a user.
    func state(for user: UInt32) -> SensorState
    /// Starts scanning for a finger or face of a user, on behalf of one evaluation.
    func arm(_ evaluation: UInt64, user: UInt32, events: @escaping @Sendable (SensorEvent) -> Void)
    /// Stops scanning for that evaluation; has no effect after `failed` or `disconnected`.
    func disarm(_ evaluation: UInt64)
    /// Calls `changed` whenever the sensor or the enrolment set of any user changes.
    func observe(_ changed: @escaping @Sendable () -> Void)
}

/// The role that reports login sessions.
package protocol SessionMonitor: AnyObject, Sendable {
    /// Returns the present state of a user's sessions. May wait for it, with a deadline.
    func sessions(of user: UInt32) -> SessionState
    /// Calls `report` on any thread for every event from now on.
    ///
    /// - Parameter report: must not block, and calls its second argument when the event has taken effect; sleep is delayed
    ///   until then.
    func observeSession(_ report: @escaping @Sendable (SessionEvent, @escaping @Sendable () -> Void) -> Void)
}

/// The role that shows prompts, in a terminal, through an agent's window or in a test.
///
/// The policy decides what a prompt contains, and a prompter only shows it and reports what the user does. It makes no
/// decision and creates no proof: a passcode that it reports is verified elsewhere.
///
/// A prompt is known by its number from `show` to `dismiss`. After `dismiss` no event of it is reported.
///
/// A driver calls `events` on any thread, but never from within `show`, `update` or `dismiss`.
package protocol Prompter: AnyObject, Sendable {
    /// Shows a prompt and reports `visible`, or `unavailable` if there is neither a terminal nor an agent to show it.
    func show(_ prompt: Prompt, events: @escaping @Sendable (PromptEvent) -> Void)
    func update(_ id: UInt64, _ content: PromptContent)
    /// Removes the prompt. The driver reports no further events of it.
    func dismiss(_ id: UInt64)
    /// The same. Returns without waiting for a process of the user, who can stop the one that shows the prompt.
    ///
    /// - Parameter gone: called once, on any thread or from within this call, when the prompt has been removed and its
    ///   place is free, or when its process was given up after some seconds.
    func dismiss(_ id: UInt64, _ gone: @escaping @Sendable () -> Void)
    /// Returns the login session of the agent that would show a prompt of a user's program without a terminal; nil if
    /// there is none.
    ///
    /// - Parameter session: the login session of the program; empty for a program outside of sessions.
    func agentSession(of user: UInt32, for session: String) -> String?
    /// Has the agents of a user look at the audit log, which has something that a person should learn at once.
    func announceNews(to user: UInt32)
}

extension Prompter {
    /// A prompter that removes its prompts at once.
    package func dismiss(_ id: UInt64, _ gone: @escaping @Sendable () -> Void) {
        dismiss(id)
        gone()
    }

    /// A prompter without agents.
    package func agentSession(of user: UInt32, for session: String) -> String? { nil }
    package func announceNews(to user: UInt32) {}
}
