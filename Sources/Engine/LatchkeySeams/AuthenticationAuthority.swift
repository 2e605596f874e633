// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
package import LatchkeyPolicy

/// The caller of an evaluation, and the properties of it that prompts and policy use.
package struct Asker: Sendable {
    package var caller: Caller
    /// The face usage description; nil if the app has none (behaviour LA-07).
    package var faceUsage: String?
    /// The terminal of the caller's process, as the kernel reports it; 0 if it has none.
    package var terminal: UInt64

    /// Creates a value from its fields.
    package init(caller: Caller, faceUsage: String?, terminal: UInt64) {
        self.caller = caller
        self.faceUsage = faceUsage
        self.terminal = terminal
    }

    /// The app's identity (`Caller.application`).
    package var application: String { caller.application }

    /// The app whose face permission applies. An empty usage description counts as none, as on Apple systems.
    package var faceUser: String? { faceUsage?.isEmpty == false ? application : nil }

    /// The number by which evaluations take turns: the process ID.
    package var program: UInt64 { UInt64(UInt32(bitPattern: caller.processID)) }

    /// The name that the caller gave itself; empty if it gave none or the caller's label.
    package var ownName: String { caller.isSelfNamed && application != caller.label ? application : "" }
}

/// The last step that a request asks for, with the recovery code to show.
package enum RequestedStep: Sendable {
    case none
    case showsRecoveryCode(SecretBytes)
    case asksRecoveryCode
    /// The prompt asks for a new passcode, twice.
    case asksNewPasscode
    /// The prompt asks for the end of the recovery code that was shown before. No request can ask for it.
    case repeatsRecoveryCode

    /// Creates a step from the step as policy knows it; nil unless the recovery code is given for the step that shows
    /// it, and for no other.
    package init?(_ step: LastStep, _ code: SecretBytes?) {
        switch (step, code) {
        case (.none, nil): self = .none
        case (.showsRecoveryCode, let code?) where code.count > 0: self = .showsRecoveryCode(code)
        case (.asksRecoveryCode, nil): self = .asksRecoveryCode
        case (.asksNewPasscode, nil): self = .asksNewPasscode
        case (.showsRecoveryCode, _), (.none, _?), (.asksRecoveryCode, _?), (.asksNewPasscode, _?),
            (.repeatsRecoveryCode, _):
            return nil
        }
    }

    /// The step as policy knows it.
    package var lastStep: LastStep {
        switch self {
        case .none: .none
        case .showsRecoveryCode: .showsRecoveryCode
        case .asksRecoveryCode: .asksRecoveryCode
        case .asksNewPasscode: .asksNewPasscode
        case .repeatsRecoveryCode: .repeatsRecoveryCode
        }
    }

    /// The recovery code to show; nil in other steps.
    package var code: SecretBytes? { if case .showsRecoveryCode(let code) = self { code } else { nil } }
}

/// The password of the account as the first step of a request.
package enum AccountStep: Sendable {
    case none
    /// It is verified; nothing else depends on it.
    case asked
    /// It is verified and becomes the new passcode, for which no other step asks.
    case becomesPasscode
}

/// A request to authenticate the user.
package struct AuthenticationRequest: Sendable {
    package var plan: AuthenticationPlan
    package var asker: Asker
    /// The caller's texts; ignored for every purpose except `app`.
    package var prompting: Prompting
    package var purpose: PromptPurpose
    /// The step after all stages of the plan. A plan without stages but with a last step also shows a prompt.
    package var lastStep: RequestedStep
    /// Whether the password of the account is verified first, and what it is used for.
    package var account: AccountStep = .none
    /// Whether a match by a weak sensor is accepted: for a policy, which releases nothing.
    package var acceptsWeak = false
    /// The message with which a prompt that has only a last step begins.
    package var notice: PromptContent.Notice = .none
    /// Seconds after an unlock by biometry during which it is accepted as proof (behaviour LA-33).
    package var reuseSeconds: UInt64
    /// How many uses of keys the token permits.
    package var keyUses: KeyUses
    /// 32 random bytes, which the token repeats.
    package var challenge: [UInt8]
    /// The hash of what the request is for, 32 bytes, which the token repeats.
    package var binding: [UInt8]

    /// Creates a request from its fields.
    package init(
        plan: AuthenticationPlan, asker: Asker, prompting: Prompting, purpose: PromptPurpose = .app,
        lastStep: RequestedStep = .none, reuseSeconds: UInt64 = 0, keyUses: KeyUses = .one, challenge: [UInt8],
        binding: [UInt8]
    ) {
        self.plan = plan
        self.asker = asker
        self.prompting = prompting
        self.purpose = purpose
        self.lastStep = lastStep
        self.reuseSeconds = reuseSeconds
        self.keyUses = keyUses
        self.challenge = challenge
        self.binding = binding
    }
}

