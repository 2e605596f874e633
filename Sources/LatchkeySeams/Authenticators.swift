// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

/// What a sensor saw.
package enum SensorEvent: Equatable, Sendable {
    /// A finger or face of the enrolled set.
    case match(EnrolmentSet)
    case noMatch
    /// The sensor ended the scan by itself.
    case failed
}

/// A fingerprint reader or a camera.
///
/// `events` is called on any thread, never from within `arm` or `disarm`.
package protocol BiometricReader: AnyObject, Sendable {
    /// What is connected and enrolled now.
    var state: SensorState { get }
    /// Starts watching for a finger or face, on behalf of one evaluation.
    func arm(_ evaluation: UInt64, events: @escaping @Sendable (SensorEvent) -> Void)
    /// Stops watching.
    func disarm(_ evaluation: UInt64)
    /// Calls `changed` whenever `state` becomes another.
    func observe(_ changed: @escaping @Sendable () -> Void)
}

/// Who knows the paired devices.
package protocol CompanionMonitor: AnyObject, Sendable {
    /// What is paired and near now.
    var companions: CompanionState { get }
}

/// Who knows whether the device is locked and the asking app in front.
package enum SessionEvent: Equatable, Sendable {
    case locked
    case unlocked(byBiometry: Bool)
    case background(Bool)
}

/// Who reports locks, unlocks and changes of the paired devices.
package protocol SessionMonitor: AnyObject, Sendable {
    /// Calls `report` for every event from now on, from any thread.
    func observeSession(_ report: @escaping @Sendable (SessionEvent) -> Void)
}

/// Who shows a prompt.
///
/// `events` is called on any thread, never from within these calls.
package protocol Prompter: AnyObject, Sendable {
    /// Shows a prompt and reports `visible`, or `unavailable` when there is no place for it.
    func show(_ prompt: Prompt, events: @escaping @Sendable (PromptEvent) -> Void)
    /// Changes what the prompt says.
    func update(_ id: UInt64, _ content: PromptContent)
    /// Takes the prompt away. No further event is reported.
    func dismiss(_ id: UInt64)
}
