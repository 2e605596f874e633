// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

/// An input of the reducer. `UInt64` parameters without a label are the numbers of evaluations.
package enum PolicyEvent: Hashable, Sendable {
    case evaluate(EvaluationRequest)
    case promptVisible(UInt64)
    case promptUnavailable(UInt64)
    case promptLost(UInt64)
    /// A finger or face was recognised; `isVirtual` if a program stands in for the sensor that recognised it.
    case matched(UInt64, EnrolmentSet, isVirtual: Bool)
    case notMatched(UInt64)
    case sensorFailed(UInt64)
    /// The sensor could not use a scan and goes on scanning; no attempt.
    case guided(UInt64, SensorGuidance)
    /// Another program uses the sensor, or does not any more.
    case sensorInUse(UInt64, Bool)
    case sensorDisconnected(UInt64)
    case fallbackChosen(UInt64)
    case cancelChosen(UInt64)
    /// A passcode was entered, at a time of the boot-time clock in nanoseconds. The passcode itself never reaches the
    /// reducer.
    case passcodeEntered(UInt64, at: Int64)
    /// A passcode was entered that was found wrong earlier in the same evaluation.
    case passcodeRepeated(UInt64)
    /// The counters of a `persistFirst` effect are durable. No other event may come between the effect and its result.
    case countersStored(UInt64)
    /// The counters of a `persistFirst` effect could not be stored. No other event may come between the effect and its
    /// result.
    case countersNotStored(UInt64, Status)
    /// The passcode delay is over, at a time of the boot-time clock in nanoseconds.
    case delayPassed(UInt64, at: Int64)
    /// The user confirmed that the recovery code is written down.
    case codeAcknowledged(UInt64)
    /// A recovery code was entered. The code itself never reaches the reducer.
    case codeEntered(UInt64)
    /// A text was entered that is no recovery code.
    case codeMistyped(UInt64)
    /// A new passcode was entered for the first time. The passcode itself never reaches the reducer.
    case newPasscodeEntered(UInt64, isLongEnough: Bool)
    /// A new passcode was entered again; `isEqual` if both entries are the same.
    case newPasscodeRepeated(UInt64, isEqual: Bool)
    case passcodeChecked(UInt64, isRight: Bool)
    /// An entered passcode could not be verified.
    case passcodeNotChecked(UInt64, Status)
    case passcodeNotVerified(UInt64, Status)
    /// The entered password is that of the account, which the evaluation asked for before its first stage.
    case accountProven(UInt64)
    /// The system neither accepted nor refused the entered account password as wrong.
    case accountNotProven(UInt64, AccountFault)
    /// The entered password is that of the account, but the passcode is the one that the account had before.
    case passcodeOutdated(UInt64)
    /// The entered password is that of the account and has expired. The event that says that it is right follows.
    case accountExpired(UInt64)
    /// A module of the system said something about the account, which the prompt shows.
    case accountMessage(UInt64)
    /// The evaluation was cancelled: by the caller (`appCancel`) or because its connection ended (`systemCancel`).
    case withdrawn(UInt64, Status)
    case deadlinePassed(UInt64)
    case sensorChanged(SensorState)
    case locked
    case unlocked(byBiometry: Bool)
    case sessionLocked
    /// No login session of the user is locked any more.
    case sessionUnlocked
    /// Biometry may be used in these login sessions.
    case biometrySessionsChanged(BiometrySessions)
    case background(Bool)
    /// The user answered whether the requesting app may use Face ID.
    case permissionAnswered(UInt64, Bool)
    /// The face permission of an app was set, or deleted with nil so that the app asks again.
    case permissionChanged(String, Bool?)
    /// A passcode was set, or removed with false.
    case passcodeExists(Bool)
    /// A passcode was verified as correct after its evaluation had ended.
    case passcodeWasRight
}

/// Why the system did not say whether the password of an account is right.
package enum AccountFault: Hashable, CaseIterable, Sendable {
    /// The system cannot verify passwords now, and said so before it saw this one. Not a try.
    case notAvailable
    /// The system refuses the account whatever its password is.
    case refused
    /// The verification failed, and may have failed because of what was typed; so the try counts.
    case failed
}

/// An output of the reducer, which the service executes. Effects of one event are executed in order.
package enum PolicyEffect: Hashable, Sendable {
    case show(EvaluationRequest, PromptContent)
    case update(UInt64, PromptContent)
    case dismiss(UInt64)
    case arm(UInt64)
    case disarm(UInt64)
    case checkPasscode(UInt64)
    /// Posts `deadlinePassed` after that many seconds; replaces an earlier deadline of the evaluation.
    case startDeadline(UInt64, seconds: Int64)
    /// Answers an evaluation: with what the user has proven, or why it is refused.
    case reply(UInt64, Result<Authorisation, Status>)
    /// Stores the counters; nothing waits for the result. If it fails, the stored counters remain too high, never too
    /// low.
    case persist(PolicyCounters)
    /// Stores the counters and posts `countersStored` or `countersNotStored` before any other event.
    case persistFirst(UInt64, PolicyCounters)
    /// Posts `delayPassed` after that many seconds.
    case startDelay(UInt64, seconds: Int64)
    /// Stores the face permissions of all apps.
    case persistPermissions([String: Bool])
}
