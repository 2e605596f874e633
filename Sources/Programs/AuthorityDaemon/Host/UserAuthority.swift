// SPDX-License-Identifier: Apache-2.0

import LatchkeyAuthority
import LatchkeyModel
import LatchkeyPolicy
import LatchkeySeams
import LatchkeySystem
import Synchronization

/// The authority of one user on one connection of latchkeyd.
///
/// latchkeyd has the keys of the items and must not be able to forge a proof, so the proofs are made in this process.
/// `authority` runs the evaluations and `passcodes` has the records with which a passcode is verified. `store` calls
/// back to latchkeyd for what only the key tree knows, and `sessions` applies locks of the login sessions.
///
/// `grants` has what a granted evaluation permits latchkeyd to report, once each. Without such a grant a report that
/// removes or changes the passcode is refused, because latchkeyd could have invented it.
///
/// When the connection ends, this object ends with its evaluations and grants; counters and records are in files and
/// remain.
final class UserAuthority: Sendable {
    let userID: UInt32
    let parts: UserParts
    let passcodes: UserRecords
    let authority: LocalAuthority
    let store: ChannelStore
    /// Nil after the connection has ended, while work of the user may still run.
    weak let connection: AuthorityConnection?
    let shared: AuthorityConnection.Parts
    let verification: PasscodeVerification
    /// Verifications and changes of the passcode, which use the same records.
    let stretching: OneStretchAtATime
    let approvals: RecoverableApprovalKey
    private let lastState = Mutex<StoreCall.State?>(nil)
    /// What a first passcode will be, as of the attachment; nil if that is not known.
    private let firstKind = Mutex<PasscodeKind?>(nil)

    /// What granted evaluations permit latchkeyd to report, once each. They do not exclude each other: between a grant and
    /// the report of one program, another program can be granted something else.
    struct Grants: Sendable {
        var removal = false
        var unlockByBiometry = false
        /// The passcode that was chosen on this connection and not adopted so far; nil for none.
        var choice: Choice?
    }

    /// A passcode that latchkeyd is going to adopt.
    struct Choice: Sendable {
        enum Change: Sendable {
            /// The prepared record replaces the current one.
            case record
            /// The same, permitted by a recovery code.
            case recovery
            /// A chip changes the passcode in place.
            case chip(PasscodeVerification.ChipChange)
        }
        let change: Change
        /// Nanoseconds of the boot-time clock.
        let time: Int64
    }
    let grants = Mutex(Grants())
    let sessions: SessionObserver
    /// Calls that wait until the user is attached.
    private let early = Gate<@Sendable () -> Void>()
    private static let earlyCalls = 1024
    private static let evaluations = Atomic<UInt64>(0)

    init(_ userID: UInt32, _ parts: UserParts, connection: AuthorityConnection) throws(Failure) {
        self.userID = userID
        self.parts = parts
        self.connection = connection
        shared = connection.parts
        verification = connection.verification
        stretching = OneStretchAtATime(shared.stretching)
        let passcodes = UserRecords(parts.passcodes, of: userID, copiedTo: verification.hasChip ? connection : nil)
        self.passcodes = passcodes
        let values = PasscodeValues(clock: parts.clock)
        let store = ChannelStore(userID, passcodes, connection, values: values)
        self.store = store
        let approvals = RecoverableApprovalKey(parts.files, passcodes, store)
        self.approvals = approvals
        var local = LocalAuthority.Parts(
            tier: parts.tier, userID: userID, reader: parts.reader, prompter: parts.prompter, clock: parts.clock,
            random: shared.random, work: parts.work, stretching: stretching,
            isVirtual: parts.isVirtual, counters: .success(parts.files), permissions: parts.files,
            passcodeID: { () throws(Failure) in try passcodes.passcodeRecords().current?.passcodeID ?? [] },
            approvalKey: { () throws(Failure) in try approvals.key() },
            log: shared.log,
            // The users share the prompters, which identify prompts by these numbers.
            nextNumber: { Self.evaluations.add(1, ordering: .relaxed).newValue })
        local.account = parts.account.map { AccountParts(account: $0, passcodes: passcodes, passcode: store) }
        local.enrolmentEpoch = { [files = parts.files] (set) throws(Failure) in try files.epoch(of: set) }
        local.passcodeValues = values
        if verification.hasChip {
            local.keyPasscode = KeyPasscode(verification, passcodes)
            local.passcodePreparation = PasscodePreparation(
                verification, passcodes, on: stretching, clock: parts.clock)
        }
        authority = try LocalAuthority(local, mint: connection.mint)
        sessions = SessionObserver(shared.sessions, of: userID, authority: authority, work: parts.work) {
            [store, log = connection.parts.log] isLocked in
            log.recording(.authorityNotTold) { () throws(Failure) in try store.applySessionLock(isLocked: isLocked) }
        }
    }

