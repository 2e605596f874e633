// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

/// The state on which all authentication decisions depend.
///
/// It is a value without locks, clocks or drivers, so that every sequence of events can be enumerated in tests and
/// recorded as a trace. `reduce` applies one event and returns the effects, such as showing a prompt or storing
/// counters. `LocalAuthority` executes them and reports their results as further events.
///
/// `authority` is the part that another process may see; `active`, `waiting` and `served` are the evaluations under
/// way. A try is counted durably before its result counts. A proof is made only here, from an event of the sensor or of
/// a verification.
///
/// All times are nanoseconds of the boot-time clock.
package struct PolicyState: Hashable, Sendable {
    /// The part that does not depend on the evaluations.
    package var authority: AuthorityState
    /// The time of the last event.
    package var now: Int64 = 0
    /// Whether the lock is that of a login session, with which it ends. Another lock ends at a prompt only.
    package var isSessionLock = false
    /// The evaluations whose prompts are shown, in the order in which they began: at most one in each place.
    package var active: [ActiveEvaluation] = []
    /// Entered passcodes that wait until the one of another evaluation is verified, in the order of entry.
    package var heldEntries: [HeldEntry] = []
    /// Evaluations that wait for their prompt, in the order of their requests.
    package var waiting: [EvaluationRequest] = []
    /// Programs that were served and have an active or waiting evaluation, least recently served first.
    package var served: [UInt64] = []

    /// Creates a state without evaluations.
    package init(_ authority: AuthorityState = AuthorityState(sensor: .absent, isPasscodeSet: false)) {
        self.authority = authority
    }

    /// Number of consecutive failed matches that locks biometry.
    package static let lockoutThreshold = 5
    /// Maximum seconds after an unlock by biometry during which it is accepted as proof (behaviour LA-33).
    package static let maximumReuseSeconds: UInt64 = 300
    /// Number of wrong passcodes within one evaluation that ends it.
    package static let passcodeTriesPerEvaluation = 3

    /// Whether biometry is locked until a correct passcode is entered.
    package var isBiometryLocked: Bool { biometryFailures >= Self.lockoutThreshold }
}

// The parts of `authority` by their own names, as the transitions use them.
extension PolicyState {
    package var sensor: SensorState {
        get { authority.sensor }
        set { authority.sensor = newValue }
    }
    package var isPasscodeSet: Bool {
        get { authority.isPasscodeSet }
        set { authority.isPasscodeSet = newValue }
    }
    package var counters: PolicyCounters {
        get { authority.counters }
        set { authority.counters = newValue }
    }
    package var biometryFailures: Int {
        get { authority.counters.biometryFailures }
        set { authority.counters.biometryFailures = newValue }
    }
    package var passcodeFailures: Int {
        get { authority.counters.passcodeFailures }
        set { authority.counters.passcodeFailures = newValue }
    }
    package var passcodeBlockedUntil: Int64 {
        get { authority.counters.passcodeBlockedUntil }
        set { authority.counters.passcodeBlockedUntil = newValue }
    }
    package var lastPasscode: Int64? {
        get { authority.counters.lastPasscode }
        set { authority.counters.lastPasscode = newValue }
    }
    package var lastBiometry: Int64? {
        get { authority.counters.lastBiometry }
        set { authority.counters.lastBiometry = newValue }
    }
    package var isLocked: Bool {
        get { authority.isLocked }
        set { authority.isLocked = newValue }
    }
    package var isInBackground: Bool {
        get { authority.isInBackground }
        set { authority.isInBackground = newValue }
    }
    package var biometricUnlock: Int64? {
        get { authority.biometricUnlock }
        set { authority.biometricUnlock = newValue }
    }
    package var facePermissions: [String: Bool] {
        get { authority.facePermissions }
        set { authority.facePermissions = newValue }
    }
    package var biometrySessions: BiometrySessions {
        get { authority.biometrySessions }
        set { authority.biometrySessions = newValue }
    }
}

/// A request to evaluate a plan.
package struct EvaluationRequest: Hashable, Sendable {
    package var id: UInt64
    package var plan: AuthenticationPlan
    /// Whether the fallback button may be shown at all (behaviour LA-25).
    package var allowsFallback: Bool
    /// Whether a prompt may be shown (behaviour LA-31).
    package var interactionAllowed: Bool
    /// Seconds after an unlock by biometry during which it is accepted as proof (behaviour LA-33).
    package var reuseSeconds: UInt64
    /// The app whose face permission applies; nil if the app has no face usage description and so may not use Face ID
    /// (behaviour LA-07).
    package var faceUser: String?
    package var purpose: PromptPurpose
    /// Whether a match by a weak sensor is accepted: for a policy, which releases nothing.
    package var acceptsWeak: Bool
    /// The step that follows when the plan is complete.
    package var lastStep: LastStep
    /// Whether the password of the user's account is verified before the first stage. It proves no method.
    package var startsWithAccount: Bool
    /// The caller to which the proofs belong. Proofs for `Caller.none` authorise nothing.
    package var caller: Caller
    /// The number of the program, by which evaluations take turns.
    package var program: UInt64
    /// The message with which the prompt of a last step begins.
    package var notice: PromptContent.Notice
    package var place: PromptPlace

    /// - Parameter place: by default the login session of the caller.
    package init(
        id: UInt64, plan: AuthenticationPlan, allowsFallback: Bool, interactionAllowed: Bool, reuseSeconds: UInt64 = 0,
        faceUser: String? = nil, purpose: PromptPurpose = .app, acceptsWeak: Bool = false, lastStep: LastStep = .none,
        startsWithAccount: Bool = false, caller: Caller = .none, program: UInt64 = 0,
        notice: PromptContent.Notice = .none, place: PromptPlace? = nil
    ) {
        self.notice = notice
        self.place = place ?? PromptPlace(session: caller.loginSession)
        self.startsWithAccount = startsWithAccount
        self.program = program
        self.id = id
        self.plan = plan
        self.allowsFallback = allowsFallback
        self.interactionAllowed = interactionAllowed
        self.reuseSeconds = reuseSeconds
        self.faceUser = faceUser
        self.purpose = purpose
        self.acceptsWeak = acceptsWeak
        self.lastStep = lastStep
        self.caller = caller
    }
}

