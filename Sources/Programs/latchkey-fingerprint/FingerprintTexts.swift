// SPDX-License-Identifier: Apache-2.0

import BusDrivers
import LatchkeyModel
import LatchkeySeams
import LatchkeyWords

/// The texts of `latchkey fingerprint`, in one language.
struct FingerprintTexts: Sendable {
    private let words: Words

    init(_ words: Words) { self.words = words }

    var usage: String {
        words(
            """
            usage: latchkey fingerprint list [--json]
                   latchkey fingerprint enroll [FINGER] [--reader READER] [--replace]
                   latchkey fingerprint delete FINGER | --all [--reader READER] [--yes]
                   latchkey fingerprint verify

            FINGER is left- or right- with thumb, index-finger, middle-finger, ring-finger or little-finger.
            READER is the name or the number of a reader, as the list shows them.

            """)
    }

    // MARK: - Failures

    var misused: Failure { Failure(.invalidParameter, "The command line is not understood.", hint: "\(usage)") }

    var noReader: Failure {
        Failure(
            .biometryNotAvailable, "There is no fingerprint reader.",
            hint: "fprintd supports the readers of https://fprint.freedesktop.org/supported-devices.html")
    }

    var noneEnrolled: Failure {
        Failure(
            .biometryNotEnrolled, "No finger is enrolled.",
            hint: "Enroll one with: latchkey fingerprint enroll")
    }

    var notRecognised: Failure { Failure(.authenticationFailed, "Not recognised.") }

    var disconnected: Failure { Failure(.biometryDisconnected, "The reader was disconnected.") }

    var failed: Failure {
        Failure(
            .biometryNotAvailable, "The reader did not recognise a finger in time, or failed.",
            hint: "See: systemctl status fprintd")
    }

    func unknownFinger(_ name: String) -> Failure {
        Failure(
            .invalidParameter, "There is no finger \(name).",
            hint: "Use one of: \(FprintFingers.names.joined(separator: ", "))")
    }

    /// - Parameter known: the numbers and names of all readers.
    func unknownReader(_ name: String, _ known: [String]) -> Failure {
        Failure(
            .invalidParameter, "No reader, or more than one, has the name \(name).",
            hint: "Use a number or a name of: \(known.joined(separator: ", "))")
    }

    func notEnrolled(_ finger: String) -> Failure {
        Failure(
            .itemNotFound, "Your \(name(finger, context: "your")) is not enrolled.",
            hint: "See: latchkey fingerprint list")
    }

    func enrolledAlready(_ finger: String) -> Failure {
        Failure(
            .duplicateItem, "Your \(name(finger, context: "your")) is enrolled already.",
            hint: "Add --replace.")
    }

    func notTyped(_ word: String) -> Failure {
        Failure(.userCancel, "\(word) was not typed.", hint: "Nothing was changed.")
    }

    // MARK: - Sentences

    var deleted: String { words("Deleted.") }
    var touch: String { words("Touch the reader.") }
    var inUse: String { words("Another program is using the reader.") }
    var recognised: String { words("Recognised.") }
    var done: String { words("Done.") }

    /// What a change of the enrolled fingers ends.
    var consequence: String {
        words("Items that are bound to the fingers enrolled now (rule current-set) are lost with this change.")
    }

    func none(on reader: String) -> String { words("No finger is enrolled on \(reader).") }

    func enrolled(_ finger: String) -> String { words("Your \(name(finger, context: "your")) is enrolled.") }

    /// - Parameter finger: the finger that is deleted; nil for every finger.
    func deletion(of finger: String?) -> String {
        let what =
            finger.map { words("Your \(name($0, context: "your")) is deleted.") } ?? words("Every finger is deleted.")
        return what + " " + consequence
    }

    func replacement(of finger: String) -> String {
        words(
            """
            Your \(name(finger, context: "your")) is enrolled already. Its print is deleted before the new one is \
            scanned: if you stop before the end, none remains.
            """) + " " + consequence
    }

    func begin(_ finger: String, on reader: FprintFingers.Reader) -> String {
        let name = name(finger, context: "with your")
        return reader.isSwiped
            ? words("Swipe the reader with your \(name): \(reader.name)")
            : words("Touch the reader with your \(name): \(reader.name)")
    }

    func next(isSwiped: Bool) -> String {
        isSwiped ? words("Lift your finger, and swipe again.") : words("Lift your finger, and touch again.")
    }

    /// The row of circles of an enrolment, how many of them are filled, and what to do.
    func progress(_ circles: String, _ passed: Int, _ total: Int, _ sentence: String) -> String {
        words("\(circles)  \(passed) of \(total)  \(sentence)")
    }

    func question(_ word: String) -> String { words("Type \(word) to continue: ") }

    /// What the person should do differently.
    func sentence(_ guidance: SensorGuidance) -> String {
        switch guidance {
        case .scanAgain: words("The scan was not clear. Try again.")
        case .swipeTooShort: words("The swipe was too short. Try again.")
        case .fingerNotCentred: words("Centre your finger on the reader, and try again.")
        case .removeAndRetry: words("Lift your finger, and try again.")
        case .tooFast: words("That was too fast. Try again.")
        }
    }

    /// The lines on standard error about a failure.
    func report(_ failure: Failure) -> String {
        let (message, hint) = (words(failure.text), words(failure.advice))
        return words("error:") + " \(message)\n" + (hint.isEmpty ? "" : words("hint:") + " \(hint)\n")
    }

    /// - Parameter context: the words before the name, which decide about its form.
    private func name(_ finger: String, context: String) -> String {
        switch finger {
        case "right-thumb": words("right thumb", context: context)
        case "right-index-finger": words("right index finger", context: context)
        case "right-middle-finger": words("right middle finger", context: context)
        case "right-ring-finger": words("right ring finger", context: context)
        case "right-little-finger": words("right little finger", context: context)
        case "left-thumb": words("left thumb", context: context)
        case "left-index-finger": words("left index finger", context: context)
        case "left-middle-finger": words("left middle finger", context: context)
        case "left-ring-finger": words("left ring finger", context: context)
        case "left-little-finger": words("left little finger", context: context)
        default: finger
        }
    }
}
