// SPDX-License-Identifier: Apache-2.0

public import Dispatch
public import LocalAuthentication

/// Asks the owner of the device to authenticate, with a new context for each attempt.
///
///     let auth = BiometricAuth()
///     let proof = try await auth.authenticate(.biometry(reason: "Open your notes"))
///     let token = try await KeychainStore().string(of: entry, prompt: proof)
///
/// Pass the proof to the keychain, as the last line does, instead of only testing for success: a modified program can
/// ignore a Boolean, but it cannot read a keychain item that demands the proof.
public struct BiometricAuth: Sendable {
    private let makeContext: @Sendable () -> sending any BiometryEvaluating

    /// Creates an authenticator that makes a new context for each attempt.
    ///
    /// - Parameter makeContext: creates the context of each attempt; by default an `LAContext`. Tests pass a test
    ///   double.
    public init(makeContext: @escaping @Sendable () -> sending any BiometryEvaluating = { LAContext() }) {
        self.makeContext = makeContext
    }

    /// What biometry can do now. Each access blocks for up to two round trips to the system; it never prompts.
    public var supportedBiometry: BiometrySupport { BiometrySupport(asking: makeContext()) }

    /// Returns why a policy cannot be evaluated now.
    ///
    /// Blocks for up to two round trips to the system; never prompts.
    ///
    /// - Parameter policy: the policy to test.
    /// - Returns: the failure that an evaluation would end with; nil when the policy can be evaluated.
    public func obstacle(to policy: LAPolicy) -> AuthenticationFailure? {
        var error: NSError?
        guard !makeContext().canEvaluatePolicy(policy, error: &error) else { return nil }
        return AuthenticationFailure(error ?? LAError(.authenticationFailed) as NSError)
    }

    /// Shows a prompt and returns when the user has authenticated.
    ///
    /// Suspends without blocking a thread of the pool. Cancelling the task dismisses the prompt and throws
    /// `LAError.appCancel`. Apple: `LAContext.evaluatePolicy(_:localizedReason:)`.
    ///
    /// - Parameter options: the policy and the texts of the prompt.
    /// - Returns: a prompt that contains the proof. Calls of `KeychainStore` and `EnclaveKeyPair` with it do not
    ///   prompt again. With a test double it is `.standard`, which prompts.
    /// - Throws: `AuthenticationFailure`, whose `advice` says what to do. A reason that is empty or only white
    ///   space has the advice `correctProgram`.
    @discardableResult
    public func authenticate(_ options: AuthenticationOptions) async throws(AuthenticationFailure) -> KeychainPrompt {
        guard options.reason.contains(where: { !$0.isWhitespace }) else {
            // LAContext stops the program for an empty reason, on Apple systems too.
            throw AuthenticationFailure(
                .authenticationFailed, "An authentication needs a reason that says why the app asks.",
                advice: .correctProgram)
        }
        let context = Carried(value: makeContext())
        context.value.apply(options)
        let isProven: Bool
        do {
            isProven = try await withTaskCancellationHandler {
                try await context.value.evaluatePolicy(options.policy, localizedReason: options.reason)
            } onCancel: {
                context.value.invalidate()
            }
        } catch {
            let failure = AuthenticationFailure(error)
            // The task may have been cancelled before the evaluation began.
            if Task.isCancelled, failure.code == .invalidContext {
                throw AuthenticationFailure(.appCancel, failure.message)
            }
            throw failure
        }
        guard isProven else { throw AuthenticationFailure(.authenticationFailed, "Authentication failed.") }
        return (context.value as? LAContext).map { KeychainPrompt.context($0) } ?? .standard
    }

    // MARK: - With a reply closure

    /// The result of an attempt: a `KeychainPrompt` that contains the proof, or the failure.
    public typealias Outcome = Result<KeychainPrompt, AuthenticationFailure>

    /// Shows a prompt and calls `reply` once, on a queue. Does not block.
    ///
    /// - Parameters:
    ///   - options: the policy and the texts of the prompt.
    ///   - queue: the queue on which `reply` runs.
    ///   - reply: called with the outcome.
    /// - Returns: the attempt, which can be cancelled.
    @discardableResult
    public func authenticate(
        _ options: AuthenticationOptions, on queue: DispatchQueue, reply: @escaping @Sendable (Outcome) -> Void
    ) -> AuthenticationAttempt {
        attempt(options) { outcome in queue.async { reply(outcome) } }
    }

    /// Shows a prompt and calls `reply` once, on the main actor. Does not block.
    ///
    /// - Parameters:
    ///   - options: the policy and the texts of the prompt.
    ///   - reply: called with the outcome.
    /// - Returns: the attempt, which can be cancelled.
    @discardableResult
    public func authenticate(
        _ options: AuthenticationOptions, reply: @escaping @MainActor @Sendable (Outcome) -> Void
    ) -> AuthenticationAttempt {
        attempt(options) { outcome in await reply(outcome) }
    }

    private func attempt(
        _ options: AuthenticationOptions, deliver: @escaping @Sendable (Outcome) async -> Void
    ) -> AuthenticationAttempt {
        AuthenticationAttempt(
            task: Task {
                do throws(AuthenticationFailure) {
                    await deliver(.success(try await authenticate(options)))
                } catch {
                    await deliver(.failure(error))
                }
            })
    }
}

/// A running authentication attempt, which can be cancelled.
public struct AuthenticationAttempt: Sendable {
    fileprivate let task: Task<Void, Never>

    /// Dismisses the prompt; the reply gets `LAError.appCancel`. Has no effect on an attempt that has ended.
    public func cancel() { task.cancel() }
}