/// A passcode that was entered while the one of another evaluation was being verified.
package struct HeldEntry: Hashable, Sendable {
    package var id: UInt64
    /// When the passcode was entered, in nanoseconds of the boot-time clock.
    package var time: Int64
}

/// An evaluation whose prompt is shown or about to be shown.
///
/// `request` never changes: what was asked, for which caller, and the stages of the plan. `phase` says what the prompt
/// asks for now and has the data of that question, so that a state such as "scanning and verifying a passcode" cannot
/// be expressed. `stage` counts the completed stages, and `proven` collects their proofs.
///
/// Input is ignored until the prompt is visible: a user must see which program asks before a finger counts.
package struct ActiveEvaluation: Hashable, Sendable {
    package let request: EvaluationRequest
    /// What the prompt asks for, and what happens with it.
    package var phase: Phase
    /// Index of the current stage of the plan; the number of stages during the last step.
    package var stage = 0
    /// Whether the prompt is visible to the user; input is ignored before.
    package var isVisible = false
    /// Whether the account password that was entered has expired.
    package var accountHasExpired = false
    /// Failed tries of the current method in this evaluation.
    package var failedTries = 0
    package var proven = Authorisation.none
    package var notice = PromptContent.Notice.none

    /// What the prompt asks for. A stage begins with one of the first two cases, and the cases of the last step follow the
    /// stages.
    package enum Phase: Hashable, Sendable {
        case biometry(Scan)
        /// A passcode or password is asked for: which one, and how far its entry is.
        case passcode(PromptContent.Secret, Entry)
        /// The last step; without one, that the account password has expired.
        case lastStep
        /// A new passcode was entered once and is asked for again.
        case repeatingNewPasscode
    }

    /// Use of the sensor.
    package enum Scan: Hashable, Sendable {
        /// The sensor is used for another evaluation.
        case waiting
        /// The sensor scans as soon as the prompt is visible.
        case appearing
        /// The prompt asks whether the app may use Face ID.
        case askingPermission
        /// The user starts the scan.
        case askingToScan
        case scanning
        /// A finger or face did not match, and its count is being stored; the sensor still scans.
        case storingMiss
        /// No tries are left, but the prompt stays with its fallback button (behaviour LA-27).
        case stopped
    }

    /// Entry of a passcode. The counters are those before the try was counted.
    package enum Entry: Hashable, Sendable {
        /// Nothing was entered. With `awaitsSensor` biometry is requested instead as soon as the sensor is free.
        case typing(awaitsSensor: Bool)
        /// The count of the try is being stored.
        case counting(since: PolicyCounters)
        case verifying(since: PolicyCounters)
    }

    /// The requested method; during the last step the passcode, which needs neither sensor nor fallback.
    package var method: AuthenticationMethod { if case .biometry = phase { .biometry } else { .passcode } }

    /// What the prompt asks before the camera is used.
    package var question: PromptContent.Question {
        switch phase {
        case .biometry(.askingPermission): .permission
        case .biometry(.askingToScan): .scan
        case .biometry, .passcode, .lastStep, .repeatingNewPasscode: .none
        }
    }

    package var secret: PromptContent.Secret { if case .passcode(let secret, _) = phase { secret } else { .passcode } }

    package var isArmed: Bool { phase == .biometry(.scanning) || phase == .biometry(.storingMiss) }

    /// Whether biometry is requested as soon as the sensor is not used for another evaluation any more.
    package var awaitsSensor: Bool {
        switch phase {
        case .biometry(.waiting), .passcode(_, .typing(awaitsSensor: true)): true
        case .biometry, .passcode, .lastStep, .repeatingNewPasscode: false
        }
    }

    /// Whether the count of a failed or unverified try is being stored.
    package var isStoring: Bool {
        if case .passcode(_, .counting) = phase { true } else { phase == .biometry(.storingMiss) }
    }

    /// Whether an entered passcode is being counted or verified.
    package var isVerifying: Bool {
        switch phase {
        case .passcode(_, .counting), .passcode(_, .verifying): true
        case .biometry, .passcode, .lastStep, .repeatingNewPasscode: false
        }
    }

    /// The methods that complete the current stage; none during the last step.
    package var accepted: Set<AuthenticationMethod> {
        stage < request.plan.stages.count ? request.plan.stages[stage] : []
    }

    package var step: PromptContent.Step {
        switch phase {
        case .biometry, .passcode: return .proof
        case .repeatingNewPasscode: return .newPasscodeRepeated
        case .lastStep: break
        }
        return switch request.lastStep {
        case .none: .accountExpired
        case .showsRecoveryCode: .recoveryCodeShown
        case .asksRecoveryCode: .recoveryCodeAsked
        case .asksAnswer: .answerAsked
        case .asksOnce: .onceAsked
        case .asksNewPasscode: .newPasscodeAsked
        case .repeatsRecoveryCode: .recoveryCodeRepeated
        }
    }

    /// Starts the sensor if nothing has to happen before.
    mutating func arm() -> [PolicyEffect] {
        guard phase == .biometry(.appearing) else { return [] }
        phase = .biometry(.scanning)
        return [.arm(request.id)]
    }
}

extension ActiveEvaluation.Phase {
    static let typing = Self.passcode(.passcode, .typing(awaitsSensor: false))
}
