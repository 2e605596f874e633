// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyPolicy
import LatchkeySeams
import Synchronization

// Evaluation of policies and access controls, and the prompts of all requests.

extension Session {
    /// The caller and its properties that prompts and policy use.
    var asker: Asker {
        Asker(caller: caller, faceUsage: faceUsage, terminal: terminal)
    }

    func preflight(_ policy: Policy) -> Reply {
        let state = service.authority.state
        let refusal = state.refusal(
            of: policy.plan, for: asker.faceUser, in: caller.loginSession, acceptsWeak: true
        ).map { Refusal.failure($0, state, in: caller.loginSession) }
        return .policy(Reply.PolicyAnswer(refusal: refusal, biometry: state.sensor.kind))
    }

    func evaluate(_ id: UInt64, _ evaluate: Request.Evaluate, _ answer: @escaping Answer) throws(Failure) {
        let proof = try proof(of: evaluate.context)
        // Behaviour LA-34: proofs of the context are accepted again without a prompt.
        let plan = evaluate.policy.plan
        if proof.satisfies(plan, acceptsWeak: true) {
            let accepted = plan.stages.reduce(into: Set()) { $0.formUnion($1) }
            return answer(.proven(proof.methods.intersection(accepted)))
        }
        ask(id, plan, evaluate.context, evaluate.prompting, evaluate.reuseSeconds, acceptsWeak: true) { outcome in
            switch outcome {
            case .granted(let proof): answer(.proven(proof.methods))
            case .denied(let failure): answer(.failure(failure))
            }
        }
    }

    /// Obtains the proofs that an access control requires and adds them to the context, for later item requests
    /// (behaviour LA-41).
    func evaluate(_ id: UInt64, _ evaluate: Request.EvaluateRule, _ answer: @escaping Answer) throws(Failure) {
        guard evaluate.accessControl.isValid else {
            throw Failure(.invalidParameter, "The access control flags contradict each other.")
        }
        let plan = evaluate.accessControl.plan
        if try proof(of: evaluate.context).satisfies(plan) { return answer(.done) }
        ask(id, plan, evaluate.context, evaluate.prompting) { outcome in
            switch outcome {
            case .granted: answer(.done)
            case .denied(let failure): answer(.failure(failure))
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
        let service = service
        start(id, handle) { [asker] ended in
            service.evaluate(
                plan, asker: asker, prompting: prompting, reuseSeconds: reuseSeconds,
                keyUses: handle == nil ? .one : .oneKey, acceptsWeak: acceptsWeak
            ) { outcome, _ in ended(outcome) }
        } completion: {
            completion($0)
        }
    }

    /// Shows a prompt for an operation of the daemon, without any text of the caller but `party`. Proofs of contexts are
    /// not used, and the new proofs are for this request only.
    ///
    /// - Parameters:
    ///   - party: the relying party that the prompt names; empty for none.
    ///   - completion: receives what the user entered, if `lastStep` asks for something.
    func askOwnerToEnter(
        _ id: UInt64, _ plan: AuthenticationPlan, for purpose: PromptPurpose, party: String = "",
        lastStep: RequestedStep = .none, interactionAllowed: Bool = true,
        _ completion: @escaping @Sendable (Asked, EnteredSecret?) -> Void
    ) {
        let service = service
        let entered = Mutex<EnteredSecret?>(nil)
        start(id, nil) { [asker] ended in
            service.evaluate(
                plan, asker: asker, prompting: Prompting(reason: party, interactionAllowed: interactionAllowed),
                purpose: purpose, lastStep: lastStep, subject: Array(party.utf8)
            ) { outcome, text in
                entered.withLock { $0 = text }
                ended(outcome)
            }
        } completion: { asked in
            completion(asked, entered.withLock { $0 })
        }
    }

    /// Shows a prompt for an operation of the daemon.
    ///
    /// - Parameter completion: receives the text that the user entered, if `lastStep` asks for one.
    func askOwner(
        _ id: UInt64, _ plan: AuthenticationPlan, for purpose: PromptPurpose,
        lastStep: RequestedStep = .none, interactionAllowed: Bool = true,
        _ completion: @escaping @Sendable (Asked, _ text: SecretBytes?) -> Void
    ) {
        askOwnerToEnter(id, plan, for: purpose, lastStep: lastStep, interactionAllowed: interactionAllowed) {
            asked, entered in
            if case .text(let text)? = entered { completion(asked, text) } else { completion(asked, nil) }
        }
    }

    /// Starts an evaluation for a request and, if `handle` is not nil, for a context.
    private func start(
        _ id: UInt64, _ handle: ContextHandle?,
        evaluate: (_ ended: @escaping @Sendable (Outcome) -> Void) -> UInt64,
        completion: @escaping @Sendable (Asked) -> Void
    ) {
        let service = service
        let settled = Mutex(false)
        let evaluation = Mutex<UInt64>(0)
        let number = evaluate { [self] outcome in
            settled.withLock { $0 = true }
            let isAlive = state.withLock { state in
                state.requests[id] = nil
                guard let handle else { return true }
                guard var context = state.contexts[handle] else { return false }
                // The number is still 0 if the evaluation ends before `evaluate` returns; it is in no set then.
                context.evaluations.remove(evaluation.withLock { $0 })
                if case .granted(let proof) = outcome { context.proof = context.proof.union(proof) }
                state.contexts[handle] = context
                return true
            }
            switch outcome {
            case .granted(let proof):
                // If the context was invalidated while the user answered, the proof is not accepted (behaviour LA-36).
                completion(isAlive ? .granted(proof) : .denied(Refusal.failure(.appCancel, nil)))
            case .denied(let status):
                let hasCode = service.parts.recovery != nil
                completion(
                    .denied(
                        Refusal.failure(
                            status, service.authority.state, in: caller.loginSession, hasCode: hasCode)))
            }
        }
        evaluation.withLock { $0 = number }
        // The evaluation may have ended already, or its context or connection before its number was known.
        let withdrawal: Status? = state.withLock { state in
            if settled.withLock({ $0 }) { return nil }
            state.requests[id] = number
            if state.isClosed { return .systemCancel }
            guard let handle else { return nil }
            guard state.contexts[handle] != nil else { return .appCancel }
            state.contexts[handle]?.evaluations.insert(number)
            return nil
        }
        if let withdrawal { service.authority.withdraw(number, withdrawal) }
    }
}