    /// Starts the authority on the user's work queue: it may call the store, which the receiving thread must not do.
    func attach(_ number: UInt64, _ call: AuthorityCall.Attach) {
        let (isPasscodeSet, isLocked) = (call.isPasscodeSet, call.isLocked)
        parts.work.submit(.any) { [self] in
            store.update(hasPasscode: isPasscodeSet)
            // A copy that cannot be stored now is sent with the next change of the records.
            shared.log.recording(.recordNotRead) { () throws(Failure) in try passcodes.apply(call.recoveryCopy) }
            // Read in any case: the state has the kind of the passcode.
            let hasRecord = hasRecord
            firstKind.withLock { $0 = firstPasscodeKind }
            authority.attach(to: store, isPasscodeSet: isPasscodeSet || hasRecord, isLocked: isLocked)
            authority.observe { [weak self] in self?.sendState() }
            sessions.begin()
            sendState()
            connection?.reply(number, .done)
            handleEarlyCalls()
        }
    }

    /// Runs `body` once the user is attached, after what was passed before: an evaluation or a change that came first would
    /// be forgotten with the state that the attachment replaces.
    ///
    /// - Parameter isChange: whether it is a change, such as a lock, for which there is room when programs have caused as many
    ///   other calls as may wait.
    func whenAttached(isChange: Bool, _ body: @escaping @Sendable () -> Void) throws(Failure) {
        switch early.enter(body, limit: (isChange ? 2 : 1) * Self.earlyCalls) {
        case .open: body()
        case .waits: break
        case .full, .ended: throw Failure(.limitExceeded, "Too many calls wait until the user is attached.")
        }
    }

    private func handleEarlyCalls() {
        guard let calls = early.next(), !calls.isEmpty else { return }
        for call in calls { call() }
        // What came meanwhile, after other work of the user, such as a lock.
        parts.work.submit(.any) { [self] in handleEarlyCalls() }
    }

    /// Applies the state of a store that was opened after the authority was attached.
    func attachAgain(_ number: UInt64, _ call: AuthorityCall.Attach) {
        parts.work.submit(.any) { [self] in
            store.update(hasPasscode: call.isPasscodeSet)
            shared.log.recording(.recordNotRead) { () throws(Failure) in try passcodes.apply(call.recoveryCopy) }
            // The store was not open when the locked session was reported to it.
            sessions.begin()
            guard call.isLocked else {
                connection?.reply(number, .done)
                return
            }
            report(number, .locked)
        }
    }

    /// Whether a passcode was set here, whatever latchkeyd says. A record that cannot be read counts as one, and so does
    /// a passcode that was chosen on an earlier connection: its adoption may have been interrupted.
    var hasRecord: Bool {
        do throws(Failure) {
            let records = try passcodes.passcodeRecords()
            return records.current != nil || records.prepared != nil && grants.withLock { $0.choice == nil }
        } catch {
            shared.log.record(.recordNotRead, error)
            return true
        }
    }

    /// Sends the state of the authority, unless it was sent before.
    func sendState() {
        // Read and sent with the lock held, so that states arrive in their order.
        lastState.withLock { last in
            let known = authority.state.authority
            let kind = known.isPasscodeSet ? passcodes.kind : firstKind.withLock { $0 }
            let state = StoreCall.State(
                userID: userID, authority: known, prompts: authority.shownPrompts, passcodeKind: kind)
            guard last != state else { return }
            last = state
            connection?.notify(.state(state))
        }
    }

    // MARK: - Evaluations

    /// Starts an evaluation for a process of the user.
    ///
    /// - Parameter answer: called exactly once with the reply, possibly before this returns.
    /// - Returns: the prompts, to withdraw them.
    func evaluate(
        _ request: AuthenticationRequest, _ answer: @escaping PromptSequence.Completion
    ) throws(Failure) -> PromptSequence {
        let identify = shared.identify
        let identity = try identify(request.process)
        let caller = identity.caller(
            request.process,
            process: IdentifiedProcess(
                name: request.process, identity: identity, identify: identify, isRunning: shared.isRunning))
        guard request.hasValidStep else {
            throw Failure(.malformedRequest, "A recovery code belongs to the step that shows it, and to no other.")
        }
        // A passcode that exists is replaced only after it was entered, whatever plan latchkeyd asks for.
        let code = try codePart(request)
        if case .asked = code {
            // The recovery code is asked for instead, before anything else.
        } else if request.lastStep == .asksNewPasscode, hasRecord, !request.plan.stages.contains([.passcode]) {
            throw Failure(.notPermitted, "A passcode is replaced only after the current one was entered.")
        }
        let account: AccountStep = if case .asked = code { .none } else { try accountStep(request) }
        // The reply may be followed by a question about the state, such as the tries that are left.
        let prompts = PromptSequence(authority, request, of: caller, account: account) { [store] proof in
            store.tryFailed(proof, challenge: request.challenge)
        } ended: { [self] in
            sendState()
        }
        switch code {
        case .asked: recover(prompts, answer)
        case .none: ask(prompts, request.lastStep, account.kind, answer)
        case .shown(first: true):
            prompts.ask { [self] result, _ in
                let passcode: SecretBytes
                do throws(Failure) { passcode = try Self.text(of: result) } catch { return answer(.failure(error)) }
                showFirstCode(prompts) { [self] shown in
                    switch shown {
                    case .failure(let refusal): answer(.failure(refusal))
                    case .success(let (code, token)):
                        choose(NewPasscode(text: passcode, kind: account.kind, code: code), token, answer)
                    }
                }
            }
        case .shown(first: false):
            // The token must prove the passcode, and is valid for seconds: so its prompt is the last one.
            showCode(prompts) { [self] shown in
                switch shown {
                case .failure(let refusal): answer(.failure(refusal))
                case .success(let (code, _)): ask(prompts, request.lastStep, account.kind, showing: code, answer)
                }
            }
        }
        return prompts
    }

