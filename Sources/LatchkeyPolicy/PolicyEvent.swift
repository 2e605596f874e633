// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

/// What happened.
package enum PolicyEvent: Hashable, Sendable {
    case evaluate(EvaluationRequest)
    case promptVisible(UInt64)
    case promptUnavailable(UInt64)
    case promptLost(UInt64)
    case matched(UInt64, EnrolmentSet)
    case notMatched(UInt64)
    case sensorFailed(UInt64)
    case fallbackChosen(UInt64)
    case cancelChosen(UInt64)
    /// A passcode was typed, at a time of the boot clock.
    case passcodeEntered(UInt64, at: Int64)
    /// The same wrong passcode was typed as before in this evaluation.
    case passcodeRepeated(UInt64)
    /// What `keepFirst` asked for is durable, or could not be made so. No other event comes between the effect and this.
    case countersKept(UInt64)
    case countersNotKept(UInt64, Status)
    /// Passcode entry may go on, at a time of the boot clock.
    case delayPassed(UInt64, at: Int64)
    /// The recovery code that was shown is written down.
    case codeAcknowledged(UInt64)
    /// A recovery code was typed. The code itself never reaches the reducer.
    case codeEntered(UInt64)
    /// The verdict on an entered passcode.
    case passcodeChecked(UInt64, isRight: Bool)
    /// An entered passcode could not be compared with anything.
    case passcodeNotChecked(UInt64, Status)
    /// The caller withdrew: `appCancel`, or its connection ended: `systemCancel`.
    case withdrawn(UInt64, Status)
    case deadlinePassed(UInt64)
    case companionConfirmed(UInt64)
    case sensorChanged(SensorState)
    case companionsChanged(CompanionState)
    case locked
    case unlocked(byBiometry: Bool)
    case background(Bool)
    /// The person told whether the asking app may look at faces.
    case permissionAnswered(UInt64, Bool)
    /// The answer for an app was withdrawn, or forgotten with nil.
    case permissionChanged(String, Bool?)
    case passcodeExists(Bool)
    /// A passcode turned out right after the evaluation it was typed for had ended.
    case passcodeWasRight
}

/// What has to be done about it, in this order.
package enum PolicyEffect: Hashable, Sendable {
    case show(EvaluationRequest, PromptContent)
    case update(UInt64, PromptContent)
    case dismiss(UInt64)
    case arm(UInt64)
    case disarm(UInt64)
    case checkPasscode(UInt64)
    /// Ends the prompt that many seconds from now, and no earlier.
    case startDeadline(UInt64, seconds: Int64)
    case reply(UInt64, Outcome)
    /// Keeps the counters. What goes on does not depend on it: when it fails, more failures than there were stay kept.
    case keep(PolicyCounters)
    /// Keeps the counters before anything else happens in that evaluation.
    case keepFirst(UInt64, PolicyCounters)
    /// Tells after that many seconds that passcode entry may go on.
    case startDelay(UInt64, seconds: Int64)
    case keepPermissions([String: Bool])
}

/// How an evaluation ended.
package enum Outcome: Hashable, Sendable {
    case granted(Authorisation)
    case denied(Status)
}
