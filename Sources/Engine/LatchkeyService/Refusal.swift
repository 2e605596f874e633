// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyPolicy

/// The messages and hints for refused evaluations.
enum Refusal {
    /// Returns the failure with the message and the hint for a status.
    ///
    /// - Parameters:
    ///   - state: the policy state, for details such as the remaining delay; nil if it is not known.
    ///   - session: the login session of the caller; nil if it is not known.
    ///   - hasCode: whether a recovery code replaces a forgotten passcode.
    static func failure(
        _ status: Status, _ state: PolicyState?, in session: String? = nil, hasCode: Bool = false
    ) -> Failure {
        func forgotten(_ hint: Phrase, _ state: PolicyState?) -> Phrase { Self.forgotten(hint, state, hasCode) }
        return switch status {
        case .authenticationFailed: Failure(status, "Authentication failed.", hint: forgotten("Try again.", state))
        case .userCancel, .interrupted: Failure(status, "Authentication was cancelled.", hint: forgotten("", state))
        case .userFallback: Failure(status, "The fallback button was chosen.")
        case .systemCancel: Failure(status, "Authentication was ended by the system.", hint: "Try again.")
        case .appCancel: Failure(status, "Authentication was ended by the app.")
        case .passcodeNotSet:
            Failure(status, "No passcode is set.", hint: "Set one with: latchkey passcode set")
        case .biometryNotAvailable where state.map { isElsewhere($0, session) } ?? false:
            Failure(
                status, "Biometry is used only in a session at this machine that is active and not locked.",
                hint: "Use the passcode. See: latchkey doctor")
        case .biometryNotAvailable where state?.sensor.kind == .faceID:
            Failure(
                status, "The app may not use Face ID: it has no NSFaceIDUsageDescription, or the user refused it.",
                hint: "Add the description to its Info.plist, or see the user's decisions with: latchkey apps")
        case .biometryNotAvailable:
            Failure(status, "No fingerprint reader or camera is available.", hint: "Use the passcode.")
        case .biometryNotEnrolled:
            Failure(status, "Nothing is enrolled with the sensor.", hint: "Enroll a finger or a face first.")
        case .biometryLockout: lockout(state)
        case .passcodeDelayed: delayed(state, hint: forgotten("", state))
        case .limitExceeded:
            Failure(
                status, "This program has \(Limits.waitingPrompts) prompts waiting already.",
                hint: "Wait until one of them is answered.")
        case .diskFull, .storeReadOnly, .storeUnreadable, .internalFailure:
            Failure(
                status, "The try could not be counted in the store, so authentication was ended.",
                hint: "Free disk space, or check the store with: latchkey check")
        case .storeOfEarlierAccount:
            Failure(
                status, "The passcode belongs to an earlier account that had the same user number.",
                hint: "To begin with an empty keychain, an administrator runs: latchkey admin remove-user")
        case .notInteractive:
            Failure(
                status, "No prompt can be shown here, or the app does not allow one.",
                hint: "Run the program in a terminal of your own, or start latchkey-agent in your session.")
        case .daemonUnavailable:
            Failure(
                status, "latchkey-authd, which authenticates users, cannot be reached.",
                hint: "See: systemctl status latchkey-authd")
        case .companionNotAvailable:
            Failure(status, "No device can be paired with this machine.", hint: "Authenticate in another way.")
        case .invalidContext: Failure(status, "The context was invalidated before.")
        default: Failure(status)
        }
    }

    /// Returns the failure that says for how long no passcode is accepted.
    private static func delayed(_ state: PolicyState?, hint: Phrase) -> Failure {
        guard let state else {
            return Failure(
                .passcodeDelayed, "No passcode is accepted now, because the passcode was wrong too often.",
                hint: "Try again later.")
        }
        // The plural: a delay of one second is over before it is read.
        let seconds = max(2, state.delaySeconds)
        return seconds < 120
            ? Failure(
                .passcodeDelayed, "The passcode was wrong too often. Try again in \(seconds) seconds.", hint: hint)
            : Failure(
                .passcodeDelayed, "The passcode was wrong too often. Try again in \((seconds - 1) / 60 + 1) minutes.",
                hint: hint)
    }

    /// Returns the failure that says for how long no prompt is shown for a program.
    ///
    /// - Parameter nanoseconds: the time that is left.
    static func promptDelayed(for nanoseconds: Int64) -> Failure {
        // The plural, as above, and never less than what is left.
        let seconds = max(2, (nanoseconds - 1) / 1_000_000_000 + 1)
        return seconds < 120
            ? Failure(
                .promptDelayed,
                """
                A prompt of this program was refused or not answered a short time ago, so none is shown now. Try again in \
                \(seconds) seconds.
                """)
            : Failure(
                .promptDelayed,
                """
                A prompt of this program was refused or not answered a short time ago, so none is shown now. Try again in \
                \((seconds - 1) / 60 + 1) minutes.
                """)
    }

    /// The failure of a request that asks for a proof while the keychain is locked.
    static var locked: Failure {
        Failure(
            .interactionNotAllowed, "The keychain is locked, and only a prompt that unlocks it is shown.",
            hint: "Unlock it first with: latchkey unlock")
    }

    /// The failure of a request whose connection ended while it waited. It is not sent.
    static let connectionEnded = Failure(.cancelled, "The connection ended.")

    /// Whether there is a sensor, but not for the session.
    private static func isElsewhere(_ state: PolicyState, _ session: String?) -> Bool {
        state.sensor.kind != .none && session.map { !state.biometrySessions.permits($0) } ?? false
    }

    /// Number of consecutive wrong passcodes after which the hint names `latchkey reset`.
    private static let triesBeforeWayOut = 5

    /// Returns the hint, followed by advice for a forgotten passcode after `triesBeforeWayOut` wrong passcodes.
    private static func forgotten(_ hint: Phrase, _ state: PolicyState?, _ hasCode: Bool) -> Phrase {
        guard let state, state.passcodeFailures >= triesBeforeWayOut else { return hint }
        return (hint.isEmpty ? "" : hint + " ")
            + (hasCode
                ? "If the passcode is forgotten, replace it with the recovery code: latchkey recover"
                : "A forgotten passcode cannot be recovered: latchkey reset deletes what needs it.")
    }

    /// Returns the failure that explains why biometry is locked.
    private static func lockout(_ state: PolicyState?) -> Failure {
        guard let state, !state.isBiometryLocked else {
            return biometryLocked("Biometry is locked after five tries that did not match.")
        }
        return switch state.passcodeDue {
        case .afterRestart:
            biometryLocked("The passcode is required before biometry: it was not entered since the machine started.")
        case .unusedForTwoDays:
            biometryLocked("The passcode is required before biometry: neither was used for 48 hours.")
        case .unusedForAWeek:
            biometryLocked("The passcode is required before biometry: it was not entered for 156 hours.")
        case nil: biometryLocked("Biometry was locked until the passcode was entered.")
        }
    }

    private static func biometryLocked(_ message: Phrase) -> Failure {
        Failure(.biometryLockout, message, hint: "Enter the passcode once: latchkey passcode check")
    }
}