    /// What was entered at a prompt that asks for a text.
    static func text(of result: Result<AuthenticationGrant, Failure>) throws(Failure) -> SecretBytes {
        guard let text = try result.get().text else { throw Failure(.internalFailure) }
        return text
    }

    /// Shows the prompt of the request, remembers what its grant permits, and answers it.
    ///
    /// - Parameters:
    ///   - kind: the kind of the passcode that is chosen.
    ///   - code: the recovery code that was shown before; nil for none.
    private func ask(
        _ prompts: PromptSequence, _ step: LastStep, _ kind: PasscodeKind, showing code: RecoveryKeys? = nil,
        _ answer: @escaping PromptSequence.Completion
    ) {
        prompts.ask { [self] result, opened in
            guard case .success(let grant) = result else { return answer(result) }
            // What the passcode has opened is for its change, and for keys that the answer permits to use.
            if let value = opened?.chipValue { authority.hold(value, for: grant.token) }
            record(grant.token, isOfAccount: prompts.account != .none)
            guard step == .asksNewPasscode, let passcode = grant.text else { return answer(result) }
            choose(NewPasscode(text: passcode, kind: kind, code: code, opened: opened), grant.token, answer)
        }
    }

    /// Remembers what a grant permits.
    ///
    /// - Parameter isOfAccount: whether the account password was verified, which also proves who the user is.
    private func record(_ token: AuthToken, isOfAccount: Bool) {
        grants.withLock { grants in
            switch token.purpose {
            // Without the passcode an evaluation would permit nothing but what anyone could ask for.
            case .removePasscode, .discardProtected:
                grants.removal = token.methods.contains(.passcode) || isOfAccount
            case .unlock: grants.unlockByBiometry = token.methods.contains(.biometry)
            default: break
            }
        }
    }

    // MARK: - Changes

    func change(_ number: UInt64, _ kind: AuthorityCall.Change.Kind) throws(Failure) {
        switch kind {
        case .locked: report(number, .locked)
        case .unlocked:
            // Whether biometry unlocked the device decides whether it is accepted again without a touch (LA-33), so
            // this side does not take the other one's word for it.
            let byBiometry = grants.withLock { grants in
                defer { grants.unlockByBiometry = false }
                return grants.unlockByBiometry
            }
            report(number, .unlocked(byBiometry: byBiometry))
        case .background: report(number, .background(true))
        case .foreground: report(number, .background(false))
        case .passcodeCommitted: try adoptPasscode(number)
        case .passcodeRemoved: try removePasscode(number)
        case .refusedWhileLocked: report(number, .refusedWhileLocked)
        }
    }

    func report(_ number: UInt64, _ change: AuthorityChange) {
        authority.report(change) { [self] _ in
            sendState()
            connection?.reply(number, .done)
        }
    }

    func set(_ number: UInt64, _ change: AuthorityCall.SetFacePermission) throws(Failure) {
        guard change.isAllowed != true else {
            throw Failure(.notPermitted, "Only a person at a prompt allows an app to use Face ID.")
        }
        authority.setFacePermission(change.application, change.isAllowed) { [self] failure in
            sendState()
            connection?.reply(number, failure.map { .failure($0) } ?? .done)
        }
    }

    // MARK: - Keys

    /// Runs on the user's work queue, because the key for approvals is a file, which may have to be made.
    func bindKey(_ number: UInt64, _ call: AuthorityCall.BindKey) {
        submit(number) { [self] () throws(Failure) in
            connection?.reply(number, .keyBinding(try authority.binding(storeID: call.storeID, call.accessControl)))
        }
    }

    func approve(_ number: UInt64, _ request: KeyApprovalRequest) {
        submit(number) { [self] () throws(Failure) in
            connection?.reply(number, .approved(try authority.approve(request)))
        }
    }

    func submit(_ number: UInt64, _ body: @escaping @Sendable () throws(Failure) -> Void) {
        parts.work.submit(.any) { [self] in
            do throws(Failure) { try body() } catch { connection?.reply(number, .failure(error)) }
        }
    }
}

/// A process whose identity is determined again before a prompt names it.
private struct IdentifiedProcess: CallerProcess {
    let name: ProcessName
    let identity: ProgramIdentity
    let identify: @Sendable (ProcessName) throws(Failure) -> ProgramIdentity
    let isRunning: @Sendable (ProcessName) -> Bool

    /// A process that has ended, or that cannot be identified any more, counts as changed.
    var isUnchanged: Bool { isRunning(name) && (try? identify(name)) == identity }
}
