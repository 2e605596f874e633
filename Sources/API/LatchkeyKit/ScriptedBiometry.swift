// SPDX-License-Identifier: Apache-2.0

public import LocalAuthentication
import Synchronization

/// A context for tests and previews whose evaluations end as a script says, without the system.
///
/// Answers and evaluations are queued, so that either may come first. The test double obtains no proof, so an item that
/// demands one cannot be read with it. Do not use it in a program for users.
public final class ScriptedBiometry: BiometryEvaluating, Sendable {
    /// How a scripted evaluation ends.
    public enum Answer: Hashable, Sendable {
        /// The evaluation succeeds, without a proof for the keychain.
        case success
        /// The evaluation fails with this code.
        case failure(LAError.Code)
    }

    /// One evaluation that was requested.
    public struct Asked: Hashable, Sendable {
        /// The policy that was evaluated.
        public let policy: LAPolicy
        /// The reason that the app gave.
        public let reason: String
    }

    private struct State {
        var answers: [Answer]
        var waiting: [CheckedContinuation<Answer, Never>] = []
        var asked: [Asked] = []
        var isInvalidated = false
        var hash: Data?
        var titles: (fallback: String?, cancel: String?) = (nil, nil)
    }

    private let kind: LABiometryType
    private let obstacle: LAError.Code?
    private let state: Mutex<State>

    /// Creates a context with a script.
    ///
    /// - Parameters:
    ///   - biometryType: the kind of sensor.
    ///   - obstacle: the code with which every policy is refused; nil when policies can be evaluated.
    ///   - answers: how the evaluations end, in order.
    ///   - enrolledStateHash: the hash of the enrolled set; nil for no enrolment.
    public init(
        biometryType: LABiometryType = .touchID, obstacle: LAError.Code? = nil, answers: [Answer] = [],
        enrolledStateHash: Data? = nil
    ) {
        kind = biometryType
        self.obstacle = obstacle
        state = Mutex(State(answers: answers, hash: enrolledStateHash))
    }

    /// The evaluations that were requested so far.
    public var asked: [Asked] { state.withLock { $0.asked } }

    /// Whether the context was invalidated by `invalidate`.
    public var isInvalidated: Bool { state.withLock { $0.isInvalidated } }

    /// The titles of the last `apply`.
    public var titles: (fallback: String?, cancel: String?) { state.withLock { $0.titles } }

    /// Ends the oldest waiting evaluation; if none is waiting, ends the next one that is requested.
    ///
    /// - Parameter answer: how the evaluation ends.
    public func answer(_ answer: Answer) {
        let waiting: CheckedContinuation<Answer, Never>? = state.withLock { state in
            guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
            state.answers.append(answer)
            return nil
        }
        waiting?.resume(returning: answer)
    }

    // MARK: - BiometryEvaluating

    /// The kind of sensor that the script names.
    public var biometryType: LABiometryType { kind }

    /// The hash of the enrolled set that the script names.
    public var enrolledStateHash: Data? { state.withLock { $0.hash } }

    /// Returns whether the script has no obstacle and the context is valid. Does not block.
    ///
    /// - Parameters:
    ///   - policy: ignored: the obstacle is the same for all policies.
    ///   - error: set to the `LAError` of the obstacle, or to nil when there is none.
    /// - Returns: true when there is no obstacle.
    public func canEvaluatePolicy(_ policy: LAPolicy, error: NSErrorPointer) -> Bool {
        let code = isInvalidated ? .invalidContext : obstacle
        error?.pointee = code.map { LAError($0) as NSError }
        return code == nil
    }

    /// Ends as the next answer says; suspends until there is one.
    ///
    /// - Parameters:
    ///   - policy: recorded in `asked`.
    ///   - localizedReason: recorded in `asked`.
    /// - Returns: true for the answer `success`.
    /// - Throws: the `LAError` of the answer or of the obstacle; `invalidContext` after `invalidate`.
    public func evaluatePolicy(_ policy: LAPolicy, localizedReason: String) async throws -> Bool {
        let answer = await withCheckedContinuation { (continuation: CheckedContinuation<Answer, Never>) in
            let ready: Answer? = state.withLock { state in
                state.asked.append(Asked(policy: policy, reason: localizedReason))
                if state.isInvalidated { return .failure(.invalidContext) }
                if let obstacle { return .failure(obstacle) }
                guard state.answers.isEmpty else { return state.answers.removeFirst() }
                state.waiting.append(continuation)
                return nil
            }
            if let ready { continuation.resume(returning: ready) }
        }
        switch answer {
        case .success: return true
        case .failure(let code): throw LAError(code)
        }
    }

    /// Records the titles of the options.
    ///
    /// - Parameter options: the options; only the titles are used.
    public func apply(_ options: AuthenticationOptions) {
        state.withLock { $0.titles = (options.fallbackTitle, options.cancelTitle) }
    }

    /// Ends waiting evaluations with `LAError.appCancel`, and later ones with `LAError.invalidContext`.
    public func invalidate() {
        let waiting = state.withLock { state in
            state.isInvalidated = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume(returning: .failure(.appCancel)) }
    }
}
