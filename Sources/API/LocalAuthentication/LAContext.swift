// SPDX-License-Identifier: Apache-2.0

import LatchkeyClient
import LatchkeyModel
public import Security
import Synchronization

/// Authenticates the owner of the device. Apple: `LAContext`.
///
/// A context holds the proofs that it obtained: evaluating it again, or passing it to a keychain call, does not
/// prompt again until the context is invalidated, the device is locked, the process ends, or the connection to the
/// daemon breaks.
///
/// Use one context for each attempt. Methods may be called from any thread.
open class LAContext: NSObject {
    // All mutable state is in `state`, behind its lock. Not Sendable, as on Apple systems (LA-43): subclasses of apps
    // may have state of their own.
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
        /// Credentials that the app set; each is wiped when it is replaced.
        var credentials: [LACredentialType: SecretBytes] = [:]
        /// Hash of the enrolled set at the last successful biometric preflight or evaluation.
        var evaluatedSet: Data?
    }

    /// Creates a context without any proof. Apple: `LAContext.init()`.
    ///
    /// Does not block. The engine is chosen now: the simulated machine in scope, or the user's daemon.
    public override init() {
        engine = Result { () throws(Failure) in try AppIdentity.client() }
        super.init()
    }

    deinit { invalidate() }

    // MARK: - Text of the prompt

    /// Title of the fallback button: nil for the default title, "" for no button. Apple:
    /// `LAContext.localizedFallbackTitle`.
    ///
    /// The button appears after the first failed try with a fingerprint, and after the second with a face. Characters
    /// that could mislead, such as control characters, are replaced; a title is cut to 48 characters.
    open var localizedFallbackTitle: String? {
        get { state.withLock { $0.prompting.fallbackTitle } }
        set { state.withLock { $0.prompting.fallbackTitle = newValue } }
    }

    /// Title of the cancel button: nil or "" for the default title. Apple: `LAContext.localizedCancelTitle`.
    ///
    /// Characters that could mislead, such as control characters, are replaced; a title is cut to 48 characters.
    open var localizedCancelTitle: String? {
        get { state.withLock { $0.prompting.cancelTitle } }
        set { state.withLock { $0.prompting.cancelTitle = newValue } }
    }

    /// The reason that prompts of keychain calls with this context show. Apple: `LAContext.localizedReason`.
    ///
    /// Evaluations show the reason they are called with instead.
    open var localizedReason: String {
        get { state.withLock { $0.prompting.reason } }
        set { state.withLock { $0.prompting.reason = newValue } }
    }

    /// Whether operations that need a prompt fail with `LAError.notInteractive` instead of showing it. Apple:
    /// `LAContext.interactionNotAllowed`.
    ///
    /// The default is false.
    open var interactionNotAllowed: Bool {
        get { state.withLock { !$0.prompting.interactionAllowed } }
        set { state.withLock { $0.prompting.interactionAllowed = !newValue } }
    }

    /// The kind of sensor: `none` before the first call of `canEvaluatePolicy`. Apple: `LAContext.biometryType`.
    ///
    /// Set by every call of `canEvaluatePolicy` that reaches the daemon, also when the policy cannot be evaluated.
    open var biometryType: LABiometryType { state.withLock { $0.biometryType } }

    // MARK: - Evaluation

    /// Returns whether a policy can be evaluated now. Apple: `LAContext.canEvaluatePolicy(_:error:)`.
    ///
    /// Blocks for one round trip to the daemon, and for a second one when the biometric policy can be evaluated.
    /// Never prompts. The result is a snapshot: do not store it.
    ///
    /// - Parameters:
    ///   - policy: the policy that is about to be evaluated.
    ///   - error: set to nil when the result is true, else to an `LAError`: the code that says why the policy cannot
    ///     be evaluated, `invalidContext` after `invalidate`, or `notInteractive` when the daemon cannot be reached.
    /// - Returns: true when an evaluation of the policy could succeed now.
    open func canEvaluatePolicy(_ policy: LAPolicy, error: NSErrorPointer) -> Bool {
        do throws(Failure) {
            try checkIsValid()
            let answer = try engine.get().call(Request.CanEvaluate(policy.wire))
            state.withLock { $0.biometryType = LABiometryType(answer.biometry) }
            if let refusal = answer.refusal { throw explained(refusal, sensor: answer.biometry) }
            if policy == .deviceOwnerAuthenticationWithBiometrics { storeEvaluatedSet() }
            error?.pointee = nil
            return true
        } catch let failure {
            error?.pointee = failure.localAuthenticationError._nsError
            return false
        }
    }

    /// Shows a prompt and calls `reply` once with the result. Apple:
    /// `LAContext.evaluatePolicy(_:localizedReason:reply:)`.
    ///
    /// Does not block. `reply` runs on a thread of its own, never on the main thread or the calling thread; it may run
    /// before this method has returned. The prompt is skipped when this context has the proof already, or when an
    /// unlock of the device is reused (`touchIDAuthenticationAllowableReuseDuration`). Evaluations of all programs are
    /// queued: one prompt is shown at a time.
    ///
    /// - Parameters:
    ///   - policy: what the user has to prove.
    ///   - localizedReason: why the app asks; shown in the prompt. Characters that could mislead, such as control
    ///     characters, are replaced, and the text is cut to 240 characters. An empty reason is a programming error and
    ///     stops the program, as on Apple systems.
    ///   - reply: called with true and nil, or with false and an `LAError`. A prompt that is not answered for 60
    ///     seconds ends with `systemCancel`.
    @preconcurrency
    open func evaluatePolicy(
        _ policy: LAPolicy, localizedReason: String, reply: @escaping @Sendable (Bool, (any Error)?) -> Void
    ) {
        precondition(!localizedReason.isEmpty, "LAContext: localizedReason is empty")
        let wasValid = !state.withLock { $0.isInvalidated }
        // A new thread waits for the user, so that neither the calling thread nor a thread of a pool is blocked.
        let context = Carried(value: self)
        Thread.detachNewThread {
            do throws(Failure) {
                // Behaviour DS-01: a proof by passcode says nothing about the enrolled set.
                let methods = try context.value.evaluate(policy.wire, reason: localizedReason)
                if methods.contains(.biometry) { context.value.storeEvaluatedSet() }
                reply(true, nil)
            } catch {
                reply(false, LAContext.ending(context.value.explained(error), wasValid: wasValid))
            }
        }
    }

    /// Shows a prompt and returns when the user has authenticated. Apple:
    /// `LAContext.evaluatePolicy(_:localizedReason:)`.
    ///
    /// Suspends without blocking a thread of the pool. Cancelling the task does not dismiss the prompt; call
    /// `invalidate()`.
    ///
    /// - Parameters:
    ///   - policy: what the user has to prove.
    ///   - localizedReason: why the app asks; shown in the prompt. An empty reason stops the program.
    /// - Returns: always true.
    /// - Throws: an `LAError` when the evaluation does not succeed.
    @discardableResult
    nonisolated(nonsending) open func evaluatePolicy(_ policy: LAPolicy, localizedReason: String) async throws -> Bool {
        try await withCheckedThrowingContinuation { continuation in
            evaluatePolicy(policy, localizedReason: localizedReason) { isProven, error in
                if let error { continuation.resume(throwing: error) } else { continuation.resume(returning: isProven) }
            }
        }
    }

    /// Evaluates a policy and returns the methods of its proof.
    private func evaluate(_ policy: Policy, reason: String) throws(Failure) -> Set<AuthenticationMethod> {
        try callWithHandle { handle in
            Request.Evaluate(context: handle, policy: policy, prompting: prompting(reason), reuseSeconds: reuseSeconds)
        }
    }

    /// Sends a request that contains the context's handle.
    ///
    /// When another thread reconnects between `handle()` and the request, the handle has changed, and the request is
    /// sent once more with the new one.
    private func callWithHandle<Call: DaemonRequest>(
        _ request: (ContextHandle) -> Call
    ) throws(Failure) -> Call.Response {
        let first = try handle()
        do throws(Failure) {
            return try engine.get().call(request(first))
        } catch {
            guard error.status == .invalidContext, case let second = try handle(), second != first else { throw error }
            return try engine.get().call(request(second))
        }
    }

    /// The texts of an evaluation's prompt: the argument replaces `localizedReason` (behaviour LA-38).
    private func prompting(_ reason: String) -> Prompting {
        var prompting = prompting
        prompting.reason = reason
        return prompting.clipped
    }

    // MARK: - Access controls

    /// Obtains the proofs that an access control demands and calls `reply` once. Apple:
    /// `LAContext.evaluateAccessControl(_:operation:localizedReason:reply:)`.
    ///
    /// Afterwards, calls that pass this context use items and keys with this access control without another prompt.
    /// Does not block; shows a prompt if a proof is missing and no unlock of the device is reused
    /// (`touchIDAuthenticationAllowableReuseDuration`). `reply` runs on a thread of its own, never on the main thread or
    /// the calling thread.
    ///
    /// - Parameters:
    ///   - accessControl: the access control.
    ///   - operation: the operation that follows. `createItem` and `createKey` demand no proof and do not prompt.
    ///   - localizedReason: why the app asks; shown in the prompt. An empty reason stops the program.
    ///   - reply: called with true and nil, or with false and an `LAError`.
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
                // Behaviour AC-05: creating an item demands no proof.
                if operation != .createItem, operation != .createKey {
                    try context.value.callWithHandle { handle in
                        Request.EvaluateAccessControl(
                            context: handle, accessControl: accessControl.value,
                            prompting: context.value.prompting(localizedReason),
                            reuseSeconds: context.value.reuseSeconds)
                    }
                }
                reply(true, nil)
            } catch {
                reply(false, LAContext.ending(context.value.explained(error), wasValid: wasValid))
            }
        }
    }

    /// Obtains the proofs that an access control demands. Apple:
    /// `LAContext.evaluateAccessControl(_:operation:localizedReason:)`.
    ///
    /// Suspends without blocking a thread of the pool; shows a prompt if a proof is missing. Cancelling the task does
    /// not dismiss the prompt; call `invalidate()`.
    ///
    /// - Parameters:
    ///   - accessControl: the access control.
    ///   - operation: the operation that follows. `createItem` and `createKey` demand no proof and do not prompt.
    ///   - localizedReason: why the app asks; shown in the prompt. An empty reason stops the program.
    /// - Returns: always true.
    /// - Throws: an `LAError` when a proof cannot be obtained.
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

    /// Sets or removes a credential that later keychain calls with this context use. Apple:
    /// `LAContext.setCredential(_:type:)`.
    ///
    /// Does not block and never prompts. The credential is not checked here: a wrong one makes the keychain call fail.
    ///
    /// - Parameters:
    ///   - credential: at most 1,024 bytes, such as a password in UTF-8; copied, and wiped when it is replaced. nil
    ///     removes the credential.
    ///   - type: what the credential is. Only `applicationPassword` is used.
    /// - Returns: true when the credential was set or removed; false after `invalidate` and for more than 1,024 bytes.
    open func setCredential(_ credential: Data?, type: LACredentialType) -> Bool {
        state.withLock { state in
            guard !state.isInvalidated, credential?.count ?? 0 <= Limits.passcodeBytes else { return false }
            state.credentials[type] = credential.map { data in data.withUnsafeBytes { SecretBytes(copying: $0) } }
            return true
        }
    }

    /// Returns whether a credential of a type is set. Apple: `LAContext.isCredentialSet(_:)`.
    ///
    /// - Parameter type: the type that was passed to `setCredential`.
    /// - Returns: true from `setCredential` with that type until it is removed or the context is invalidated.
    open func isCredentialSet(_ type: LACredentialType) -> Bool {
        state.withLock { $0.credentials[type] != nil }
    }

    // MARK: - Enrolled set

    /// Hashes of the enrolled set and of the paired devices; they differ between apps. Apple: `LAContext.domainState`.
    ///
    /// Each access blocks for one round trip to the daemon; it never prompts. All hashes are nil when the daemon
    /// cannot be reached.
    open var domainState: LADomainState { LADomainState(EnvironmentReport.now(engine)) }

    /// Hash of the enrolled set at the last biometric `canEvaluatePolicy` or evaluation that succeeded; nil before.
    /// Apple: `LAContext.evaluatedPolicyDomainState`.
    @available(*, deprecated, renamed: "domainState.biometry.stateHash")
    open var evaluatedPolicyDomainState: Data? { state.withLock { $0.evaluatedSet } }

    private func storeEvaluatedSet() {
        let hash = domainState.biometry.stateHash
        state.withLock { $0.evaluatedSet = hash }
    }

    // MARK: - Options

    /// Seconds after an unlock of the device by biometry in which that unlock proves biometry without a prompt.
    /// Apple: `LAContext.touchIDAuthenticationAllowableReuseDuration`.
    ///
    /// Holds for `evaluatePolicy`, `evaluateAccessControl` and calls of the keychain with this context, and never where
    /// the passcode is required. 0, the default, always prompts; values above 300 count as 300.
    open var touchIDAuthenticationAllowableReuseDuration: TimeInterval {
        get { state.withLock { $0.reuseDuration } }
        set { state.withLock { $0.reuseDuration = newValue } }
    }

    /// Stored without effect: five failures in a row lock biometry for every app. Apple:
    /// `LAContext.maxBiometryFailures`.
    @available(*, deprecated, message: "has no effect")
    open var maxBiometryFailures: NSNumber? {
        get { state.withLock { $0.maxBiometryFailures }.map { NSNumber(value: $0) } }
        set { state.withLock { $0.maxBiometryFailures = newValue?.intValue } }
    }

    /// Invalidates the context, with its proofs and credentials. Apple: `LAContext.invalidate()`.
    ///
    /// Running evaluations end with `LAError.appCancel`, later ones with `LAError.invalidContext`. Idempotent.
    /// Blocks for one round trip to the daemon when the context was used before.
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
        try? client.call(Request.InvalidateContext(handle))
    }

    /// Translates the failure of an evaluation. If the context was valid when the evaluation was requested,
    /// invalidating it is `appCancel`, even when the request had not been sent yet (behaviour LA-36).
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
