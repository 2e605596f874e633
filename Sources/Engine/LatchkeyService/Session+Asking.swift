// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyPolicy
import LatchkeySeams
import Synchronization

// Evaluation of policies and access controls, and the prompts of all requests.

extension Session {
    func preflight(_ policy: Policy) -> Reply {
        let state = service.authority.state
        return .policy(Reply.PolicyAnswer(refusal: refusal(of: policy, state), biometry: state.sensor.kind))
    }

    private func refusal(of policy: Policy, _ state: PolicyState) -> Failure? {
        state.refusal(of: policy, for: caller.faceUser(faceUsage), in: caller.loginSession)
            .map { Refusal.failure($0, state, in: caller.loginSession) }
    }

    func evaluate(_ id: UInt64, _ evaluate: Request.Evaluate, _ answer: @escaping Answer) throws(Failure) {
        let proof = try proof(of: evaluate.context)
        // Behaviour LA-34: proofs of the context are accepted again without a prompt.
        let plan = evaluate.policy.plan
        if proof.satisfies(plan, acceptsWeak: true) {
            let accepted = plan.stages.reduce(into: Set()) { $0.formUnion($1) }
            return answer(.proven(proof.methods.intersection(accepted)))
        }
        // The plan of a policy does not say that a paired device would do too.
        if let refusal = refusal(of: evaluate.policy, service.authority.state), refusal.status == .companionNotAvailable
        {
            return deny(refusal, interactionAllowed: evaluate.prompting.interactionAllowed, answer)
        }
        ask(id, plan, evaluate.context, evaluate.prompting, evaluate.reuseSeconds, acceptsWeak: true) {
            [self] outcome in
            switch outcome {
            case .granted(let proof): answer(.proven(proof.methods))
            case .denied(let failure):
                deny(failure, interactionAllowed: evaluate.prompting.interactionAllowed, answer)
            }
        }
    }

    /// Replies with the refusal of an evaluation, which is recorded as that of an item, unless the app allowed no prompt.
    func deny(_ failure: Failure, interactionAllowed: Bool, _ answer: @escaping Answer) {
        if interactionAllowed { refuse(failure, answer) } else { answer(.failure(failure)) }
    }

    /// Obtains the proofs that an access control requires and adds them to the context, for later item requests
    /// (behaviour LA-41).
    func evaluate(_ id: UInt64, _ evaluate: Request.EvaluateRule, _ answer: @escaping Answer) throws(Failure) {
        guard evaluate.accessControl.isValid else {
            throw Failure(.invalidParameter, "The access control flags contradict each other.")
        }
        let plan = evaluate.accessControl.plan
        if try proof(of: evaluate.context).satisfies(plan) { return answer(.done) }
        ask(id, plan, evaluate.context, evaluate.prompting, evaluate.reuseSeconds) { [self] outcome in
            switch outcome {
            case .granted: answer(.done)
            case .denied(let failure):
                deny(failure, interactionAllowed: evaluate.prompting.interactionAllowed, answer)
            }
        }
    }

    /// The result of an evaluation, with the failure that the reply reports.
    enum Asked: Sendable {
        case granted(Authorisation)
        case denied(Failure)
    }

    /// Shows a prompt for `plan` and adds the proofs to the context, if there is one.
    ///
    /// - Parameter acceptsWeak: whether the plan is that of a policy, which a weak sensor can answer.
    func ask(
        _ id: UInt64, _ plan: AuthenticationPlan, _ handle: ContextHandle?, _ prompting: Prompting,
        _ reuseSeconds: UInt64 = 0, acceptsWeak: Bool = false, _ completion: @escaping @Sendable (Asked) -> Void
    ) {
        let request = AuthenticationRequest(
            plan: plan, process: caller.processName, faceUsage: faceUsage, prompting: prompting,
            reuseSeconds: reuseSeconds, keyUses: handle == nil ? .one : .oneKey, acceptsWeak: acceptsWeak)
        start(id, handle, request) { asked, _ in
            completion(asked)
        }
    }

