// SPDX-License-Identifier: Apache-2.0

import LatchkeyKeychain
package import LatchkeyModel
import LatchkeyPolicy
import Synchronization

/// One connection's requests, contexts and evaluations. Ends with the connection.
package final class Session: Sendable {
    /// Called with the answer, exactly once, or several times for streamed items of which the last says so.
    package typealias Answer = @Sendable (Reply) -> Void

    struct Context: Sendable {
        /// What was proven on it.
        var proof = Authorisation.none
        /// Evaluations under way.
        var evaluations: Set<UInt64> = []
    }

    private struct Watch: Sendable {
        var number: UInt64
        var answer: Answer
    }

    private struct State: Sendable {
        var caller: Caller
        /// What the app says it looks at faces for.
        var faceUsage: String?
        var contexts: [ContextHandle: Context] = [:]
        /// Environments that are waited for, by request.
        var watches: [UInt64: Watch] = [:]
        /// Evaluations of requests that can be cancelled, by request.
        var requests: [UInt64: UInt64] = [:]
        /// Counts the times when everything that was proven was dropped.
        var proofEpoch: UInt64 = 0
        var isClosed = false
    }

    let service: Service
    /// What is left of long answers.
    let pages: PageLine
    private let terminal: UInt64
    private let mayNameItself: Bool
    private let state: Mutex<State>

    init(
        service: Service, caller: Caller, terminal: UInt64, mayNameItself: Bool,
        whenRoom: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void
    ) {
        self.service = service
        pages = PageLine(service.parts.background, whenRoom: whenRoom)
        self.terminal = terminal
        self.mayNameItself = mayNameItself
        state = Mutex(State(caller: caller))
    }

    var caller: Caller { state.withLock { $0.caller } }

    /// Whether nobody reads the answers any more.
    var isClosed: Bool { state.withLock { $0.isClosed } }

    /// Answers one request. What needs no person and writes nothing is answered before this returns.
    package func handle(_ id: UInt64, _ request: Request, _ answer: @escaping Answer) {
        do throws(Failure) {
            if request.isForItems, let failure = service.parts.controls?.failureOfItems() { throw failure }
            switch request {
            case .hello(let hello): answer(greet(hello))
            case .status: answer(.status(service.status(caller)))
            case .createContext: answer(try createContext())
            case .invalidateContext(let handle): answer(try invalidate(handle))
            case .canEvaluate(let policy): answer(preflight(policy))
            case .evaluate(let evaluate): try self.evaluate(id, evaluate, answer)
            case .evaluateRule(let evaluate): try self.evaluate(id, evaluate, answer)
            case .environment(let seen): environment(id, unlike: seen, answer)
            case .addItem(let add): try self.add(id, add, answer)
            case .copyItems(let copy): try self.copy(id, copy, answer)
            case .updateItems(let update): try self.update(id, update, answer)
            case .deleteItems(let query): try delete(query, answer)
            case .listItems(let query): try list(query, answer)
            case .passcode(let change): try self.change(change, answer)
            case .lock: try lock(answer)
            case .unlock(let prompting): try unlock(id, prompting, answer)
            case .facePermissions: answer(facePermissions())
            case .changeFacePermission(let change): answer(try self.change(change))
            case .simulate(let command): answer(try service.simulate(command))
            case .transcript: answer(try service.transcript())
            case .exportItems(let request): try export(request, answer)
            case .importItem(let request): try restore(request, answer)
            case .log(let log): try self.log(log, answer)
            case .check: try check(answer)
            case .restoreRows: try restoreRows(answer)
            case .createEnclaveKey(let create): try createKey(id, create, answer)
            case .useEnclaveKey(let use): useKey(id, use, answer)
            case .describeEnclaveKey(let name): answer(try describeKey(name))
            }
        } catch {
            answer(.failure(error))
        }
    }

    /// Gives up a request that waits for a person, or for another environment.
    package func cancel(_ id: UInt64) {
        let (evaluation, watch) = state.withLock { ($0.requests[id], $0.watches.removeValue(forKey: id)) }
        if let evaluation { service.authenticator.withdraw(evaluation, .appCancel) }
        if let watch, service.environments.forget(watch.number) {
            watch.answer(.failure(Failure(.appCancel, "The app waits no more.")))
        }
    }

    /// Ends everything of this connection (behaviour LA-32: nobody is left to be told).
    package func close() {
        let (evaluations, watches) = state.withLock { state in
            state.isClosed = true
            state.contexts = [:]
            return (Array(state.requests.values), state.watches)
        }
        pages.clear()
        for watch in watches.values { service.environments.forget(watch.number) }
        for evaluation in evaluations { service.authenticator.withdraw(evaluation, .systemCancel) }
    }

    private func greet(_ hello: Request.Hello) -> Reply {
        if mayNameItself, !hello.application.isEmpty {
            state.withLock { $0.caller.groups = [hello.application] }
        }
        state.withLock { $0.faceUsage = hello.faceUsage }
        return .welcome(Reply.Welcome(tier: service.parts.tier, processID: service.parts.processID))
    }

    func keychain() throws(Failure) -> Keychain { try service.parts.keychain.get() }

    // MARK: - Contexts

    private func createContext() throws(Failure) -> Reply {
        guard let handle = ContextHandle(try service.parts.random.bytes(16).copyBytes()) else {
            throw Failure(.internalFailure, "No random bytes.")
        }
        let isTooMany = state.withLock { state in
            guard state.contexts.count < Limits.contexts else { return true }
            state.contexts[handle] = Context()
            return false
        }
        guard !isTooMany else {
            throw Failure(.limitExceeded, "One connection has at most \(Limits.contexts) contexts.")
        }
        return .context(handle)
    }

    private func invalidate(_ handle: ContextHandle) throws(Failure) -> Reply {
        let context = state.withLock { $0.contexts.removeValue(forKey: handle) }
        guard let context else { throw Failure(.invalidContext, "The context was invalidated before.") }
        for evaluation in context.evaluations { service.authenticator.withdraw(evaluation, .appCancel) }
        return .done
    }

    /// What a context has proven that still holds; throws when it is not one of this connection.
    func proof(of handle: ContextHandle?) throws(Failure) -> Authorisation {
        guard let handle else { return .none }
        guard let context = state.withLock({ $0.contexts[handle] }) else {
            throw Failure(.invalidContext, "The context was invalidated, or belongs to another connection.")
        }
        return current(context.proof)
    }

    /// What still holds of a proof: a finger of a set that is enrolled no more proves nothing (abuse case 32).
    func current(_ proof: Authorisation) -> Authorisation {
        guard proof.methods.contains(.biometry), proof.enrolment != service.authenticator.state.sensor.enrolment
        else { return proof }
        return Authorisation(methods: proof.methods.subtracting([.biometry]), enrolment: nil)
    }

    /// Becomes another number when everything that was proven is dropped.
    var proofEpoch: UInt64 { state.withLock { $0.proofEpoch } }

    // MARK: - Asking a person

    /// Who asks, as the prompt and the policy need it.
    private var asker: Authenticator.Asker {
        let (caller, faceUsage) = state.withLock { ($0.caller, $0.faceUsage) }
        return Authenticator.Asker(caller: caller, faceUsage: faceUsage, terminal: terminal)
    }

    private func preflight(_ policy: Policy) -> Reply {
        let state = service.authenticator.state
        let refusal = state.refusal(of: policy.plan, for: asker.faceUser).map { Refusal.failure($0, state) }
        return .policy(Reply.PolicyAnswer(refusal: refusal, biometry: state.sensor.kind))
    }

    private func evaluate(_ id: UInt64, _ evaluate: Request.Evaluate, _ answer: @escaping Answer) throws(Failure) {
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
    private func evaluate(_ id: UInt64, _ evaluate: Request.EvaluateRule, _ answer: @escaping Answer) throws(Failure) {
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

    /// Drops what was proven: the device was locked.
    func forgetProofs() {
        state.withLock { state in
            for handle in state.contexts.keys { state.contexts[handle]?.proof = .none }
            state.proofEpoch += 1
        }
    }

    // MARK: - The environment

    private func environment(_ id: UInt64, unlike seen: UInt64?, _ answer: @escaping Answer) {
        guard let seen else { return answer(environmentNow()) }
        let watch = service.environments.wait(unlike: seen) { [weak self] in
            guard let self else { return }
            state.withLock { $0.watches[id] = nil }
            answer(environmentNow())
        }
        guard let watch else { return }
        let isClosed = state.withLock { state in
            // Told already, perhaps: then there is nothing to give up.
            if service.environments.isWaiting(watch) { state.watches[id] = Watch(number: watch, answer: answer) }
            return state.isClosed
        }
        if isClosed { service.environments.forget(watch) }
    }

    /// The environment as this app may know it: hashes are of its own group (behaviour DS-03).
    private func environmentNow() -> Reply {
        let revision = service.environments.revision
        let state = service.authenticator.state
        let group = caller.groups.first ?? ""
        do throws(Failure) {
            let keychain = try keychain()
            var companions: [CompanionType: [UInt8]] = [:]
            for (type, name) in state.companions.paired {
                companions[type] = try keychain.domainHash(group, "companion \(type.rawValue)", name)
            }
            var biometry: [UInt8]?
            if let set = state.sensor.enrolment {
                biometry = try keychain.domainHash(group, "biometry", set.bytes)
            }
            return .environment(
                EnvironmentReport(
                    biometry: state.sensor.kind, isEnrolled: state.sensor.enrolment != nil,
                    isLockedOut: state.isBiometryLocked,
                    isBiometryUsable: state.biometryRefusal(for: asker.faceUser) == nil,
                    biometryHash: biometry, isPasscodeSet: state.isPasscodeSet,
                    isCompanionUsable: state.companions.isReachable, companions: companions, revision: revision))
        } catch {
            return .failure(error)
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
        _ reuseSeconds: UInt64 = 0, unlocks: Bool = false,
        _ completion: @escaping @Sendable (Asked) -> Void
    ) {
        let asker = asker
        let service = service
        let settled = Mutex(false)
        let evaluation = Mutex<UInt64>(0)
        let number = service.authenticator.evaluate(
            plan, asker: asker, prompting: prompting, reuseSeconds: reuseSeconds, unlocks: unlocks
        ) { [self] outcome in
            let number = evaluation.withLock { $0 }
            settled.withLock { $0 = true }
            let isAlive = state.withLock { state in
                state.requests[id] = nil
                guard let handle else { return true }
                guard var context = state.contexts[handle] else { return false }
                context.evaluations.remove(number)
                if case .granted(let proof) = outcome { context.proof = context.proof.union(proof) }
                state.contexts[handle] = context
                return true
            }
            switch outcome {
            case .granted(let proof):
                // The context went away while the person answered: nothing may come of it (behaviour LA-36).
                completion(isAlive ? .granted(proof) : .denied(Refusal.failure(.appCancel, nil)))
            case .denied(let status):
                completion(.denied(Refusal.failure(status, service.authenticator.state)))
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

extension Request {
    /// Whether an app makes it by a `SecItem` or `SecKey` function.
    fileprivate var isForItems: Bool {
        switch self {
        case .addItem, .copyItems, .updateItems, .deleteItems, .createEnclaveKey, .useEnclaveKey: true
        default: false
        }
    }
}
