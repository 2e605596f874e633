// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel

/// How a script answers the prompts that nothing but the script can answer.
package enum PromptScript: Equatable, Sendable {
    /// By commands of `latchkey sim`, which other programs send at any time; the clock runs by itself.
    case commands
    /// By functions of the module LatchkeySimulator. Only if `waits`, another task may queue an action or advance the
    /// clock while a prompt is shown.
    case functions(waits: Bool)
}

extension SimulatedWorld {
    /// The prompt that is shown, and what is known about it.
    struct ShownPrompt: Sendable {
        let prompt: Prompt
        var content: PromptContent
        var isVisible = false
        /// The script that is the only one to answer the prompt; nil if a terminal or a window shows it.
        var script: PromptScript?
        var wasArmed = false
        /// The latest action of a person who answers every prompt.
        var answer: Action?
        let events: @Sendable (PromptEvent) -> Void

        init(_ prompt: Prompt, _ events: @escaping @Sendable (PromptEvent) -> Void) {
            self.prompt = prompt
            content = prompt.content
            self.events = events
        }

        /// Whether the prompt ends as soon as no queued action can answer it.
        var endsWithScript: Bool {
            switch script {
            case .commands, .functions(waits: false): true
            case .functions(waits: true), nil: false
            }
        }

        /// Whether the prompt accepts no passcode now, and only the script could advance the clock, which it does not do
        /// while the prompt is shown.
        var isDelayedForEver: Bool {
            script == .functions(waits: false) && content.asks(for: .passcode) && content.delaySeconds > 0
        }

        /// Returns whether the prompt can never accept the action, because only a later action in the queue could
        /// change the prompt so that it does.
        func neverTakes(_ action: Action, isArmed: Bool, sensor: BiometryKind) -> Bool {
            switch action {
            // The sensor is armed a moment after the prompt becomes visible.
            case .touch where sensor.isCamera, .face where !sensor.isCamera: true
            case .touch, .face, .sensorFailure, .guidance, .unplug:
                !isArmed && (wasArmed || !content.asks(for: .biometry) || content.question != .none)
            // A prompt that delays passcode entry accepts a passcode when the clock has advanced.
            case .passcode: !content.asks(for: .passcode) || isDelayedForEver
            case .fallback: !content.showsFallback
            case .permission: content.question == .none
            case .codeAcknowledged: ![.recoveryCodeShown, .accountExpired].contains(content.step)
            case .recoveryCode: ![.recoveryCodeAsked, .recoveryCodeRepeated].contains(content.step)
            case .choice(let answer): !content.step.answers.contains(answer)
            case .newPasscode: content.step != .newPasscodeAsked && content.step != .newPasscodeRepeated
            case .cancel: false
            }
        }

        // MARK: - A person who answers every prompt

        /// What a person who answers every prompt does.
        enum Answer: Sendable {
            case action(Action)
            case later
            case never
        }

        /// Returns what a person who answers every prompt does now.
        ///
        /// - Parameters:
        ///   - isArmed: whether the sensor is armed.
        ///   - sensor: the sensor of the machine.
        ///   - passcode: the passcode of the machine, if the simulation has seen it.
        ///   - code: the recovery code that a prompt showed last.
        func answer(isArmed: Bool, sensor: BiometryKind, passcode: SecretBytes?, code: SecretBytes?) -> Answer {
            let next = nextAnswer(isArmed: isArmed, sensor: sensor, passcode: passcode, code: code)
            // What the prompt has refused it would refuse again, without end where that is not counted.
            if case .action(let action) = next, action == answer, content.notice.isFailure { return .never }
            return next
        }

        private func nextAnswer(
            isArmed: Bool, sensor: BiometryKind, passcode: SecretBytes?, code: SecretBytes?
        ) -> Answer {
            switch content.step {
            case .recoveryCodeShown, .accountExpired: return .action(.codeAcknowledged)
            case .answerAsked, .onceAsked: return .action(.choice(.once))
            case .recoveryCodeAsked:
                let word = prompt.purpose.confirmationWord.map { SecretBytes($0.utf8) }
                return (word ?? code).map { .action(.recoveryCode($0)) } ?? .never
            case .recoveryCodeRepeated:
                let end = code.map {
                    $0.withBytes { SecretBytes($0.split(separator: UInt8(ascii: "-")).last ?? $0[...]) }
                }
                return end.map { .action(.recoveryCode($0)) } ?? .never
            case .newPasscodeAsked, .newPasscodeRepeated: return .action(.newPasscode(KnownPasscode.usual))
            case .proof where content.question != .none: return .action(.permission(true))
            case .proof: break
            }
            switch content.method {
            case .biometry:
                if isArmed { return .action(.scan(matching: true, sensor)) }
                if !wasArmed { return .later }
                return content.showsFallback ? .action(.fallback) : .never
            case .passcode:
                guard content.delaySeconds == 0 else { return isDelayedForEver ? .never : .later }
                return .action(.passcode(passcode ?? KnownPasscode.usual))
            }
        }
    }
}

extension SimulatedWorld.Action {
    /// A scan by the sensor: a touch, or a face for a camera.
    static func scan(matching: Bool, _ sensor: BiometryKind) -> Self {
        sensor.isCamera ? .face(matching: matching) : .touch(matching: matching)
    }
}

extension BiometryKind {
    /// Whether a face or eyes are presented to the sensor, and not a finger.
    var isCamera: Bool {
        switch self {
        case .none, .touchID: false
        case .faceID, .opticID: true
        }
    }
}
