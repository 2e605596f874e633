// SPDX-License-Identifier: Apache-2.0

import LatchkeyClient
import LatchkeyModel
public import Security
import Synchronization

/// Asks the owner of the device to prove who they are. Apple: `LAContext`.
///
/// What was proven stays with the context: evaluating it again, or giving it to a keychain call, asks no second time
/// until it is invalidated, its process ends, or the daemon goes away.
///
/// Use one context for each attempt. Methods may be called from any thread.
open class LAContext: NSObject {
    // Everything that changes is in `state`, behind its lock. Not Sendable, as on Apple systems (LA-43): subclasses of apps
    // keep state of their own.
    let engine: Result<Client, Failure>
    let state = Mutex(State())

    struct State: Sendable {
        var handle: ContextHandle?
        var generation: UInt64 = 0
        var isInvalidated = false
        var biometryType = LABiometryType.none
        var prompting = Prompting()
        var reuseDuration: TimeInterval = 0
        var maxBiometryFailures: Int?
        /// Credentials of the app, wiped when they are replaced.
        var credentials: [LACredentialType: SecretBytes] = [:]
        /// The set that a biometric policy was last possible or proven with.
        var evaluatedSet: Data?
    }

    /// Makes a fresh context. Does not block; the engine is chosen now (a simulated world in scope, or the daemon).
    public override init() {
        engine = Result { () throws(Failure) in try AppIdentity.client() }
        super.init()
    }

    deinit { invalidate() }

    // MARK: - What the prompt says

    /// Title of the fallback button: nil for the default, "" for no button. It appears after the first try that
    /// failed (the second for a face).
    open var localizedFallbackTitle: String? {
        get { state.withLock { $0.prompting.fallbackTitle } }
        set { state.withLock { $0.prompting.fallbackTitle = newValue } }
    }

    /// Title of the cancel button; nil or "" for the default.
    open var localizedCancelTitle: String? {
        get { state.withLock { $0.prompting.cancelTitle } }
        set { state.withLock { $0.prompting.cancelTitle = newValue } }
    }

    /// The reason that keychain calls with this context show. An evaluation's own reason takes its place.
    open var localizedReason: String {
        get { state.withLock { $0.prompting.reason } }
        set { state.withLock { $0.prompting.reason = newValue } }
    }

    /// Whether everything that needs a prompt fails with `LAError.notInteractive` instead. The default is false.
    open var interactionNotAllowed: Bool {
        get { state.withLock { !$0.prompting.interactionAllowed } }
        set { state.withLock { $0.prompting.interactionAllowed = !newValue } }
    }

    /// The kind of sensor: `none` before the first `canEvaluatePolicy`, and right after it whatever it returned.
    open var biometryType: LABiometryType { state.withLock { $0.biometryType } }

    // MARK: - Evaluating

    /// Whether the policy can be evaluated now. Blocks for one round trip to the daemon; never prompts.
    ///
    /// - Parameters:
    ///   - policy: what would be asked.
    ///   - error: set to an `LAError` when the answer is false, to nil when it is true.
    open func canEvaluatePolicy(_ policy: LAPolicy, error: NSErrorPointer) -> Bool {
        do throws(Failure) {
            try checkIsValid()
            guard case .policy(let answer) = try engine.get().call(.canEvaluate(policy.wire)) else {
                throw Failure(.internalFailure, "The daemon's answer is of another kind.")
            }
            state.withLock { $0.biometryType = LABiometryType(answer.biometry) }
            if let refusal = answer.refusal { throw explained(refusal, sensor: answer.biometry) }
            if policy == .deviceOwnerAuthenticationWithBiometrics { keepEvaluatedSet() }
            error?.pointee = nil
            return true
        } catch let failure {
            error?.pointee = failure.localAuthenticationError._nsError
            return false
        }
    }

