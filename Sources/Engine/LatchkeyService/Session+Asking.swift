// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyPolicy
import LatchkeySeams
import Synchronization

// Evaluation of policies and access controls, and the prompts of all requests.

/// What a request asks the user.
struct Question: Sendable {
    var plan: AuthenticationPlan
    /// The context to which the proofs are added; nil if they are for this request only.
    var context: ContextHandle?
    /// The caller's texts. The prompt of an operation of the daemon shows none of them; its reason is the relying party
    /// that it names.
    var prompting = Prompting()
    var purpose = PromptPurpose.app
    /// What the prompt asks for after all stages of the plan.
    var lastStep = LastStep.none
    /// The recovery code that the last step shows; nil in other steps.
    var recoveryCode: SecretBytes?
    /// Seconds after an unlock by biometry during which it is accepted as proof (behaviour LA-33).
    var reuseSeconds: UInt64 = 0
    /// Whether the plan is that of a policy, which a weak sensor can answer.
    var acceptsWeak = false
    /// The program that the prompt names, on its terminal and in its login session; nil for the caller.
    var asker: Caller?

    /// The item that is asked for, by its identifier in the audit log; empty if it is not known.
    var item: [UInt8] = []

    /// What the token is bound to besides the plan and the caller.
    var subject: [UInt8] { purpose == .app ? [] : Array(prompting.reason.utf8) }

    /// Whether a denial is recorded in the audit log, unless the app allowed no prompt.
    var recordsDenial: Bool {
        switch purpose {
        case .app, .exportItems, .importItems, .identifyDevice, .listNames, .deleteItem, .readSecret, .changeSecret,
            .deleteSecret, .replaceSecret, .protectSecret, .moveItemsAway, .receiveItems:
            prompting.interactionAllowed
        case .unlock, .setPasscode, .changePasscode, .removePasscode, .recoverPasscode, .acceptStore, .discardProtected:
            false
        }
    }
}

/// What the user agreed to. A lock or an enrolment change may revoke it while the request waits for something else, so
/// it is checked again after each wait (`check`, `RequestProof`).
struct Agreement: Sendable {
    let proof: Authorisation
    /// What the user entered, if the last step asked for something.
    var entered: AuthenticationGrant.Entered?
    /// The session's `proofEpoch` when the question was asked, and when it was answered.
    let askedIn: UInt64
    let answeredIn: UInt64

    /// The text that the user entered, if the last step asked for one.
    var text: SecretBytes? { if case .text(let text)? = entered { text } else { nil } }
}

extension Session {
    func preflight(_ policy: Policy) -> Reply {
        let state = service.authority.state
        return .policy(Reply.PolicyAnswer(refusal: refusal(of: policy, state), biometry: state.sensor.kind))
    }

    private func refusal(of policy: Policy, _ state: PolicyState) -> Failure? {
        state.refusal(of: policy, for: caller.faceUser(faceUsage), in: caller.loginSession)
            .map { Refusal.failure($0, state, in: caller.loginSession) }
    }

    func evaluate(_ evaluate: Request.Evaluate, _ call: Call) async throws(Failure) -> Reply {
        let proof = try proof(of: evaluate.context)
        // Behaviour LA-34: proofs of the context are accepted again without a prompt.
        let plan = evaluate.policy.plan
        if proof.satisfies(plan, acceptsWeak: true) {
            let accepted = plan.stages.reduce(into: Set()) { $0.formUnion($1) }
            return .proven(proof.methods.intersection(accepted))
        }
        // The plan of a policy does not say that a paired device would do too.
        if let refusal = refusal(of: evaluate.policy, service.authority.state), refusal.status == .companionNotAvailable
        {
            if evaluate.prompting.interactionAllowed { await recordRefusal(.notSetUp) }
            throw refusal
        }
        let agreement = try await ask(
            call,
            Question(
                plan: plan, context: evaluate.context, prompting: evaluate.prompting,
                reuseSeconds: evaluate.reuseSeconds, acceptsWeak: true))
        return .proven(agreement.proof.methods)
    }

    /// Obtains the proofs that an access control requires and adds them to the context, for later item requests
    /// (behaviour LA-41).
    func evaluate(_ evaluate: Request.EvaluateAccessControl, _ call: Call) async throws(Failure) -> Reply {
        guard evaluate.accessControl.isValid else {
            throw Failure(.invalidParameter, "The access control flags contradict each other.")
        }
        let plan = evaluate.accessControl.plan
        if try proof(of: evaluate.context).satisfies(plan) { return .done }
        _ = try await ask(
            call,
            Question(
                plan: plan, context: evaluate.context, prompting: evaluate.prompting,
                reuseSeconds: evaluate.reuseSeconds))
        return .done
    }

