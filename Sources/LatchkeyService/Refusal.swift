// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyPolicy

/// The sentence for each refusal of an evaluation, with what a person can do about it.
enum Refusal {
    /// Adds words to a status.
    static func failure(_ status: Status, _ state: PolicyState?) -> Failure {
        switch status {
        case .authenticationFailed: Failure(status, "Authentication failed.", hint: forgotten("Try again.", state))
        case .userCancel: Failure(status, "Authentication was cancelled.", hint: forgotten("", state))
        case .userFallback: Failure(status, "The other way to authenticate was chosen.")
        case .systemCancel: Failure(status, "Authentication was ended by the system.", hint: "Try again.")
        case .appCancel: Failure(status, "Authentication was ended by the app.")
        case .passcodeNotSet:
            Failure(status, "No passcode is set.", hint: "Set one with: latchkey passcode set")
        case .biometryNotAvailable where state?.sensor.kind == .faceID:
            Failure(
                status, "The app may not use Face ID: it does not say what for, or it was not allowed to.",
                hint: "It says so by NSFaceIDUsageDescription in an Info.plist; what it was told: latchkey apps")
        case .biometryNotAvailable:
            Failure(status, "No fingerprint reader or camera is available.", hint: "Use the passcode.")
        case .biometryNotEnrolled:
            Failure(status, "Nothing is enrolled with the sensor.", hint: "Enrol a finger or a face first.")
        case .biometryLockout:
            Failure(status, lockout(state), hint: "Enter the passcode once: latchkey passcode check")
        case .passcodeDelayed:
            Failure(
                status, "No passcode is taken for now, since the passcode was wrong too often.",
                hint: forgotten(
                    state.map { "Try again in \(max(1, $0.delaySeconds)) seconds." } ?? "Try again later.", state))
        case .limitExceeded:
            Failure(
                status, "This program has \(Limits.waitingPrompts) prompts waiting already.",
                hint: "Wait until one of them is answered.")
        case .diskFull, .storeReadOnly, .storeUnreadable, .internalFailure:
            Failure(
                status, "The try could not be counted in the store, so nothing was compared.",
                hint: "Make room on the disk or look at the store with: latchkey check")
        case .notInteractive:
            Failure(
                status, "There is no place to ask, or the app does not allow asking.",
                hint: "Run the program in a terminal of your own, or start latchkey-agent in your session.")
        case .companionNotAvailable:
            Failure(status, "No paired device is nearby.", hint: "Bring it near, or use another way.")
        case .invalidContext: Failure(status, "The context was invalidated before.")
        default: Failure(status)
        }
    }

    /// Wrong passcodes in a row after which the way out is named.
    private static let triesBeforeWayOut = 5

    private static func forgotten(_ hint: String, _ state: PolicyState?) -> String {
        guard let state, state.passcodeFailures >= triesBeforeWayOut else { return hint }
        return (hint.isEmpty ? "" : hint + " ")
            + "A forgotten passcode cannot be recovered: latchkey reset deletes what needs it."
    }

    /// Why only the passcode helps.
    private static func lockout(_ state: PolicyState?) -> String {
        guard let state, !state.isBiometryLocked else {
            return "Biometry is locked after five tries that did not match."
        }
        return switch state.passcodeDue {
        case .afterRestart: "Biometry waits for the passcode: it was not entered since the machine started."
        case .unusedForTwoDays: "Biometry waits for the passcode: neither was used for 48 hours."
        case .unusedForAWeek: "Biometry waits for the passcode: it was not entered for 156 hours."
        case nil: "Biometry was locked until the passcode was entered."
        }
    }
}
