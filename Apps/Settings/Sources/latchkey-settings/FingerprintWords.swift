// SPDX-License-Identifier: Apache-2.0

import LatchkeyDesktop

/// The texts of the page about fingerprints.
enum FingerprintWords {
    static let enrolled = words("Your Fingers")
    static let none = words("No finger is enrolled")
    static let noneText = words("Enrol one below to unlock with a touch.")
    static let new = words("Enrol a Finger")
    static let finger = words("Finger")
    static let reader = words("Sensor")
    static let enroll = words("_Enrol…")
    static let notices = words("What keeps fingers from being used")
    static let passcodeText = words("Without one, prompts ask for no finger.")
    static let unusedTitle = words("Prompts Cannot Use the Sensor Now")
    static func deleteText(isLast: Bool) -> String {
        let text = words("Prompts no longer accept this finger.")
        guard isLast else { return text }
        return text + " "
            + words("No other one is enrolled: apps will ask for your passcode, or for a password of their own.")
    }
    static let unusable = words("Fingerprints Cannot Be Used")
    static let noReader = words("No Fingerprint Sensor")
    static let noReaderText = words(
        """
        This computer has no fingerprint sensor that works with Linux, or it is not connected. Your passcode works everywhere.
        """)
    static let replace = words("_Replace")
    static let replaceText = words(
        "The old print is deleted before the new one is scanned. If you stop before the end, none remains.")
    static let deleteAgree = words("_Delete")
    static let deleting = words("Deleting…")

    static func readers(_ readers: [FingerprintControl.Reader]) -> String {
        let names = readers.map(\.name).joined(separator: ", ")
        return words.count(readers.count, "Sensor: \(names)", "Sensors: \(names)")
    }

    /// Why a finger that is enrolled is of no use.
    static func reason(_ hindrance: Health.SensorHindrance) -> String {
        switch hindrance {
        case .noProgram: words("The part of Latchkey that asks the sensor is not installed. Your passcode works.")
        case .noService: words("The system’s service for fingerprint sensors is not installed. Your passcode works.")
        case .noSession:
            words(
                "This is no login session at this computer, so that somebody else could be at its sensor. Your passcode works."
            )
        case .other:
            words(
                "Latchkey’s service does not use this sensor. One that is simulated has to be allowed by an administrator. Your passcode works."
            )
        }
    }

    /// What a change of the fingers does to items that are bound to them; empty if there are none.
    ///
    /// - Parameter bound: those items; nil if they are not known.
    static func consequence(_ bound: [StoredItem]?) -> String {
        guard let bound else {
            return words(
                "Items that are bound to the fingers enrolled now can no longer be read after a change of the fingers.")
        }
        guard !bound.isEmpty else { return "" }
        let apps = Set(bound.map { AppsWords.app($0.app, nil) }).sorted().joined(separator: ", ")
        return words.count(
            bound.count,
            "\(bound.count) item of \(apps) is bound to the fingers enrolled now, and can no longer be read after a change of the fingers.",
            "\(bound.count) items of \(apps) are bound to the fingers enrolled now, and can no longer be read after a change of the fingers."
        )
    }

    /// Why there are no fingers to show. What only a person who knows fprintd understands is on the page Health.
    static func explanation(_ failure: SettingsFailure) -> String {
        switch failure.code {
        case .unavailable:
            words(
                """
                The part of Latchkey that speaks to fingerprint sensors is not installed. It comes with the system’s \
                services. Your passcode works without it.
                """)
        case .notAllowed, .unplugged: FailureWords.sentence(failure)
        case .storeUnusable, .cancelled, .noPrompt, .locked, .passcodeNotSet, .notAuthenticated, .notOpened, .delayed,
            .exists, .notFound, .noReader, .other:
            words("The fingerprint sensor cannot be used now. Health says more. Your passcode works without it.")
        }
    }

    static func name(_ finger: String) -> String {
        switch finger {
        case "right-thumb": words("Right thumb")
        case "right-index-finger": words("Right index finger")
        case "right-middle-finger": words("Right middle finger")
        case "right-ring-finger": words("Right ring finger")
        case "right-little-finger": words("Right little finger")
        case "left-thumb": words("Left thumb")
        case "left-index-finger": words("Left index finger")
        case "left-middle-finger": words("Left middle finger")
        case "left-ring-finger": words("Left ring finger")
        case "left-little-finger": words("Left little finger")
        default: finger
        }
    }

    static func begin(_ name: String, isSwiped: Bool) -> String {
        isSwiped ? words("\(name): swipe it over the sensor.") : words("\(name): touch the sensor.")
    }

    static func progress(_ progress: FingerprintControl.Progress, _ name: String, isSwiped: Bool) -> String {
        let advice = advice(progress.advice, name, isSwiped: isSwiped)
        return progress.total > 0 ? words("\(progress.passed) of \(progress.total) scans. \(advice)") : advice
    }

    private static func advice(_ advice: FingerprintControl.Advice, _ name: String, isSwiped: Bool) -> String {
        switch advice {
        case .begin: begin(name, isSwiped: isSwiped)
        case .passed:
            isSwiped ? words("Lift your finger, and swipe again.") : words("Lift your finger, and touch again.")
        case .done: words("Done.")
        // fprintd says no more of a scan: also another finger is one that it cannot use.
        case .again(.scanAgain):
            isSwiped
                ? words("The scan was not clear. Use the same finger, and swipe again.")
                : words("The scan was not clear. Use the same finger, and lay it flat.")
        case .again(.swipeTooShort): words("The swipe was too short. Try again.")
        case .again(.fingerNotCentred): words("Centre your finger on the sensor, and try again.")
        case .again(.removeAndRetry): words("Lift your finger, and try again.")
        case .again(.tooFast): words("That was too fast. Try again.")
        }
    }

    static func isEnrolled(_ name: String) -> String { words("\(name) is enrolled.") }
    static func isDeleted(_ name: String) -> String { words("\(name) was deleted.") }
    static func delete(_ name: String) -> String { words("Delete \(name)") }
    static func deleteQuestion(_ name: String) -> String { words("Delete \(name)?") }
    static func replaceQuestion(_ name: String) -> String { words("Replace \(name)?") }
}
