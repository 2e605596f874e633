// SPDX-License-Identifier: Apache-2.0

/// The properties of a prompt that do not change while it is shown, and its initial content.
package struct Prompt: Equatable, Sendable {
    /// Identifies the prompt between the daemon and the program that shows it; equals the evaluation's number.
    package var id: UInt64
    package var purpose: PromptPurpose
    /// The caller's name, derived from the kernel's peer credentials.
    package var caller: String
    /// The path of the caller's executable as the kernel reports it; empty if it reports none.
    package var program: String
    /// The programs that started the caller, the last one first; empty if they are not shown.
    package var startedBy: String
    /// The name that the caller gave itself and whose items it may use; empty if it equals `caller`.
    package var ownName: String
    package var processID: Int32
    /// The caller's reason, already cleaned and clipped.
    package var reason: String
    package var cancelTitle: String
    /// The title of the fallback button; empty if there is none.
    package var fallbackTitle: String
    /// The app's face usage description, shown while the prompt asks for the face permission.
    package var faceUsage: String
    package var sensor: BiometryKind
    /// The tier; prompts of the simulated tier say that the machine is simulated.
    package var tier: Tier
    /// The device number of the caller's terminal; 0 if it has none.
    package var terminal: UInt64
    package var userID: UInt32
    package var content: PromptContent

    package init(
        id: UInt64, purpose: PromptPurpose = .app, caller: String, program: String = "", ownName: String = "",
        processID: Int32, reason: String,
        cancelTitle: String, fallbackTitle: String, faceUsage: String, sensor: BiometryKind, tier: Tier,
        terminal: UInt64, userID: UInt32, startedBy: String = "", content: PromptContent
    ) {
        self.id = id
        self.purpose = purpose
        self.caller = caller
        self.program = program
        self.ownName = ownName
        self.processID = processID
        self.reason = reason
        self.cancelTitle = cancelTitle
        self.fallbackTitle = fallbackTitle
        self.faceUsage = faceUsage
        self.sensor = sensor
        self.tier = tier
        self.terminal = terminal
        self.userID = userID
        self.startedBy = startedBy
        self.content = content
    }
}

