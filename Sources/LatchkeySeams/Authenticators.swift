// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

/// The result of a scan.
package enum SensorEvent: Equatable, Sendable {
    /// A finger or face of that enrolment set was recognised.
    case match(EnrolmentSet)
    /// A finger or face was not recognised.
    case noMatch
    /// The sensor ended the scan because of a failure.
    case failed
}

/// The role of a fingerprint reader or a camera.
///
/// A driver calls `events` on any thread, but never from within `arm` or `disarm`.
package protocol BiometricReader: AnyObject, Sendable {
    /// The connected sensor and its enrolment set.
    var state: SensorState { get }
    /// Starts scanning for a finger or face, on behalf of one evaluation.
    func arm(_ evaluation: UInt64, events: @escaping @Sendable (SensorEvent) -> Void)
    /// Stops scanning for that evaluation.
    func disarm(_ evaluation: UInt64)
    /// Calls `changed` whenever `state` changes.
    func observe(_ changed: @escaping @Sendable () -> Void)
}

/// The role that reports the paired devices.
package protocol CompanionMonitor: AnyObject, Sendable {
    /// The paired devices and which of them are near.
    var companions: CompanionState { get }
}

/// A change of the device's lock, or of whether the apps are in the background.
package enum SessionEvent: Equatable, Sendable {
    case locked
    case unlocked(byBiometry: Bool)
    case background(Bool)
}

/// The role that reports events of the user's desktop session.
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
