// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
package import LatchkeyPromptWords

/// A prompt at one moment, in words that are ready to be shown: cleaned, clipped, the caller's own in quotation marks.
///
/// They are plain text. Whoever shows them must not read markup into them.
public struct ShownPrompt: Equatable, Sendable {
    /// What the person is asked for.
    public enum Method: Equatable, Sendable {
        /// A finger, a face or eyes.
        case biometry
        /// A passcode, to be typed.
        case passcode
        /// A confirmation on a paired device.
        case companion
        /// Leave for the app to look at faces.
        case permission
        /// Nothing: a recovery code is shown until the person confirms that it is written down.
        case recoveryCode
        /// A recovery code, to be typed.
        case recoveryCodeEntry
    }

    /// The sensor of this machine.
    public enum Sensor: Equatable, Sendable {
        /// There is none.
        case none
        /// A fingerprint reader.
        case finger
        /// A camera that knows faces.
        case face
        /// A camera that knows eyes.
        case eyes
    }

    /// Names the prompt towards the daemon.
    public let number: UInt64
    /// What is asked for now.
    public let method: Method
    /// The sensor.
    public let sensor: Sensor
    /// Whether the sensor watches, once the prompt is visible.
    public let isWatching: Bool
    /// Whether a passcode is being checked.
    public let isChecking: Bool
    /// Whether no passcode is taken for now; `wish` says how long. Ask the link each second for the `current` prompt.
    public let isDelayed: Bool
    /// Whether `feedback` speaks of a failure.
    public let isFailure: Bool
    /// Who asks for what.
    public let question: String
    /// Whether `reason` says in Latchkey's own words what is about to happen, and `question` already names the program.
    public let isOwnRequest: Bool
    /// Why: in the caller's words, or in Latchkey's own; nil when the caller gave none.
    public let reason: String?
    /// The caller as the kernel knows it: process and program.
    public let program: String
    /// The name the caller gave itself, in quotation marks; nil when that is the kernel's.
    public let ownName: String?
    /// What the caller looks at faces for, in its words, while it asks for leave.
    public let usage: String?
    /// What to do now.
    public let wish: String
    /// The recovery code to show; nil while there is none. Whoever shows it should keep no copy.
    public let recoveryCode: String?
    /// What the last try came to and how many are left; empty before the first.
    public let feedback: String
    /// The title of the button that sends what was typed.
    public let entryTitle: String
    /// The title of the cancel button, the caller's or ours.
    public let cancelTitle: String
    /// The title of the fallback button; nil while there is none.
    public let fallbackTitle: String?
    /// Said in the tier that protects nothing; nil elsewhere.
    public let simulation: String?
    /// What the person may play in that tier; empty elsewhere.
    public let plays: [Play]

    /// A button of the simulated tier.
    public struct Play: Equatable, Sendable {
        /// What stands on it.
        public let title: String
        /// What it tells the daemon: a touch that matches or does not, or nil for a confirmation on the paired device.
        public let isMatching: Bool?
    }

    /// The title of the button of `recoveryCode`.
    public static let acknowledgement = PromptState.acknowledgement
    /// Lines of the reason that are shown; more end with an ellipsis.
    public static let reasonLines = Limits.reasonLines
    /// The same for any other text of a caller.
    public static let otherLines = Limits.otherLines
    /// Bytes of the longest passcode.
    public static let passcodeBytes = Limits.passcodeBytes

    package init(_ state: PromptState) {
        let (prompt, content) = (state.prompt, state.content)
        number = prompt.id
        method =
            switch content.method {
            case _ where content.step == .recoveryCodeShown: .recoveryCode
            case _ where content.step == .recoveryCodeAsked: .recoveryCodeEntry
            case _ where content.asksPermission: .permission
            case .biometry: .biometry
            case .passcode: .passcode
            case .companion: .companion
            }
        sensor =
            switch prompt.sensor {
            case .none: .none
            case .touchID: .finger
            case .faceID: .face
            case .opticID: .eyes
            }
        isWatching = method == .biometry && content.triesLeft > 0
        isDelayed = state.isDelayed
        isChecking = state.entry == .checking
        isFailure = content.notice != .none && state.entry != .checking && method != .permission
        question = state.question
        isOwnRequest = state.action != nil
        reason = state.reason
        recoveryCode = state.recoveryCode
        program = state.program
        ownName = state.ownName
        usage = state.usage
        wish = state.wish
        feedback = state.feedbackAfterTries
        entryTitle = state.entryTitle
        cancelTitle = prompt.cancelTitle
        // At the passcode the fallback has been taken, as in the terminal.
        fallbackTitle =
            content.showsFallback && content.method != .passcode ? prompt.fallbackTitle : nil
        simulation = state.simulation
        plays = ShownPrompt.plays(state)
    }

    private static func plays(_ state: PromptState) -> [Play] {
        let touches = zip(state.simulatedKeys.map(\.title), [true, false]).map {
            Play(title: "Play \($0)", isMatching: $1)
        }
        let content = state.content
        guard state.prompt.tier == .simulated, content.offersCompanion || content.method == .companion else {
            return touches
        }
        return touches + [Play(title: "Play paired device", isMatching: nil)]
    }
}