    /// Shows a prompt, and adds the proofs to the context, if there is one.
    ///
    /// - Throws: the denial, recorded in the audit log before.
    func ask(_ call: Call, _ question: Question) async throws(Failure) -> Agreement {
        let askedIn = proofEpoch
        // A refusal names the program that asked. Its process may end, or execute another one, while the prompt is shown.
        let named = caller.named
        let asker = question.asker ?? caller
        var number: UInt64 = 0
        let request = AuthenticationRequest(
            plan: question.plan, process: asker.processName, faceUsage: faceUsage, prompting: question.prompting,
            purpose: question.purpose, lastStep: question.lastStep, recoveryCode: question.recoveryCode,
            reuseSeconds: question.reuseSeconds, keyUses: question.context == nil ? .one : .oneKey,
            acceptsWeak: question.acceptsWeak, startedBy: asker.startedBy)
        let end: (outcome: Result<Authorisation, Failure>, entered: AuthenticationGrant.Entered?, answeredIn: UInt64?) =
            await withCheckedContinuation { continuation in
                number = service.evaluate(
                    request, of: caller, named: named, shownAs: asker, subject: question.subject, item: question.item
                ) { [self] outcome, entered in
                    // Before a later event of the authority, such as a lock, can revoke the proof.
                    let answeredIn = state.withLock { $0.take(outcome, for: question.context) }
                    continuation.resume(returning: (outcome, entered, answeredIn))
                }
                // The context or the connection may have ended before the number was known.
                if let withdrawal = state.withLock({ $0.begin(number, of: call, for: question.context) }) {
                    service.authority.withdraw(number, withdrawal)
                }
            }
        state.withLock { $0.forget(number, of: call, for: question.context) }
        let denial: Failure
        switch (end.outcome, end.answeredIn) {
        case (.success(let proof), let answeredIn?):
            return Agreement(proof: proof, entered: end.entered, askedIn: askedIn, answeredIn: answeredIn)
        // If the context was invalidated while the user answered, the proof is not accepted (behaviour LA-36).
        case (.success, nil): denial = Refusal.failure(.appCancel, nil)
        case (.failure(let failure), _) where !failure.message.isEmpty: denial = failure
        // The status alone describes the refusal.
        case (.failure(let failure), _):
            denial = Refusal.failure(
                failure.status, service.authority.state, in: asker.loginSession, hasCode: service.parts.recovery != nil
            )
        }
        if question.recordsDenial {
            let reason = reason(of: denial, question)
            await recordRefusal(reason, of: question.item, by: named)
            if reason == .locked { announceRefusal() }
        }
        throw denial
    }

    private func reason(of denial: Failure, _ question: Question) -> RefusalReason {
        let reason = denial.reason ?? RefusalReason(denial.status)
        // A locked keychain shows no other prompt than that which unlocks it.
        let isLocked = service.authority.state.isLocked && !question.purpose.mayAskWhileLocked
        return reason == .noPrompt && isLocked ? .locked : reason
    }

    /// Throws if all proofs were revoked since the user was asked, for example because the device was locked.
    func check(_ agreement: Agreement) throws(Failure) {
        guard agreement.askedIn == proofEpoch else { throw Refusal.failure(.systemCancel, nil) }
    }

    /// Runs `work` on the write queue, if what the user agreed to is still valid then.
    func write<Value: Sendable>(
        under agreement: Agreement, _ work: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        try await service.parts.work.run { [self] () throws(Failure) in
            try check(agreement)
            return try work()
        }
    }
}

extension Session.State {
    /// Adds the proof of an evaluation to the context.
    ///
    /// - Returns: the epoch of the proof; nil if the context is gone.
    fileprivate mutating func take(_ outcome: Result<Authorisation, Failure>, for handle: ContextHandle?) -> UInt64? {
        guard let handle else { return proofEpoch }
        guard let proof = contexts[handle]?.proof else { return nil }
        if case .success(let more) = outcome { contexts[handle]?.proof = proof.union(more) }
        return proofEpoch
    }

