// SPDX-License-Identifier: Apache-2.0

/// What a prompt says that does not change while it is shown.
package struct Prompt: Equatable, Sendable {
    /// Names the prompt between its two ends.
    package var id: UInt64
    /// What it is shown for.
    package var purpose: PromptPurpose
    /// The caller's name as the kernel's facts give it.
    package var caller: String
    /// Where the caller's program is, as the kernel knows it; empty when it does not.
    package var program: String
    /// The name the caller gave itself, whose items it may use; empty when it is `caller`.
    package var ownName: String
    /// The caller's process.
    package var processID: Int32
    /// The caller's reason, already cleaned and clipped.
    package var reason: String
    /// The title of the cancel button.
    package var cancelTitle: String
    /// The title of the fallback button.
    package var fallbackTitle: String
    /// What the app says it looks at faces for; shown while it asks for that.
    package var faceUsage: String
    /// Which sensor is asked.
    package var sensor: BiometryKind
    /// The tier, shown when it is not the strongest.
    package var tier: Tier
    /// The caller's terminal, or 0.
    package var terminal: UInt64
    /// The caller's user.
    package var userID: UInt32
    /// What is shown first.
    package var content: PromptContent

    /// Makes a prompt.
    package init(
        id: UInt64, purpose: PromptPurpose = .app, caller: String, program: String = "", ownName: String = "",
        processID: Int32, reason: String,
        cancelTitle: String, fallbackTitle: String, faceUsage: String, sensor: BiometryKind, tier: Tier,
        terminal: UInt64, userID: UInt32, content: PromptContent
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
        self.content = content
    }
}

/// The part of a prompt that changes with every try.
package struct PromptContent: Hashable, Sendable {
    /// Why the prompt looks as it does.
    package enum Notice: UInt8, CaseIterable, Sendable {
        case none = 0
        case notRecognised = 1
        case wrongPasscode = 2
        case biometryLocked = 3
        case biometryFinished = 4
        /// The same wrong passcode as before; it did not count again.
        case sameWrongPasscode = 5
        /// The passcode is due before biometry counts: after a restart.
        case passcodeDueAfterRestart = 6
        /// The same because neither was used for a long time.
        case passcodeDueByTime = 7
    }

    /// What the prompt does now.
    package enum Step: UInt8, CaseIterable, Sendable {
        /// It asks for a proof by `method`.
        case proof = 0
        /// It shows the recovery code until the person confirms.
        case recoveryCodeShown = 1
        /// It asks for a recovery code.
        case recoveryCodeAsked = 2
    }

    /// What the prompt does now.
    package var step: Step
    /// What the person is asked for while `step` is `proof`; without meaning otherwise, see `asks`.
    package var method: AuthenticationMethod
    /// What the last try came to.
    package var notice: Notice
    /// Tries left before the method ends.
    package var triesLeft: Int
    /// Seconds, from when this was sent, in which no passcode is taken; 0 while one is.
    package var delaySeconds: Int
    /// Whether the fallback button is shown.
    package var showsFallback: Bool
    /// Whether a paired device may confirm instead.
    package var offersCompanion: Bool
    /// Whether the person is asked first whether the app may look at faces; the sensor does not watch yet.
    package var asksPermission: Bool
    /// The recovery code to show, as text in UTF-8; nil in every other step, so that no program that shows prompts is given
    /// it before everything is proven. Policy leaves it nil: whoever shows the prompt fills it in.
    package var recoveryCode: SecretBytes?

    /// Makes a content.
    package init(
        method: AuthenticationMethod, notice: Notice, triesLeft: Int, showsFallback: Bool,
        offersCompanion: Bool = false, asksPermission: Bool = false, step: Step = .proof, delaySeconds: Int = 0,
        recoveryCode: SecretBytes? = nil
    ) {
        self.recoveryCode = recoveryCode
        self.delaySeconds = delaySeconds
        self.step = step
        self.method = method
        self.notice = notice
        self.triesLeft = triesLeft
        self.showsFallback = showsFallback
        self.offersCompanion = offersCompanion
        self.asksPermission = asksPermission
    }

    /// Whether the person is asked for that proof now.
    package func asks(for method: AuthenticationMethod) -> Bool { step == .proof && self.method == method }

    /// Hashes everything but the recovery code, which is no part of a decision.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(step)
        hasher.combine(method)
        hasher.combine(notice)
        hasher.combine(triesLeft)
        hasher.combine(delaySeconds)
        hasher.combine([showsFallback, offersCompanion, asksPermission])
    }
}

/// What comes back from a prompt.
package enum PromptEvent: Equatable, Sendable {
    /// The person can see it.
    case visible
    /// There is no place to show it.
    case unavailable
    /// It ended without an answer.
    case lost
    case cancel
    case fallback
    case passcode(SecretBytes)
    /// The person's answer to the question whether the app may look at faces.
    case permission(Bool)
    /// The person plays the simulated sensor; refused outside the simulated tier.
    case simulatedTouch(matching: Bool)
    /// A paired device confirmed; refused outside the simulated tier, which alone has such devices so far.
    case companionConfirmed
    /// The person confirmed that the recovery code is written down.
    case codeAcknowledged
    /// The person typed a recovery code.
    case codeEntered(SecretBytes)
}
