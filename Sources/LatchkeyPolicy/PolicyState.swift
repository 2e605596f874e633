// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

/// Everything the decision about a person depends on. Pure data: the reducer is the only code that changes it.
package struct PolicyState: Hashable, Sendable {
    /// The sensor as last reported.
    package var sensor: SensorState
    /// Whether a passcode exists.
    package var isPasscodeSet: Bool
    /// Failed matches in a row, across evaluations and apps; at five biometry is locked (behaviour LA-28).
    package var biometryFailures: Int
    /// Wrong passcodes in a row.
    package var passcodeFailures: Int
    /// Until when no passcode is taken, in nanoseconds of the boot clock (behaviour LA-30).
    package var passcodeBlockedUntil: Int64
    /// The time of the last event, on the boot clock.
    package var now: Int64 = 0
    /// When the passcode was last right; nil: not since the machine started, and it has to be entered first.
    package var lastPasscode: Int64? = 0
    /// When biometry last succeeded in this boot.
    package var lastBiometry: Int64?
    /// The paired devices as last reported.
    package var companions: CompanionState
    /// Whether the device is locked: nobody is asked then.
    package var isLocked: Bool
    /// Whether the asking app is in the background: nothing is shown for it.
    package var isInBackground: Bool
    /// When the device was last unlocked by biometry, on the boot clock; nil after a lock or another way in.
    package var biometricUnlock: Int64?
    /// What the person has told each app that asked to look at a face (behaviour LA-07); an app without an entry asks.
    package var facePermissions: [String: Bool]
    /// The evaluation whose prompt is up.
    package var active: ActiveEvaluation?
    /// Evaluations that wait for their turn.
    package var waiting: [EvaluationRequest]
    /// Programs that had their turn and have evaluations under way, the one whose turn is longest ago first.
    package var served: [UInt64] = []

    /// Makes a state with nothing under way.
    package init(
        sensor: SensorState = .absent, isPasscodeSet: Bool = false, biometryFailures: Int = 0,
        passcodeFailures: Int = 0, passcodeBlockedUntil: Int64 = 0
    ) {
        self.sensor = sensor
        self.isPasscodeSet = isPasscodeSet
        self.biometryFailures = biometryFailures
        self.passcodeFailures = passcodeFailures
        self.passcodeBlockedUntil = passcodeBlockedUntil
        companions = CompanionState()
        isLocked = false
        isInBackground = false
        facePermissions = [:]
        active = nil
        waiting = []
    }

    /// Failed matches in a row that lock biometry.
    package static let lockoutThreshold = 5
    /// Seconds for which an unlock may be reused at the most (behaviour LA-33).
    package static let maximumReuseSeconds: UInt64 = 300
    /// Wrong passcodes within one evaluation that end it.
    package static let passcodeTriesPerEvaluation = 3

    /// Whether biometry waits for a passcode.
    package var isBiometryLocked: Bool { biometryFailures >= Self.lockoutThreshold }

    /// The part that outlives the process.
    package var counters: PolicyCounters {
        PolicyCounters(
            biometryFailures: biometryFailures, passcodeFailures: passcodeFailures,
            passcodeBlockedUntil: passcodeBlockedUntil, lastPasscode: lastPasscode, lastBiometry: lastBiometry)
    }
}

/// What a caller wants proven.
package struct EvaluationRequest: Hashable, Sendable {
    package var id: UInt64
    package var plan: AuthenticationPlan
    /// Whether the fallback button may ever be shown (behaviour LA-25).
    package var allowsFallback: Bool
    /// Whether a prompt may be shown (behaviour LA-31).
    package var interactionAllowed: Bool
    /// Seconds within which an unlock by biometry stands for a match (behaviour LA-33).
    package var reuseSeconds: UInt64
    /// The app, if it says what it looks at faces for; without a word none is looked at (behaviour LA-07).
    package var faceUser: String?
    /// What the prompt is shown for.
    package var purpose: PromptPurpose
    /// What follows once the plan is proven.
    package var lastStep: LastStep
    /// Who asks. A request without a caller proves nothing to anyone.
    package var caller: Caller
    /// Which program asks: programs take turns.
    package var program: UInt64

    /// Makes a request.
    package init(
        id: UInt64, plan: AuthenticationPlan, allowsFallback: Bool, interactionAllowed: Bool, reuseSeconds: UInt64 = 0,
        faceUser: String? = nil, purpose: PromptPurpose = .app, lastStep: LastStep = .none,
        caller: Caller = .none, program: UInt64 = 0
    ) {
        self.program = program
        self.id = id
        self.plan = plan
        self.allowsFallback = allowsFallback
        self.interactionAllowed = interactionAllowed
        self.reuseSeconds = reuseSeconds
        self.faceUser = faceUser
        self.purpose = purpose
        self.lastStep = lastStep
        self.caller = caller
    }
}

/// An evaluation whose prompt is up, or is being put up.
package struct ActiveEvaluation: Hashable, Sendable {
    package var request: EvaluationRequest
    /// Which stage of the plan is under way; the number of stages during the last step.
    package var stage: Int
    /// What the person is asked for; without meaning during the last step.
    package var method: AuthenticationMethod
    /// Whether the person can see the prompt; nothing counts before.
    package var isVisible: Bool
    /// Whether the sensor watches.
    package var isArmed: Bool
    /// Whether the person is asked first whether the app may look at faces at all.
    package var isAskingPermission: Bool
    /// Whether a passcode is being checked.
    package var isChecking: Bool
    /// A try whose count is being made durable.
    package var keeping: Keeping?
    /// Failed tries of the method in this evaluation.
    package var failedTries: Int
    /// What has been proven so far.
    package var proven: Authorisation
    /// Why the prompt looks as it does.
    package var notice: PromptContent.Notice

    /// What goes on once a count is durable.
    package enum Keeping: Hashable, Sendable {
        /// A finger or face that did not match.
        case miss
        /// A passcode that has not been looked at; with the counters before it.
        case passcode(PolicyCounters)
    }

    /// What the prompt does now.
    package var step: PromptContent.Step {
        guard stage >= request.plan.stages.count else { return .proof }
        return switch request.lastStep {
        case .none: .proof
        case .showsRecoveryCode: .recoveryCodeShown
        case .asksRecoveryCode: .recoveryCodeAsked
        }
    }

    /// The methods that meet the stage under way; none during the last step.
    package var accepted: Set<AuthenticationMethod> {
        stage < request.plan.stages.count ? request.plan.stages[stage] : []
    }
}
