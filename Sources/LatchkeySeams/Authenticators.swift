// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

/// The result of a scan.
package enum SensorEvent: Equatable, Sendable {
    /// A finger or face of that enrolment set was recognised.
    case match(EnrolmentSet)
    /// A finger or face was not recognised.
    case noMatch
    /// The scan could not be used and continues. Counts as no attempt.
    case guidance(SensorGuidance)
    /// The sensor ended the scan because of a failure.
    case failed
    /// The sensor was disconnected, which ended the scan. A driver reports this before it reports the change of `state`.
    case disconnected
}

/// The role of a fingerprint reader or a camera.
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

/// The role that reports the paired devices.
package protocol CompanionMonitor: AnyObject, Sendable {
    /// The paired devices and which of them are near.
    var companions: CompanionState { get }
}

/// A change of a desktop session.
package struct SessionEvent: Equatable, Sendable {
    /// A change of the device's lock, or of whether the apps are in the background.
    package enum Change: Equatable, Sendable {
        case locked
        case unlocked(byBiometry: Bool)
        case background(Bool)
    }

    /// The user of the session (`uid_t`).
    package let user: UInt32
    /// The identifier of the login session, such as that of logind; unique while the machine runs.
    package let session: String
    package let change: Change

    /// Creates an event from its fields.
    package init(user: UInt32, session: String, _ change: Change) {
        self.user = user
        self.session = session
        self.change = change
    }
}

/// The role that reports events of desktop sessions.
package protocol SessionMonitor: AnyObject, Sendable {
    /// Calls `report` on any thread for every event from now on.
    func observeSession(_ report: @escaping @Sendable (SessionEvent) -> Void)
}

/// The role that shows prompts.
///
/// A driver calls `events` on any thread, but never from within `show`, `update` or `dismiss`.
package protocol Prompter: AnyObject, Sendable {
    /// Shows a prompt and reports `visible`, or `unavailable` if there is neither a terminal nor an agent to show it.
    func show(_ prompt: Prompt, events: @escaping @Sendable (PromptEvent) -> Void)
    /// Replaces the content of a shown prompt.
    func update(_ id: UInt64, _ content: PromptContent)
    /// Removes the prompt. The driver reports no further events of it.
    func dismiss(_ id: UInt64)
}
