// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel

// The texts of a transcript.

extension SimulatedWorld.Action {
    var words: String {
        switch self {
        case .touch(let matching): matching ? "the enrolled finger" : "another finger"
        case .face(let matching): matching ? "the enrolled face" : "another face"
        case .passcode: "a passcode is entered"
        case .fallback: "the fallback is chosen"
        case .cancel: "the prompt is cancelled"
        case .permission(let isAllowed): isAllowed ? "Face ID is allowed" : "Face ID is not allowed"
        case .codeAcknowledged: "the recovery code is written down"
        case .recoveryCode: "a recovery code is entered"
        case .choice(.once): "reading is allowed once"
        case .choice(.session): "reading is allowed until logout"
        case .choice(.always): "reading is always allowed"
        case .choice(.never): "reading is never allowed"
        case .newPasscode: "a new passcode is entered"
        case .sensorFailure: "the sensor fails"
        case .guidance(let guidance): "the sensor cannot use a scan: \(guidance)"
        case .unplug: "the sensor is unplugged"
        }
    }
}

extension SimulatorCommand {
    /// The line of the transcript for a command; nil for a command that adds no line, or adds one only when a prompt or
    /// the sensor accepts its action.
    var words: String? {
        switch self {
        case .sensor(let kind): "the sensor is \(kind)"
        case .enroll: "a finger is enrolled"
        case .unenroll: "nothing is enrolled"
        case .replaceFinger: "a finger is replaced"
        case .touch, .look, .guide, .unplug, .permission, .fail(.sensor), .cancel, .fallback, .enter,
            .acknowledgeCode, .enterCode, .enterNewPasscode, .choose, .reportCode:
            nil
        case .advance(let seconds): "\(seconds) s pass"
        case .reset: "queued actions are dropped"
        case .answer(.always): "every prompt is answered"
        case .answer(.never): "every prompt is cancelled"
        case .answer(.byRule): "queued actions answer prompts"
        case .lock: "the device is locked"
        case .unlock(let byBiometry): byBiometry ? "unlocked by biometry" : "unlocked by the passcode"
        case .background(let isBehind): isBehind ? "the app is in the background" : "the app is in front"
        case .fail(.diskFull): "the disk is full for one write"
        case .fail(.missingEntitlement): "one request has no entitlement"
        case .acceptAnyPasscode(let isOn): isOn ? "any passcode is right" : "only the passcode is right"
        case .restart: "the machine restarts"
        }
    }
}

extension PromptContent {
    func words(_ prompt: Prompt) -> String {
        switch step {
        case .recoveryCodeShown: return "  prompt: recovery code shown"
        case .recoveryCodeAsked:
            return "  prompt: " + (prompt.purpose.confirmationWord.map { "the word \($0)" } ?? "recovery code")
        case .recoveryCodeRepeated: return "  prompt: end of the recovery code"
        case .newPasscodeAsked: return "  prompt: new passcode" + why
        case .newPasscodeRepeated: return "  prompt: new passcode again"
        case .answerAsked: return "  prompt: once, always or never"
        case .onceAsked: return "  prompt: once"
        case .accountExpired: return "  prompt: password of the account has expired"
        case .proof: break
        }
        let title =
            switch method {
            case .biometry: question == .permission ? "\(prompt.sensor)? \"\(prompt.faceUsage)\"" : "\(prompt.sensor)"
            case .passcode: secretWords
            }
        let tries = question == .permission ? "" : ", tries left: \(triesLeft)"
        let fallback = showsFallback ? ", fallback \"\(prompt.fallbackTitle)\"" : ""
        let delay = delaySeconds == 0 ? "" : ", entry in \(delaySeconds) s"
        return "  prompt: " + title + why + tries + delay + fallback
    }

    /// The notice, as a part of a line.
    private var why: String {
        switch notice {
        case .none: ""
        case .notRecognised: ", not recognised"
        case .wrongPasscode: ", wrong passcode"
        case .biometryLocked: ", biometry is locked"
        case .biometryFinished: ", biometry has no tries left"
        case .sameWrongPasscode: ", the same wrong passcode"
        case .passcodeDueAfterRestart, .passcodeDueByTime: ", the passcode is due"
        case .newPasscodeTooShort: ", too short"
        case .newPasscodesDiffer: ", the entries differ"
        case .scanAgain, .swipeTooShort, .fingerNotCentred, .removeAndRetry, .scanTooFast: ", \(notice)"
        case .sensorDisconnected: ", the sensor is disconnected"
        case .accountPasswordExpired: ", the password of the account has expired"
        case .accountNotChecked: ", the account cannot be checked"
        case .accountRefused: ", the account is refused"
        case .accountPasswordChanged: ", the account password was changed"
        case .wrongRecoveryCode: ", another recovery code"
        case .recoveryCodeDiffers: ", not the end of the recovery code"
        case .recoveryCodeMistyped: ", a mistyped recovery code"
        case .sensorInUse: ", another program uses the sensor"
        }
    }

    private var secretWords: String {
        switch secret {
        case .passcode: "passcode"
        case .accountPassword: "account password"
        case .previousPassword: "previous account password"
        }
    }
}

extension PromptEvent {
    /// The line of the transcript for an event of a prompt that the script does not answer; nil for an event that adds
    /// no line.
    var words: String? {
        switch self {
        case .visible, .unavailable, .simulatedTouch: nil
        case .lost: "the prompt is lost"
        case .cancel, .interrupt: SimulatedWorld.Action.cancel.words
        case .fallback: SimulatedWorld.Action.fallback.words
        case .passcode(let passcode): SimulatedWorld.Action.passcode(passcode).words
        case .permission(let isAllowed): SimulatedWorld.Action.permission(isAllowed).words
        case .codeAcknowledged: SimulatedWorld.Action.codeAcknowledged.words
        case .codeEntered(let code):
            // An answer has the event of a recovery code, which is never such a word.
            (SecretAnswer(entered: code).map { .choice($0) } ?? SimulatedWorld.Action.recoveryCode(code)).words
        case .newPasscodeEntered(let passcode), .newPasscodeRepeated(let passcode):
            SimulatedWorld.Action.newPasscode(passcode).words
        }
    }
}
