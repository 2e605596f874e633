// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
package import LatchkeyPolicy
package import LatchkeySeams
import Synchronization
import TPMProtocol

/// The authority of one user, in the process that shows the prompts.
///
/// The policy is a pure reducer, which can neither show a prompt nor wait. This type gives it a surrounding: it passes
/// events of prompts, sensor, timers and verifications to the reducer, and executes the effects through the drivers in
/// `Parts`. It issues a token for a successful evaluation.
///
/// Events may be posted on any thread. They are queued and processed one after the other, each with its effects before
/// the next, so no decision is made on a state that another thread is changing. No lock is held while an effect is
/// executed.
///
/// Tiers `user` and `simulated` use it inside `latchkeyd`; `latchkey-authd` has one for each user.
package final class LocalAuthority: AuthenticationAuthority {
    /// The dependencies of evaluations.
    package struct Parts: Sendable {
        package var tier: Tier
        package var userID: UInt32
        /// Whether all hardware is simulated: every token says so. The token of a match says so too if the match does.
        package var isVirtual: Bool
        package var reader: any BiometricReader
        package var prompter: any Prompter
        package var clock: any Clock
        package var random: any RandomSource
        package var work: any WorkQueue
        /// Runs the verification of passcodes, which stretches them.
        package var stretching: any StretchQueue
        /// Stores the counters, or the failure with which a try is refused that cannot be counted.
        package var counters: Result<any CounterStore, Failure>
        /// Stores the face permissions; nil if the store could not be opened.
        package var permissions: (any FacePermissionStore)?
        /// Returns the identifier of the passcode's secret; nil in tiers in which the store verifies the passcode.
        package var passcodeID: (@Sendable () throws(Failure) -> [UInt8])?
        /// Returns the private key that approves uses of keys of a TPM, 32 bytes; nil if there is no TPM. Blocks.
        package var approvalKey: (@Sendable () throws(Failure) -> SecretBytes)?
        /// Proves the passcode to keys of a TPM; nil where no TPM verifies it.
        package var keyPasscode: KeyPasscode?
        /// Prepares the chip that verifies the passcode while a prompt asks for it; nil where no chip does.
        package var passcodePreparation: PasscodePreparation?
        /// The values of passcodes that were typed a short time ago.
        package var passcodeValues: PasscodeValues
        /// Returns the epoch of an enrolment set, at most 16 bytes, which tells two times of the same set from each other: when
        /// a finger is added and removed again, what was bound to the set before must end all the same. Blocks. Nil where
        /// the keys of a set are not approved by a process of their own.
        package var enrolmentEpoch: (@Sendable (EnrolmentSet?) throws(Failure) -> [UInt8])?
        /// The account of the user; nil where no password of an account is verified.
        package var account: AccountParts?
        /// Operates the simulated sensor, for prompts of the simulated tier.
        package var simulatedTouch: (@Sendable (_ isMatching: Bool) -> Void)?
        package var ended: (@Sendable (EvaluationEnd) -> Void)?
        /// Logs failures that no reply reports.
        package var log: any EventLog
        /// Returns the number of the next evaluation, by which prompts are identified; nil to count from 1.
        package var nextNumber: (@Sendable () -> UInt64)?

        package init(
            tier: Tier, userID: UInt32, reader: any BiometricReader, prompter: any Prompter, clock: any Clock,
            random: any RandomSource, work: any WorkQueue, stretching: any StretchQueue,
            isVirtual: Bool? = nil, counters: Result<any CounterStore, Failure>,
            permissions: (any FacePermissionStore)?,
            passcodeID: (@Sendable () throws(Failure) -> [UInt8])? = nil,
            approvalKey: (@Sendable () throws(Failure) -> SecretBytes)? = nil,
            simulatedTouch: (@Sendable (_ isMatching: Bool) -> Void)? = nil,
            ended: (@Sendable (EvaluationEnd) -> Void)? = nil, log: any EventLog = UnwatchedLog(),
            nextNumber: (@Sendable () -> UInt64)? = nil
        ) {
            self.tier = tier
            self.userID = userID
            self.isVirtual = isVirtual ?? (tier == .simulated)
            self.reader = reader
            self.prompter = prompter
            self.clock = clock
            passcodeValues = PasscodeValues(clock: clock)
            self.random = random
            self.work = work
            self.stretching = stretching
            self.counters = counters
            self.permissions = permissions
            self.passcodeID = passcodeID
            self.approvalKey = approvalKey
            self.simulatedTouch = simulatedTouch
            self.ended = ended
            self.log = log
            self.nextNumber = nextNumber
        }
    }

    /// An evaluation without a result so far.
    struct Pending: Sendable {
        let request: AuthenticationRequest
        let caller: Caller
        let account: AccountStep
        let failed: @Sendable (TriedProof) -> Void
        var alarm: (any Alarm)?
        /// The timer for the end of the passcode delay.
        var delayAlarm: (any Alarm)?
        /// The wrong passcodes that were typed in this evaluation.
        var wrongPasscodes: [SecretBytes] = []
        /// The account password that the system has accepted in this evaluation.
        var accountPassword: SecretBytes?
        /// What a module of the system said last about the account.
        var accountMessage: Phrase = ""
        /// Why its passcode could not be verified.
        var cause: Failure?
        /// What its right passcode has opened.
        var opened: OpenedPasscode?
        let completion: @Sendable (Result<AuthenticationGrant, Failure>, OpenedPasscode?) -> Void
    }

    /// An event that waits for the ones before it.
    struct QueuedEvent: Sendable {
        /// Makes the event when its turn comes; nil if there is none in the state of that time.
        var make: @Sendable (inout Core) -> PolicyEvent?
        /// Called after the event's effects were executed.
        var then: (@Sendable () -> Void)?
    }

    struct Core: Sendable {
        var state = PolicyState()
        var events: [QueuedEvent] = []
        var isDraining = false
        var nextID: UInt64 = 1
        var pending: [UInt64: Pending] = [:]
        var observer: (@Sendable () -> Void)?
        /// The passcode that waits for verification, by evaluation.
        var entered: [UInt64: SecretBytes] = [:]
        /// The recovery code that was entered, by evaluation, until the evaluation ends.
        var enteredCodes: [UInt64: SecretBytes] = [:]
        /// The new passcode that was entered, by evaluation, until the evaluation ends.
        var newPasscodes: [UInt64: NewPasscode] = [:]
        var keyGrants = KeyGrants()
    }

    let core = Mutex(Core())
    let parts: Parts
    private let mint: TokenMint
    /// Whether agents were told of a refusal since the device was locked.
    private let hasAnnouncedRefusal = Atomic(false)
    private struct WeakClient: Sendable { weak var client: (any AuthorityClient)? }
    private let weakClient = Mutex(WeakClient())
    /// Signs approvals of uses of keys; nil before the first one.
    let approvals = Mutex<ApprovalSigner?>(nil)
    let sensorAlarm = Mutex<(any Alarm)?>(nil)

    /// Creates an authority with a new key for its tokens; throws if there are no random bytes.
    ///
    /// - Parameter mint: issues the tokens; nil for a key that only this object knows.
    package init(_ parts: Parts, mint: TokenMint? = nil) throws(Failure) {
        self.parts = parts
        if let mint { self.mint = mint } else { self.mint = try TokenMint(parts.random) }
    }

    var values: PasscodeValues { parts.passcodeValues }

    package var connection: [UInt8] { mint.connection }

    package func code(of token: AuthToken) throws(Failure) -> [UInt8] { try mint.code(of: token) }

    /// The service; nil before `attach` and after the service has ended.
    var client: (any AuthorityClient)? {
        get { weakClient.withLock { $0.client } }
        set { weakClient.withLock { $0.client = newValue } }
    }

    package var state: PolicyState {
        var state = core.withLock { $0.state }
        state.now = parts.clock.uptime
        return state
    }

    /// Without services there is no password of an account. The state of `latchkey-authd` says which of the two it is.
    package var passcodeKind: PasscodeKind? { parts.account == nil ? .own : nil }

    package var isStateKnown: Bool { true }

    package var shownPrompts: [StatusReport.ShownPrompt] {
        core.withLock { $0.state.active }.map { evaluation in
            StatusReport.ShownPrompt(
                program: evaluation.request.caller.label, processID: evaluation.request.caller.processID,
                session: evaluation.request.caller.loginSession)
        }
    }

    // MARK: - Evaluations

    package func evaluate(
        _ request: AuthenticationRequest, of caller: Caller, failed: @escaping @Sendable (TriedProof) -> Void,
        _ completion: @escaping @Sendable (Result<AuthenticationGrant, Failure>) -> Void
    ) -> UInt64 {
        evaluate(request, of: caller, account: .none, failed: failed) { answer, _ in completion(answer) }
    }

    /// Starts an evaluation, as `evaluate(_:of:failed:_:)`.
    ///
    /// - Parameters:
    ///   - account: whether the account password is verified first, and what it is used for.
    ///   - notice: the message with which a prompt that has only a last step begins.
    ///   - completion: also receives what the passcode that was entered has opened.
    package func evaluate(
        _ request: AuthenticationRequest, of caller: Caller, account: AccountStep, notice: PromptContent.Notice = .none,
        failed: @escaping @Sendable (TriedProof) -> Void,
        _ completion: @escaping @Sendable (Result<AuthenticationGrant, Failure>, OpenedPasscode?) -> Void
    ) -> UInt64 {
        var request = request
        // Prompts for the daemon's own operations show no text of the caller, except the name of a relying party.
        if request.purpose != .app {
            let reason = request.purpose.hasReason ? request.prompting.reason : ""
            request.prompting = Prompting(reason: reason, interactionAllowed: request.prompting.interactionAllowed)
        }
        let pending = Pending(
            request: request, caller: caller, account: account, failed: failed, completion: completion)
        let id = core.withLock { core in
            defer { core.nextID += 1 }
            let id = parts.nextNumber?() ?? core.nextID
            core.pending[id] = pending
            return id
        }
        post(
            .evaluate(
                EvaluationRequest(
                    id: id, plan: request.plan,
                    allowsFallback: PromptText.fallbackTitle(request.prompting, plan: request.plan) != nil,
                    interactionAllowed: request.prompting.interactionAllowed, reuseSeconds: request.reuseSeconds,
                    faceUser: caller.faceUser(request.faceUsage), purpose: request.purpose,
                    acceptsWeak: request.acceptsWeak,
                    // The account password can take the place of a new passcode.
                    lastStep: account == .becomesPasscode ? .none : request.lastStep,
                    startsWithAccount: account != .none, caller: caller,
                    program: UInt64(UInt32(bitPattern: caller.processID)), notice: notice, place: place(of: caller))))
        return id
    }

    /// Returns where prompts of a program are shown.
    private func place(of caller: Caller) -> PromptPlace {
        let session = caller.loginSession
        let agent = caller.terminal == 0 ? parts.prompter.agentSession(of: parts.userID, for: session) : nil
        return PromptPlace(session: session, agent: agent, terminal: caller.terminal)
    }

    package func withdraw(_ evaluation: UInt64, _ status: Status) { post(.withdrawn(evaluation, status)) }

    func answer(
        _ result: Result<Authorisation, Status>, to pending: Pending, entered: SecretBytes?
    ) -> Result<AuthenticationGrant, Failure> {
        switch result {
        case .failure(let status):
            if let cause = pending.cause, cause.status == status { return .failure(cause) }
            return .failure(Failure(status))
        case .success(let proof):
            do throws(Failure) {
                let token = try mint.issue(
                    proof, for: pending.request, userID: parts.userID, passcodeID: parts.passcodeID?() ?? [],
                    isVirtual: parts.isVirtual || proof.isVirtual,
                    at: parts.clock.uptime, bootID: parts.clock.bootID)
                core.withLock { $0.keyGrants.add(token, pending.caller, pending.request.keyUses) }
                return .success(AuthenticationGrant(token: token, entered: entered.map { .text($0) }))
            } catch {
                // Without a token the service cannot check the proof, so the evaluation counts as refused.
                parts.log.record(.tokenRefused, error)
                return .failure(error)
            }
        }
    }

    // MARK: - Changes

    package func report(_ change: AuthorityChange, then: (@Sendable (Failure?) -> Void)?) {
        // In this process every change is accepted.
        let accepted: @Sendable () -> Void = { then?(nil) }
        switch change {
        case .locked, .sessionLocked:
            core.withLock { $0.keyGrants.removeAll() }
            values.removeAll()
            if case .locked = change { post(.locked, then: accepted) } else { post(.sessionLocked, then: accepted) }
        case .unlocked(let byBiometry): post(.unlocked(byBiometry: byBiometry)) { [self] in announceUnlock(accepted) }
        case .sessionUnlocked: post(.sessionUnlocked) { [self] in announceUnlock(accepted) }
        case .biometrySessions(let sessions): post(.biometrySessionsChanged(sessions), then: accepted)
        case .background(let isBehind): post(.background(isBehind), then: accepted)
        case .passcodeExists(let exists): post(.passcodeExists(exists), then: accepted)
        // The state does not say which passcode is set.
        case .passcodeChanged: accepted()
        case .refusedWhileLocked:
            hasAnnouncedRefusal.store(true, ordering: .relaxed)
            parts.prompter.announceNews(to: parts.userID)
            accepted()
        }
    }

    /// Has agents take away what they have shown about the lock.
    private func announceUnlock(_ then: () -> Void) {
        then()
        guard !state.isLocked, hasAnnouncedRefusal.exchange(false, ordering: .relaxed) else { return }
        parts.prompter.announceNews(to: parts.userID)
    }

    package func observe(_ observer: @escaping @Sendable () -> Void) { core.withLock { $0.observer = observer } }

    /// Queues an event; processes the queue on this thread unless another thread is doing so.
    ///
    /// - Parameter then: called after the event's effects were executed.
    func post(_ event: PolicyEvent, then: (@Sendable () -> Void)? = nil) {
        post(QueuedEvent(make: { _ in event }, then: then))
    }

    /// Queues an event that depends on the state after the events before it, such as the entry of a text at a prompt
    /// whose step they may change.
    func post(_ event: QueuedEvent) {
        let isFirst = core.withLock { core in
            core.events.append(event)
            defer { core.isDraining = true }
            return !core.isDraining
        }
        if isFirst { drain() }
    }

    /// Processes events until none waits, or until a prompt has to be removed first.
    private func drain() {
        while let (effects, then) = next() {
            guard perform(effects[...], then) else { return }
        }
    }

    /// Executes the effects of an event.
    ///
    /// The answer, and a later prompt at the same place, come after the prompt has been removed. Its user can delay that
    /// (`Prompter.dismiss`), so this thread does not wait: the rest is executed when the prompt is gone, and until then
    /// events are queued.
    /// - Returns: false if the rest is left to the thread that reports the prompt as gone.
    private func perform(_ effects: ArraySlice<PolicyEffect>, _ then: (@Sendable () -> Void)?) -> Bool {
        var rest = effects
        while let effect = rest.popFirst() {
            guard case .dismiss(let id) = effect else {
                perform(effect)
                continue
            }
            let removal = PromptRemoval()
            let left = rest
            parts.prompter.dismiss(id) { [self] in
                if removal.isSecond(), perform(left, then) { drain() }
            }
            guard removal.isSecond() else { return false }
        }
        then?()
        core.withLock { $0.observer }?()
        return true
    }

    /// Which of two comes last: the return of the call that removes a prompt, or the report that it is gone.
    private final class PromptRemoval: Sendable {
        private let hasFirst = Mutex(false)

        func isSecond() -> Bool {
            hasFirst.withLock { hasFirst in
                defer { hasFirst = true }
                return hasFirst
            }
        }
    }

    private func next() -> ([PolicyEffect], (@Sendable () -> Void)?)? {
        core.withLock { core in
            guard !core.events.isEmpty else {
                core.isDraining = false
                return nil
            }
            let queued = core.events.removeFirst()
            guard var event = queued.make(&core) else { return ([], queued.then) }
            if case .passcodeChecked(let id, isRight: true) = event, core.state.shown(id) == nil {
                // The try was counted as wrong before it was verified, and its evaluation has ended meanwhile.
                event = .passcodeWasRight
            }
            return (core.state.reduce(event, at: parts.clock.uptime), queued.then)
        }
    }
}