/// What the user entered in the last step of an evaluation.
package enum EnteredSecret: Sendable {
    /// A recovery code, or the new passcode itself.
    case text(SecretBytes)
    /// The key of the slot for the new passcode, 32 bytes, which `latchkey-authd` derived; with the identifier of the
    /// passcode's secret, 16 bytes, and what a new recovery code opens, if one was shown.
    case slotKey(SecretBytes, passcodeID: [UInt8], recovery: RecoveryGrant? = nil)
}

/// The answer to an `AuthenticationRequest`.
package enum AuthenticationAnswer: Sendable {
    /// The token, with what the user entered if the last step asks for something.
    case granted(AuthToken, entered: EnteredSecret?)
    case denied(Status)
    /// Refused for a cause that the status alone does not name.
    case failed(Failure)
}

/// A change that the service reports to its authority.
package enum AuthorityChange: Sendable {
    case locked
    case unlocked(byBiometry: Bool)
    case background(Bool)
    /// A login session was locked, or the machine is about to sleep.
    case sessionLocked
    /// No login session is locked any more.
    case sessionUnlocked
    /// Biometry may be used in these login sessions.
    case biometrySessions(BiometrySessions)
    /// A passcode was set, or removed with false.
    case passcodeExists(Bool)
    /// The passcode was replaced.
    case passcodeChanged
}

/// The role that authenticates one user: it shows prompts, operates the sensor, counts tries and issues tokens.
///
/// It is implemented in the process of the keychain (tiers `user` and `simulated`) and by a client of
/// `latchkey-authd` (tiers `file` and `tpm`). All functions may be called on any thread.
package protocol AuthenticationAuthority: KeyApprover {
    /// The state after the last processed event, with the current time; without the evaluations under way if another
    /// process has them.
    var state: PolicyState { get }
    /// Whether `state` comes from the authority. In another process it is not known before it has answered.
    var isStateKnown: Bool { get }
    /// The prompt that is shown now; nil if there is none.
    var shownPrompts: [StatusReport.ShownPrompt] { get }
    /// What the passcode is, or what a first one will be; nil if that is not known.
    var passcodeKind: PasscodeKind? { get }
    /// The identifier of the connection under whose key tokens are issued, 16 bytes; changes with each connection.
    var connection: [UInt8] { get }
    /// Computes the code of a token under the key of the connection.
    func code(of token: AuthToken) throws(Failure) -> [UInt8]
    /// Connects the authority to the service that uses it; called once, before any other function.
    ///
    /// - Parameters:
    ///   - client: kept as a weak reference.
    ///   - isPasscodeSet: whether the store has a passcode.
    ///   - isLocked: whether the device is locked.
    func attach(_ client: any AuthorityClient, isPasscodeSet: Bool, isLocked: Bool)
    /// Starts an evaluation.
    ///
    /// - Parameter completion: called exactly once, on any thread, possibly before this returns.
    /// - Returns: the number of the evaluation.
    func evaluate(
        _ request: AuthenticationRequest, _ completion: @escaping @Sendable (AuthenticationAnswer) -> Void
    ) -> UInt64
    /// Cancels an evaluation for the caller (`appCancel`) or because its connection ended (`systemCancel`).
    func withdraw(_ evaluation: UInt64, _ status: Status)
    /// Reports a change.
    ///
    /// - Parameter then: called when the change has been processed, or with the failure if it was not accepted.
    func report(_ change: AuthorityChange, then: (@Sendable (Failure?) -> Void)?)
    /// Stores the counters, before a first passcode is set. Blocks.
    func keepCounters() throws(Failure)
    /// Sets the face permission of an app, or deletes it with nil so that the app asks again.
    ///
    /// - Parameter done: called when the change is durable and in force, or with the failure.
    func setFacePermission(
        _ application: String, _ isAllowed: Bool?, _ done: @escaping @Sendable (Failure?) -> Void)
    /// Calls `observer` whenever the state may have changed.
    func observe(_ observer: @escaping @Sendable () -> Void)
}

