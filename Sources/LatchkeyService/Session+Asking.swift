// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyPolicy
import Synchronization

/// Policies and rules, and how a person is asked.
extension Session {
    /// Who asks, as the prompt and the policy need it.
    var asker: Authenticator.Asker {
        Authenticator.Asker(caller: caller, faceUsage: faceUsage, terminal: terminal)
    }

    func preflight(_ policy: Policy) -> Reply {
        let state = service.authenticator.state
        let refusal = state.refusal(of: policy.plan, for: asker.faceUser).map { Refusal.failure($0, state) }
        return .policy(Reply.PolicyAnswer(refusal: refusal, biometry: state.sensor.kind))
    }

    func evaluate(_ id: UInt64, _ evaluate: Request.Evaluate, _ answer: @escaping Answer) throws(Failure) {
        let proof = try proof(of: evaluate.context)
        // Behaviour LA-34: what this context has proven is not asked again.
        let plan = evaluate.policy.plan
        if proof.satisfies(plan) {
            let accepted = plan.stages.reduce(into: Set()) { $0.formUnion($1) }
            return answer(.proven(proof.methods.intersection(accepted)))
        }
        ask(id, plan, evaluate.context, evaluate.prompting, evaluate.reuseSeconds) { outcome in
            switch outcome {
            case .granted(let proof): answer(.proven(proof.methods))
            case .denied(let failure): answer(.failure(failure))
            }
        }
    }

    /// Behaviour LA-41: what an access control asks for is proven on the context before an item is touched.
    func evaluate(_ id: UInt64, _ evaluate: Request.EvaluateRule, _ answer: @escaping Answer) throws(Failure) {
        guard evaluate.accessControl.isValid else {
            throw Failure(.invalidParameter, "The access control flags contradict.")
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

    /// How asking ended, in words.
    enum Asked: Sendable {
        case granted(Authorisation)
        case denied(Failure)
    }

    /// Asks the person for what `plan` demands and marks the context with it.
    func ask(
        _ id: UInt64, _ plan: AuthenticationPlan, _ handle: ContextHandle?, _ prompting: Prompting,
        _ reuseSeconds: UInt64 = 0, _ completion: @escaping @Sendable (Asked) -> Void
    ) {
        let service = service
        start(id, handle) { [asker] ended in
            service.authenticator.evaluate(
                plan, asker: asker, prompting: prompting, reuseSeconds: reuseSeconds
            ) { outcome, _ in ended(outcome) }
        } completion: {
            completion($0)
        }
    }

    /// Asks the person in the daemon's own words. No context takes part: what was proven before does not count, and what
    /// is proven here is for this request alone.
    ///
    /// - Parameter completion: called with the recovery code that was typed, if `lastStep` asks for one.
    func askOwner(
        _ id: UInt64, _ plan: AuthenticationPlan, for purpose: PromptPurpose,
        lastStep: Authenticator.RecoveryStep = .none, interactionAllowed: Bool = true,
        _ completion: @escaping @Sendable (Asked, _ recoveryCode: SecretBytes?) -> Void
    ) {
        let service = service
        let entered = Mutex<SecretBytes?>(nil)
        start(id, nil) { [asker] ended in
            service.authenticator.evaluate(
                plan, asker: asker, prompting: Prompting(interactionAllowed: interactionAllowed), purpose: purpose,
                lastStep: lastStep
            ) { outcome, code in
                entered.withLock { $0 = code }
                ended(outcome)
            }
        } completion: { asked in
            completion(asked, entered.withLock { $0 })
        }
    }

    /// Starts an evaluation that belongs to a request and, if there is one, to a context.
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
                // Read here: whoever put the number there knew it.
                context.evaluations.remove(evaluation.withLock { $0 })
                if case .granted(let proof) = outcome { context.proof = context.proof.union(proof) }
                state.contexts[handle] = context
                return true
            }
            switch outcome {
            case .granted(let proof):
                // The context went away while the person answered: nothing may come of it (behaviour LA-36).
                completion(isAlive ? .granted(proof) : .denied(Refusal.failure(.appCancel, nil)))
            case .denied(let status):
                let problem = status == .notInteractive ? service.parts.controls?.takeScriptProblem() : nil
                completion(.denied(problem ?? Refusal.failure(status, service.authenticator.state)))
            }
        }
        evaluation.withLock { $0 = number }
        // Ended already, or cancelled before its number was known.
        let withdrawal: Status? = state.withLock { state in
            if settled.withLock({ $0 }) { return nil }
            state.requests[id] = number
            if state.isClosed { return .systemCancel }
            guard let handle else { return nil }
            guard state.contexts[handle] != nil else { return .appCancel }
            state.contexts[handle]?.evaluations.insert(number)
            return nil
        }
        if let withdrawal { service.authenticator.withdraw(number, withdrawal) }
    }
}