/// The part of a prompt that changes while it is shown.
package struct PromptContent: Hashable, Sendable {
    /// The message that explains the last change of the prompt.
    package enum Notice: UInt8, CaseIterable, Sendable {
        case none = 0
        case notRecognised = 1
        case wrongPasscode = 2
        case biometryLocked = 3
        case biometryFinished = 4
        /// The same wrong passcode was entered again; it was not counted again.
        case sameWrongPasscode = 5
        /// The passcode was not entered since the machine started and is required before biometry.
        case passcodeDueAfterRestart = 6
        /// The passcode or biometry was not used for a long time, and the passcode is required before biometry.
        case passcodeDueByTime = 7
        /// The new passcode has too few characters; the prompt asks for another one.
        case newPasscodeTooShort = 8
        /// The two entries of the new passcode differ; the prompt asks for a new passcode again.
        case newPasscodesDiffer = 9
        // The next five are the cases of `SensorGuidance`.
        case scanAgain = 10
        case swipeTooShort = 11
        case fingerNotCentred = 12
        case removeAndRetry = 13
        case scanTooFast = 14
        case sensorDisconnected = 15
        /// The account password could not be verified; `message` says why, if a module of the system said it.
        case accountNotChecked = 16
        /// The system refuses the account, for example because it has expired.
        case accountRefused = 17
        /// The account password was changed, and the previous one is needed to open the keychain.
        case accountPasswordChanged = 18
        /// The recovery code that was entered is not the one of this keychain.
        case wrongRecoveryCode = 19
        /// What was entered is not the end of the recovery code, which is shown again.
        case recoveryCodeDiffers = 20
        /// Another program uses the sensor; it is tried again.
        case sensorInUse = 21
        /// The account password is right and has expired; the user has to change it.
        case accountPasswordExpired = 22
        /// What was entered is not a recovery code: its check character says that there is a typing error.
        case recoveryCodeMistyped = 23

        /// Whether the message reports a failed attempt, a lockout or a required passcode; false for guidance, which
        /// counts nothing.
        package var isFailure: Bool {
            switch self {
            case .none, .scanAgain, .swipeTooShort, .fingerNotCentred, .removeAndRetry, .scanTooFast: false
            case .notRecognised, .wrongPasscode, .biometryLocked, .biometryFinished, .sameWrongPasscode,
                .passcodeDueAfterRestart, .passcodeDueByTime, .newPasscodeTooShort, .newPasscodesDiffer,
                .sensorDisconnected, .accountNotChecked, .accountRefused, .wrongRecoveryCode, .recoveryCodeDiffers,
                .recoveryCodeMistyped:
                true
            case .accountPasswordChanged, .sensorInUse, .accountPasswordExpired: false
            }
        }
    }

    /// The step in which the prompt is.
    package enum Step: UInt8, CaseIterable, Sendable {
        /// The prompt asks for authentication by `method`.
        case proof = 0
        /// The prompt shows the recovery code until the user confirms it.
        case recoveryCodeShown = 1
        /// The prompt asks for a recovery code, or for the word of `PromptPurpose.confirmationWord`.
        case recoveryCodeAsked = 2
        case newPasscodeAsked = 3
        /// The prompt asks for the same new passcode again.
        case newPasscodeRepeated = 4
        /// The prompt asks for the last group of the recovery code that was shown before.
        case recoveryCodeRepeated = 5
        /// All proofs are there, and the prompt says that the account password has expired until the user
        /// confirms it.
        case accountExpired = 6
        /// All proofs are there, and the prompt asks whether the program may read the item (`SecretAnswer`).
        case answerAsked = 7
        /// The same where no answer is kept: it can only be allowed this once.
        case onceAsked = 8

        /// The answers that the prompt offers, and no others are accepted: what is not kept is not promised.
        package var answers: [SecretAnswer] {
            switch self {
            case .answerAsked: SecretAnswer.allCases
            case .onceAsked: [.once]
            case .proof, .recoveryCodeShown, .recoveryCodeAsked, .newPasscodeAsked, .newPasscodeRepeated,
                .recoveryCodeRepeated, .accountExpired:
                []
            }
        }

        /// Seconds after which a prompt that is in this step ends by itself. Only the change from `proof` or a message to
        /// another step begins them again.
        package var seconds: Int64 {
            switch self {
            case .proof, .accountExpired, .answerAsked, .onceAsked: Limits.promptSeconds
            case .recoveryCodeShown, .recoveryCodeAsked, .recoveryCodeRepeated, .newPasscodeAsked, .newPasscodeRepeated:
                Limits.lastStepSeconds
            }
        }
    }

    /// A question that the user answers before the camera is used.
    package enum Question: UInt8, CaseIterable, Sendable {
        case none = 0
        /// Whether the app may use Face ID, now and later (behaviour LA-07).
        case permission = 1
        /// Whether a sensor that is weak may scan now.
        case scan = 2
    }

    /// The secret for which `passcode` as a method stands.
    package enum Secret: UInt8, CaseIterable, Sendable {
        case passcode = 0
        /// The password of the user's account on this system.
        case accountPassword = 1
        /// The password that the account had before it was changed.
        case previousPassword = 2
    }

    package var step: Step
    /// The requested method while `step` is `proof`; without meaning in other steps, see `asks`.
    package var method: AuthenticationMethod
    /// The message that explains the last change, such as the result of the last try.
    package var notice: Notice
    package var triesLeft: Int
    /// Seconds, from when the content was sent, during which no passcode is accepted; 0 if entry is not delayed.
    package var delaySeconds: Int
    /// Whether the fallback button is shown.
    package var showsFallback: Bool
    /// What the prompt asks before the camera is used.
    package var question: Question
    /// The recovery code to show, as UTF-8 text; nil in every other step, so that a program that shows prompts cannot
    /// read it before all required proofs are there.
    ///
    /// Policy always leaves it nil; `LocalAuthority` sets it when it sends the content.
    package var recoveryCode: SecretBytes?
    /// The secret that is requested while `method` is the passcode.
    package var secret: Secret
    /// What a module of the system says about the account, already cleaned and clipped; empty if it says nothing.
    ///
    /// Policy always leaves it empty; `LocalAuthority` sets it when it sends the content.
    package var message: Phrase

    package init(
        method: AuthenticationMethod, notice: Notice, triesLeft: Int, showsFallback: Bool,
        question: Question = .none, step: Step = .proof, delaySeconds: Int = 0,
        recoveryCode: SecretBytes? = nil, secret: Secret = .passcode, message: Phrase = ""
    ) {
        self.secret = secret
        self.message = message
        self.recoveryCode = recoveryCode
        self.delaySeconds = delaySeconds
        self.step = step
        self.method = method
        self.notice = notice
        self.triesLeft = triesLeft
        self.showsFallback = showsFallback
        self.question = question
    }

    /// Seconds, from when the content was sent or its step began, after which the prompt ends by itself. One that shows a delay
    /// takes the passcode after it, unless the delay is too long.
    package var secondsToEnd: Int64 {
        step.seconds + (delaySeconds <= Limits.promptDelaySeconds ? Int64(delaySeconds) : 0)
    }

    /// Returns whether the prompt currently asks for authentication by `method`.
    package func asks(for method: AuthenticationMethod) -> Bool { step == .proof && self.method == method }

    /// Hashes all fields except the recovery code and the message, which policy never sets.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(step)
        hasher.combine(method)
        hasher.combine(notice)
        hasher.combine(triesLeft)
        hasher.combine(delaySeconds)
        hasher.combine(secret)
        hasher.combine(question)
        hasher.combine(showsFallback)
    }
}

package enum PromptEvent: Equatable, Sendable {
    case visible
    /// The prompt cannot be shown: there is neither a terminal nor an agent for it.
    case unavailable
    /// The prompt ended without an answer.
    case lost
    /// The user chose the cancel button.
    case cancel
    /// The user pressed Ctrl-C.
    case interrupt
    /// The user chose the fallback button.
    case fallback
    case passcode(SecretBytes)
    /// The user answered the question of the prompt: whether the app may use Face ID, or whether to scan now.
    case permission(Bool)
    /// The user operated the simulated sensor; ignored outside the simulated tier.
    case simulatedTouch(matching: Bool)
    /// The user confirmed that the recovery code is written down, or has read that the password has expired.
    case codeAcknowledged
    /// The user entered a recovery code or a word, or chose the answer of that text (`PromptContent.Step.answers`).
    case codeEntered(SecretBytes)
    /// The user entered a new passcode in the step `newPasscodeAsked`.
    case newPasscodeEntered(SecretBytes)
    /// The user entered a new passcode again, in the step `newPasscodeRepeated`.
    case newPasscodeRepeated(SecretBytes)
}