    /// Shows a prompt for an operation of the daemon, without any text of the caller but `party`. Proofs of contexts are
    /// not used, and the new proofs are for this request only.
    ///
    /// - Parameters:
    ///   - party: the relying party that the prompt names; empty for none.
    ///   - code: the recovery code that `lastStep` shows.
    ///   - completion: receives what the user entered, if `lastStep` asks for something.
    func askOwnerToEnter(
        _ id: UInt64, _ plan: AuthenticationPlan, for purpose: PromptPurpose, party: String = "",
        lastStep: LastStep = .none, showing code: SecretBytes? = nil, interactionAllowed: Bool = true,
        _ completion: @escaping @Sendable (Asked, AuthenticationGrant.Entered?) -> Void
    ) {
        let request = AuthenticationRequest(
            plan: plan, process: caller.processName, faceUsage: faceUsage,
            prompting: Prompting(reason: party, interactionAllowed: interactionAllowed), purpose: purpose,
            lastStep: lastStep, recoveryCode: code)
        start(id, nil, request, subject: Array(party.utf8), completion)
    }

    /// Shows a prompt for an operation of the daemon.
    ///
    /// - Parameter completion: receives the text that the user entered, if `lastStep` asks for one.
    func askOwner(
        _ id: UInt64, _ plan: AuthenticationPlan, for purpose: PromptPurpose,
        lastStep: LastStep = .none, showing code: SecretBytes? = nil, interactionAllowed: Bool = true,
        _ completion: @escaping @Sendable (Asked, _ text: SecretBytes?) -> Void
    ) {
        askOwnerToEnter(
            id, plan, for: purpose, lastStep: lastStep, showing: code, interactionAllowed: interactionAllowed
        ) { asked, entered in
            if case .text(let text)? = entered { completion(asked, text) } else { completion(asked, nil) }
        }
    }

    /// How far an evaluation is. Its number is known when it has been started; it may have ended before that.
    private enum Progress {
        case starting
        case running(UInt64)
        case ended
    }

    /// Starts an evaluation for a request and, if `handle` is not nil, for a context.
    private func start(
        _ id: UInt64, _ handle: ContextHandle?, _ request: AuthenticationRequest, subject: [UInt8] = [],
        _ completion: @escaping @Sendable (Asked, AuthenticationGrant.Entered?) -> Void
    ) {
        let progress = Mutex(Progress.starting)
        let number = service.evaluate(request, of: caller, subject: subject) { [self] outcome, entered in
            let number: UInt64? = progress.withLock { progress in
                defer { progress = .ended }
                if case .running(let number) = progress { return number }
                return nil
            }
            let isAlive = state.withLock { $0.settle(id, number, of: handle, with: outcome) }
            completion(asked(outcome, isAlive: isAlive), entered)
        }
        // The context or the connection may have ended before the number was known.
        let withdrawal: Status? = state.withLock { state in
            let isRunning = progress.withLock { progress in
                guard case .starting = progress else { return false }
                progress = .running(number)
                return true
            }
            guard isRunning else { return nil }
            state.requests[id] = number
            if state.isClosed { return .systemCancel }
            guard let handle else { return nil }
            guard state.contexts[handle] != nil else { return .appCancel }
            state.contexts[handle]?.evaluations.insert(number)
            return nil
        }
        if let withdrawal { service.authority.withdraw(number, withdrawal) }
    }

    /// The result that the reply reports.
    private func asked(_ outcome: Result<Authorisation, Failure>, isAlive: Bool) -> Asked {
        switch outcome {
        // If the context was invalidated while the user answered, the proof is not accepted (behaviour LA-36).
        case .success(let proof): isAlive ? .granted(proof) : .denied(Refusal.failure(.appCancel, nil))
        case .failure(let failure) where !failure.message.isEmpty: .denied(failure)
        case .failure(let failure):
            .denied(
                Refusal.failure(
                    failure.status, service.authority.state, in: caller.loginSession,
                    hasCode: service.parts.recovery != nil))
        }
    }
}

extension Session.State {
    /// Removes the evaluation of a request that has ended, and adds its proof to the context.
    ///
    /// - Parameter number: nil if the evaluation ended before its number was stored.
    /// - Returns: false if the context is gone.
    fileprivate mutating func settle(
        _ id: UInt64, _ number: UInt64?, of handle: ContextHandle?, with outcome: Result<Authorisation, Failure>
    ) -> Bool {
        requests[id] = nil
        guard let handle else { return true }
        guard var context = contexts[handle] else { return false }
        if let number { context.evaluations.remove(number) }
        if case .success(let proof) = outcome { context.proof = context.proof.union(proof) }
        contexts[handle] = context
        return true
    }
}
