// SPDX-License-Identifier: Apache-2.0

public import Dispatch
public import LocalAuthentication

/// Asks the owner of the device to prove who they are, with one context for each attempt.
///
///     let auth = BiometricAuth()
///     let proof = try await auth.authenticate(.biometry(reason: "Open your notes"))
///     let token = try await KeychainStore().string(of: entry, prompt: proof)
///
/// Prefer the last line to the first alone: that somebody was recognised is a Boolean which a changed program ignores;
/// a keychain item that demands it stays closed.
public struct BiometricAuth: Sendable {
    private let makeContext: @Sendable () -> sending any BiometryEvaluating

    /// Takes what makes a context for each attempt: `LAContext` itself, or a double in tests.
    public init(makeContext: @escaping @Sendable () -> sending any BiometryEvaluating = { LAContext() }) {
        self.makeContext = makeContext
    }

    /// What biometry can do now. Blocks for one round trip to the system; never prompts.
    public var supportedBiometry: BiometrySupport { BiometrySupport(asking: makeContext()) }

    /// Why a policy cannot be evaluated now; nil when it can. Blocks for one round trip; never prompts.
    public func obstacle(to policy: LAPolicy) -> AuthenticationFailure? {
        var error: NSError?
        guard !makeContext().canEvaluatePolicy(policy, error: &error) else { return nil }
        return AuthenticationFailure(error ?? LAError(.authenticationFailed) as NSError)
    }

    /// Asks the person. Cancelling the task takes the prompt away and throws `LAError.appCancel`.
    ///
    /// - Parameter options: how the person is asked.
    /// - Returns: a proof for calls of `KeychainStore`, which ask no second time. With a test double it asks again.
    /// - Throws: `AuthenticationFailure`, with what to do about it.
    @discardableResult
    public func authenticate(_ options: AuthenticationOptions) async throws(AuthenticationFailure) -> KeychainPrompt {
        guard options.reason.contains(where: { !$0.isWhitespace }) else {
            // LAContext stops the program here, on Apple systems too.
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
            // The context may have been invalidated before its evaluation began.
            if Task.isCancelled, failure.code == .invalidContext {
                throw AuthenticationFailure(.appCancel, failure.message)
            }
            throw failure
        }
        guard isProven else { throw AuthenticationFailure(.authenticationFailed, "Authentication failed.") }
        return (context.value as? LAContext).map { KeychainPrompt.context($0) } ?? .standard
    }

    // MARK: - With a reply

    /// How an attempt ended.
    public typealias Outcome = Result<KeychainPrompt, AuthenticationFailure>

    /// Asks the person and calls `reply` once, on the queue. Does not block.
    ///
    /// - Parameters:
    ///   - options: how the person is asked.
    ///   - queue: where the reply runs.
    ///   - reply: takes the outcome.
    /// - Returns: the attempt, to cancel it.
    @discardableResult
    public func authenticate(
        _ options: AuthenticationOptions, on queue: DispatchQueue, reply: @escaping @Sendable (Outcome) -> Void
    ) -> AuthenticationAttempt {
        attempt(options) { outcome in queue.async { reply(outcome) } }
    }

    /// Asks the person and calls `reply` once, on the main actor. Does not block.
    ///
    /// - Parameters:
    ///   - options: how the person is asked.
    ///   - reply: takes the outcome.
    /// - Returns: the attempt, to cancel it.
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

/// An attempt under way.
public struct AuthenticationAttempt: Sendable {
    fileprivate let task: Task<Void, Never>

    /// Takes the prompt away; the reply gets `LAError.appCancel`. Does nothing when the attempt has ended.
    public func cancel() { task.cancel() }
}