/// What opens the key that the passcode protects.
package enum PasscodeSecret: Sendable {
    /// The passcode as it was typed; the store stretches it.
    case typed(SecretBytes)
    /// The key of the slot, 32 bytes, which `latchkey-authd` derived from the passcode; with the identifier of the
    /// passcode's secret, 16 bytes.
    case slotKey(SecretBytes, passcodeID: [UInt8])
}

/// The result of verifying a passcode.
package enum PasscodeVerdict: Sendable {
    case right
    case wrong
    /// The passcode is right, but the key that it protects does not open; the evaluation is refused without a miss.
    case rightButClosed(Failure)
    /// What judges the passcode could not be reached, or its answer is not authentic. The try does not count here; a chip
    /// that has judged it counts it itself.
    case notJudged(Failure)
    /// The password is that of the account, which was changed: the passcode is the previous one. Durable.
    case outdated
}

/// The functions of the service that its authority calls. The calls block and may come from any thread.
package protocol AuthorityClient: AnyObject, Sendable {
    /// Adopts the sensor's enrolment set durably; a match of a new set is accepted only afterwards.
    func adopt(_ set: EnrolmentSet?) throws(Failure)
    /// Verifies a passcode; a right one opens the key that it protects.
    func open(_ passcode: PasscodeSecret) throws(Failure) -> PasscodeVerdict
    /// Opens the key that the password of the account protects.
    ///
    /// - Parameters:
    ///   - password: the password that the system has accepted for the account.
    ///   - previous: the password that the account had before, if the user was asked for it; a right one is replaced
    ///     by `password`.
    func open(accountPassword password: SecretBytes, previous: SecretBytes?) throws(Failure) -> PasscodeVerdict
    /// Replaces the slot of the passcode, whose key is open, by one under this key.
    func replaceSlot(_ slotKey: SecretBytes, passcodeID: [UInt8]) throws(Failure)
    /// Returns whether a key that was derived from a recovery code opens the root key of the store.
    func recoveryOpens(_ rootKey: SecretBytes) throws(Failure) -> Bool
    /// Returns the records of the recovery codes that the authority has had kept; empty for nothing.
    func recoveryCopy() throws(Failure) -> [UInt8]
    /// Keeps the records of the recovery codes, which only a code opens; empty to remove them. Durable on return.
    func keepRecovery(copy: [UInt8]) throws(Failure)
    /// Reports that login sessions of the user are locked, or not any more. Returns when no key is in memory that a lock
    /// forbids.
    func followSessions(isLocked: Bool) throws(Failure)
    /// Reports that the connection to the authority ended: every proof that it gave is void.
    func authorityWasLost()
    /// Reports that these counters are durable.
    func counted(_ counters: PolicyCounters)
    /// Reports that counters were missing or unreadable, and that tries therefore count as used up.
    func countersWereLost() throws(Failure)
    /// Reports that messages or services that claim to be a sensor, or to report login sessions, were not trusted. Does
    /// not wait for the store.
    func refused(_ source: UntrustedSource, count: UInt64)
}

/// The role that stores the counters of failed tries durably.
package protocol CounterStore: AnyObject, Sendable {
    /// Returns the stored counters, and whether they were stored in this boot; nil if none were ever stored. Throws
    /// `storeUnreadable` for changed or missing ones.
    func keptCounters() throws(Failure) -> (PolicyCounters, isOfThisBoot: Bool)?
    /// Stores the counters; durable on return. Blocks.
    func keep(_ counters: PolicyCounters) throws(Failure)
}

/// The role that stores the users' answers to apps that asked to use Face ID.
package protocol FacePermissionStore: AnyObject, Sendable {
    /// Returns the stored answers; throws `storeUnreadable` for changed ones.
    func keptFacePermissions() throws(Failure) -> [String: Bool]
    /// Stores the answers; durable on return. Blocks.
    func keep(facePermissions: [String: Bool]) throws(Failure)
}