    /// Asks the person and calls `reply` once, never on the main thread. Does not block.
    ///
    /// - Parameters:
    ///   - policy: what is asked.
    ///   - localizedReason: why; shown in the prompt after control characters are taken out. An empty reason is a
    ///     programmer's error and stops the program, as on Apple systems.
    ///   - reply: true and nil, or false and an `LAError`.
    @preconcurrency
    open func evaluatePolicy(
        _ policy: LAPolicy, localizedReason: String, reply: @escaping @Sendable (Bool, (any Error)?) -> Void
    ) {
        precondition(!localizedReason.isEmpty, "LAContext: localizedReason is empty")
        let wasValid = !state.withLock { $0.isInvalidated }
        // A thread of its own waits for the person, so that no thread of the caller and of no pool does.
        let context = Carried(value: self)
        Thread.detachNewThread {
            do throws(Failure) {
                // Behaviour DS-01: a passcode alone says nothing of what is enrolled.
                let methods = try context.value.evaluate(policy.wire, reason: localizedReason)
                if methods.contains(.biometry) { context.value.keepEvaluatedSet() }
                reply(true, nil)
            } catch {
                reply(false, LAContext.ending(context.value.explained(error), wasValid: wasValid))
            }
        }
    }

    /// Asks the person. Returns true, or throws an `LAError`; cancelling the task leaves the prompt up.
    ///
    /// - Parameters:
    ///   - policy: what is asked.
    ///   - localizedReason: why; not empty.
    @discardableResult
    nonisolated(nonsending) open func evaluatePolicy(_ policy: LAPolicy, localizedReason: String) async throws -> Bool {
        try await withCheckedThrowingContinuation { continuation in
            evaluatePolicy(policy, localizedReason: localizedReason) { isProven, error in
                if let error { continuation.resume(throwing: error) } else { continuation.resume(returning: isProven) }
            }
        }
    }

    /// What it was proven by.
    private func evaluate(_ policy: Policy, reason: String) throws(Failure) -> Set<AuthenticationMethod> {
        let reply = try callWithHandle { handle in
            let seconds = touchIDAuthenticationAllowableReuseDuration
            let reuse = seconds.isFinite && seconds > 0 ? UInt64(min(seconds, 300)) : seconds == .infinity ? 300 : 0
            return .evaluate(
                Request.Evaluate(
                    context: handle, policy: policy, prompting: prompting(reason), reuseSeconds: reuse))
        }
        return if case .proven(let methods) = reply { methods } else { [] }
    }

    /// Makes a request with the context's handle. Another call may make the connection anew between the two: then the
    /// handle is another, and the request is made with that one.
    @discardableResult
    private func callWithHandle(_ request: (ContextHandle) -> Request) throws(Failure) -> Reply {
        let first = try handle()
        do throws(Failure) {
            return try engine.get().call(request(first))
        } catch {
            guard error.status == .invalidContext, case let second = try handle(), second != first else { throw error }
            return try engine.get().call(request(second))
        }
    }

    /// What the prompt of an evaluation says: its own reason takes the place of the property's (behaviour LA-38).
    private func prompting(_ reason: String) -> Prompting {
        var prompting = prompting
        prompting.reason = reason
        return prompting.clipped
    }

    // MARK: - Access controls

    /// Asks the person for what an access control demands, so that items and keys under it can be used with this
    /// context without another prompt, and calls `reply` once, never on the main thread. Does not block.
    ///
    /// - Parameters:
    ///   - accessControl: the rule.
    ///   - operation: what is about to be done; making an item or a key asks for nothing.
    ///   - localizedReason: why; not empty.
    ///   - reply: true and nil, or false and an `LAError`.
    @preconcurrency
    open func evaluateAccessControl(
        _ accessControl: SecAccessControl, operation: LAAccessControlOperation, localizedReason: String,
        reply: @escaping @Sendable (Bool, (any Error)?) -> Void
    ) {
        precondition(!localizedReason.isEmpty, "LAContext: localizedReason is empty")
        let wasValid = !state.withLock { $0.isInvalidated }
        let context = Carried(value: self)
        Thread.detachNewThread {
            do throws(Failure) {
                try context.value.checkIsValid()
                // Behaviour AC-05: making an item is open to everyone.
                if operation != .createItem, operation != .createKey {
                    try context.value.callWithHandle { handle in
                        .evaluateRule(
                            Request.EvaluateRule(
                                context: handle, accessControl: accessControl.rule,
                                prompting: context.value.prompting(localizedReason)))
                    }
                }
                reply(true, nil)
            } catch {
                reply(false, LAContext.ending(context.value.explained(error), wasValid: wasValid))
            }
        }
    }