    /// Stores the number of an evaluation, with which it can be cancelled.
    ///
    /// - Returns: why it has to be withdrawn; nil if it continues.
    fileprivate mutating func begin(_ number: UInt64, of call: Call, for handle: ContextHandle?) -> Status? {
        requests[call.id] = number
        if isClosed { return .systemCancel }
        guard let handle else { return nil }
        guard contexts[handle] != nil else { return .appCancel }
        contexts[handle]?.evaluations.insert(number)
        return nil
    }

    fileprivate mutating func forget(_ number: UInt64, of call: Call, for handle: ContextHandle?) {
        requests[call.id] = nil
        if let handle { contexts[handle]?.evaluations.remove(number) }
    }
}

/// The proofs usable by one request: those of its context, and those obtained while it runs.
///
/// A request may wait a minute for the user. Its proofs are validated again at each use, since a lock or an enrolment
/// change may have revoked them meanwhile.
struct RequestProof: Sendable {
    fileprivate let context: ContextHandle?
    fileprivate var own = Authorisation.none
    fileprivate var epoch: UInt64
    /// The number of prompts so far.
    fileprivate(set) var rounds = 0
}

extension Session {
    /// Maximum number of prompts within one request (behaviour AC-13).
    static let roundsOfAsking = 20

    func requestProof(_ context: ContextHandle?) -> RequestProof { RequestProof(context: context, epoch: proofEpoch) }

    /// Returns the proofs that are valid now; throws `invalidContext` if the context was invalidated.
    func proof(of request: RequestProof) throws(Failure) -> Authorisation {
        let held = try proof(of: request.context)
        // Most requests have no proofs of their own; the state of the authority costs more than these are worth.
        guard !request.own.isEmpty, request.epoch == proofEpoch else { return held }
        return held.union(current(request.own))
    }

    /// Shows a prompt for the proofs that an item or a key requires, and adds them to those of the request; proofs from
    /// before a revocation are dropped.
    ///
    /// - Parameters:
    ///   - reason: what the prompt quotes if the app gave no reason; nil for reading the item.
    ///   - item: the item that it is for, by its identifier in the audit log; empty if it is not known.
    ///
    /// The authority shows no prompt if it accepts a recent unlock of the device instead (behaviour LA-33), so that it
    /// also answers a request that allows none.
    func prove(
        _ plan: AuthenticationPlan, _ call: Call, _ authentication: Authentication, _ request: inout RequestProof,
        reason: String? = nil, shownAs asker: Caller? = nil, for item: [UInt8] = []
    ) async throws(Failure) {
        let interactionAllowed = authentication.prompting.interactionAllowed
        let notAllowed = Failure(
            .interactionNotAllowed, "The item requires authentication, and a prompt is not allowed.")
        guard interactionAllowed || authentication.reuseSeconds > 0 else { throw notAllowed }
        guard request.rounds < Self.roundsOfAsking else {
            throw Failure(.itemAuthenticationFailed, "The request required authentication too many times.")
        }
        request.rounds += 1
        var prompting = authentication.prompting
        if prompting.reason.isEmpty {
            if let reason { prompting.reason = reason } else { prompting.reason = try readingReason(item) }
        }
        // Under a policy, "Enter Password" makes the app ask for its own password (behaviour LA-24). In an item
        // request it only makes the request fail (behaviour AC-12), so the button is shown only if the app set its
        // title.
        let takesPasscode = plan.stages.contains { $0.contains(.passcode) }
        if !takesPasscode, prompting.fallbackTitle == nil { prompting.fallbackTitle = "" }
        let agreement: Agreement
        do throws(Failure) {
            agreement = try await ask(
                call,
                Question(
                    plan: plan, context: authentication.context, prompting: prompting,
                    reuseSeconds: authentication.reuseSeconds, asker: asker, item: item))
        } catch {
            throw interactionAllowed ? error : notAllowed
        }
        let epoch = agreement.answeredIn
        request.own = request.epoch == epoch ? current(request.own).union(agreement.proof) : agreement.proof
        request.epoch = epoch
    }

    /// What a prompt quotes if an app that reads an item gave no reason: the item's title, which an app chose as it does a
    /// reason, and which is cleaned, clipped and quoted as one.
    private func readingReason(_ item: [UInt8]) throws(Failure) -> String {
        guard let title = try keychain().title(of: item) else { return Self.readsItem }
        return Prompting(reason: "read \(title)").clipped.reason
    }

    /// The reason where no single item is read, or one without a name.
    static let readsItem = "read a protected item"
}
