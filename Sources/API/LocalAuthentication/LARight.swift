// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
public import Security
import Synchronization

/// An operation of the app that the owner of the device has to authorize. Apple: `LARight`.
///
/// The state of a right is only information for the app. To protect a key or a secret, save the right in the
/// `LARightStore`. Methods may be called from any thread.
open class LARight: NSObject {
    // All mutable state is behind the lock. Not Sendable, as on Apple systems.
    private struct Progress: Sendable {
        var state = State.unknown
        var tag = 0
        var context: Carried<LAContext>?
    }

    let requirement: LAAuthenticationRequirement
    private let progress = Mutex(Progress())

    /// The progress of a right's authorization. Apple: `LARight.State`.
    public enum State: Int, Sendable {
        /// Authorization was not requested yet. Apple: `LARight.State.unknown`.
        case unknown = 0
        /// A prompt is shown or about to be shown. Apple: `LARight.State.authorizing`.
        case authorizing = 1
        /// The user authorized the right. Apple: `LARight.State.authorized`.
        case authorized = 2
        /// Authorization failed, or the right was deauthorized. Apple: `LARight.State.notAuthorized`.
        case notAuthorized = 3
    }

    /// Creates a right that requires biometry or the passcode. Apple: `LARight.init()`.
    public override init() {
        requirement = .default
        super.init()
    }

    /// Creates a right with a requirement. Apple: `LARight.init(requirement:)`.
    ///
    /// - Parameter requirement: the proof that authorizing the right demands.
    public init(requirement: LAAuthenticationRequirement) {
        self.requirement = requirement
        super.init()
    }

    /// The progress of the authorization. Apple: `LARight.state`.
    ///
    /// > Note: Linux: not observable by key, since corelibs Foundation has no key-value observing.
    open var state: State { progress.withLock { $0.state } }

    /// A number for the app's own use; 0 by default. Apple: `LARight.tag`.
    open var tag: Int {
        get { progress.withLock { $0.tag } }
        set { progress.withLock { $0.tag = newValue } }
    }

    /// The context that authorized the right, with prompts disabled; nil while the right is not authorized.
    var authorizedContext: LAContext? {
        let context = progress.withLock { $0.state == .authorized ? $0.context : nil }?.value
        context?.interactionNotAllowed = true
        return context
    }

    /// Shows a prompt and calls `handler` once with the result. Apple:
    /// `LARight.authorize(localizedReason:completion:)`.
    ///
    /// Does not block. `handler` runs on a thread of its own, never on the main thread.
    ///
    /// - Parameters:
    ///   - localizedReason: why the app asks; shown in the prompt. An empty reason stops the program.
    ///   - handler: called with nil when the right is authorized, else with an `LAError`: `authenticationFailed` also
    ///     when the enrolled set has changed since a requirement `biometryCurrentSet` was created.
    @preconcurrency
    open func authorize(localizedReason: String, completion handler: @escaping @Sendable ((any Error)?) -> Void) {
        let context = LAContext()
        let (mine, asked) = (Carried(value: self), Carried(value: context))
        progress.withLock { progress in
            progress.state = .authorizing
            progress.context = asked
        }
        context.evaluate(requirement, localizedReason: localizedReason) { error in
            mine.value.progress.withLock { progress in
                // If `deauthorize` or another `authorize` was called meanwhile, the state is that call's.
                guard progress.context?.value === asked.value else { return }
                progress.state = error == nil ? .authorized : .notAuthorized
            }
            handler(error)
        }
    }

    /// Shows a prompt and returns when the right is authorized. Apple: `LARight.authorize(localizedReason:)`.
    ///
    /// Suspends without blocking a thread of the pool. Cancelling the task does not dismiss the prompt; call
    /// `deauthorize()`.
    ///
    /// - Parameter localizedReason: why the app asks; shown in the prompt. An empty reason stops the program.
    /// - Throws: an `LAError` when the right is not authorized.
    nonisolated(nonsending) open func authorize(localizedReason: String) async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            authorize(localizedReason: localizedReason) { error in
                if let error { continuation.resume(throwing: error) } else { continuation.resume() }
            }
        }
    }

    /// Tests whether the right could be authorized now. Apple: `LARight.checkCanAuthorize(completion:)`.
    ///
    /// Does not block and never prompts.
    ///
    /// - Parameter handler: called once, on a thread of its own: with nil when the right can be authorized now, else
    ///   with the `LAError` that says why not.
    @preconcurrency
    open func checkCanAuthorize(completion handler: @escaping @Sendable ((any Error)?) -> Void) {
        let requirement = requirement
        // Created here, because the new thread is outside a simulated machine's scope.
        let context = Carried(value: LAContext())
        Thread.detachNewThread {
            var error: NSError?
            let isPossible = context.value.canEvaluatePolicy(requirement.policy, error: &error)
            handler(isPossible ? nil : error.map { LAError(_nsError: $0) })
        }
    }

    /// Tests whether the right could be authorized now. Apple: `LARight.checkCanAuthorize()`.
    ///
    /// Suspends without blocking a thread of the pool; never prompts.
    ///
    /// - Throws: the `LAError` that says why the right cannot be authorized now.
    nonisolated(nonsending) open func checkCanAuthorize() async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            checkCanAuthorize { error in
                if let error { continuation.resume(throwing: error) } else { continuation.resume() }
            }
        }
    }

    /// Revokes the authorization and dismisses the prompt of a running `authorize`. Apple:
    /// `LARight.deauthorize(completion:)`.
    ///
    /// Does not block. `state` is `notAuthorized` when this method returns; the key and the secret of a saved right
    /// can no longer be used.
    ///
    /// - Parameter handler: called once, on a thread of its own, when the daemon has revoked the proofs.
    @preconcurrency
    open func deauthorize(completion handler: @escaping @Sendable () -> Void) {
        let context = progress.withLock { progress in
            defer {
                progress.state = .notAuthorized
                progress.context = nil
            }
            return progress.context
        }
        Thread.detachNewThread {
            context?.value.invalidate()
            handler()
        }
    }

    /// Revokes the authorization and dismisses the prompt of a running `authorize`. Apple: `LARight.deauthorize()`.
    ///
    /// Suspends without blocking a thread of the pool, until the daemon has revoked the proofs.
    nonisolated(nonsending) open func deauthorize() async {
        await withCheckedContinuation { continuation in deauthorize { continuation.resume() } }
    }
}

extension LAContext {
    /// Evaluates the requirement of a right.
    func evaluate(
        _ requirement: LAAuthenticationRequirement, localizedReason: String,
        completion: @escaping @Sendable (LAError?) -> Void
    ) {
        let (flags, bound) = (requirement.flags, requirement.set)
        let context = Carried(value: self)
        evaluatePolicy(requirement.policy, localizedReason: localizedReason) { isProven, error in
            if !isProven { return completion(error as? LAError ?? LAError(.authenticationFailed)) }
            // The recognised finger may belong to a set that was enrolled after the right was created.
            let isSame = flags != .biometryCurrentSet || bound == context.value.domainState.biometry.stateHash
            completion(isSame ? nil : LAError(.authenticationFailed))
        }
    }
}