    /// Asks the person for what an access control demands. Returns true, or throws an `LAError`.
    @discardableResult
    nonisolated(nonsending) open func evaluateAccessControl(
        _ accessControl: SecAccessControl, operation: LAAccessControlOperation, localizedReason: String
    ) async throws -> Bool {
        try await withCheckedThrowingContinuation { continuation in
            evaluateAccessControl(accessControl, operation: operation, localizedReason: localizedReason) {
                isProven, error in
                if let error { continuation.resume(throwing: error) } else { continuation.resume(returning: isProven) }
            }
        }
    }

    // MARK: - Credentials

    /// Hands over a credential, or takes it back with nil.
    ///
    /// - Returns: whether the context takes the credential; false after `invalidate` and for more than 1,024 bytes.
    open func setCredential(_ credential: Data?, type: LACredentialType) -> Bool {
        state.withLock { state in
            guard !state.isInvalidated, credential?.count ?? 0 <= Limits.passcodeBytes else { return false }
            state.credentials[type] = credential.map { data in data.withUnsafeBytes { SecretBytes(copying: $0) } }
            return true
        }
    }

    /// Whether a credential of that type was handed over.
    open func isCredentialSet(_ type: LACredentialType) -> Bool {
        state.withLock { $0.credentials[type] != nil }
    }

    // MARK: - What is enrolled

    /// What is enrolled and paired now, as hashes of this app's own. Blocks for one round trip; never prompts.
    open var domainState: LADomainState { LADomainState(EnvironmentReport.now(engine)) }

    /// The biometric hash of the last biometric `canEvaluatePolicy` or evaluation that succeeded; nil before.
    @available(*, deprecated, renamed: "domainState.biometry.stateHash")
    open var evaluatedPolicyDomainState: Data? { state.withLock { $0.evaluatedSet } }

    private func keepEvaluatedSet() {
        let hash = domainState.biometry.stateHash
        state.withLock { $0.evaluatedSet = hash }
    }

    // MARK: - Options

    /// Seconds within which an unlock of the device by biometry stands for a match; 0, the default, asks always, and
    /// more than 300 count as 300.
    open var touchIDAuthenticationAllowableReuseDuration: TimeInterval {
        get { state.withLock { $0.reuseDuration } }
        set { state.withLock { $0.reuseDuration = newValue } }
    }

    /// Kept and without effect: biometry is locked after five failures, whatever an app says.
    @available(*, deprecated, message: "has no effect")
    open var maxBiometryFailures: NSNumber? {
        get { state.withLock { $0.maxBiometryFailures }.map { NSNumber(value: $0) } }
        set { state.withLock { $0.maxBiometryFailures = newValue?.intValue } }
    }

    /// Ends the context: evaluations under way end with `LAError.appCancel`, later ones with
    /// `LAError.invalidContext`. A second call does nothing.
    open func invalidate() {
        let (handle, generation) = state.withLock { state in
            defer {
                state.isInvalidated = true
                state.handle = nil
                state.credentials = [:]
            }
            return (state.handle, state.generation)
        }
        guard let handle, let client = try? engine.get(), client.generation == generation else { return }
        _ = try? client.call(.invalidateContext(handle))
    }

    /// The error of an evaluation. One whose context was invalidated after it was asked for was under way, however far
    /// it had come (behaviour LA-36).
    private static func ending(_ failure: Failure, wasValid: Bool) -> LAError {
        guard wasValid, failure.status == .invalidContext else { return failure.localAuthenticationError }
        return Failure(.appCancel, "Authentication was ended by the app.").localAuthenticationError
    }

    func checkIsValid() throws(Failure) {
        if state.withLock({ $0.isInvalidated }) {
            throw Failure(.invalidContext, "The context was invalidated before.", hint: "Make a new LAContext.")
        }
    }
}
