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
    case passcodeEntered(UInt64)
    /// The recovery code that was shown is written down.
    case codeAcknowledged(UInt64)
    /// A recovery code was typed. The code itself never reaches the reducer.
    case codeEntered(UInt64)
    /// The verdict on an entered passcode, at a time of the boot clock.
    case passcodeChecked(UInt64, isRight: Bool, at: Int64)
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
    /// A passcode was proven or refuted outside any evaluation, at a time of the boot clock.
    case passcodeUsed(isRight: Bool, at: Int64)
    /// The verdict on a passcode that a request brought along, at a time of the boot clock: its evaluation in one step.
    case passcodeGiven(EvaluationRequest, isRight: Bool, at: Int64)
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
    case keep(PolicyCounters)
    case keepPermissions([String: Bool])
}

/// How an evaluation ended.
package enum Outcome: Hashable, Sendable {
    case granted(Authorisation)
    case denied(Status)
}
