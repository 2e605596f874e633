// SPDX-License-Identifier: Apache-2.0

public import LocalAuthentication
import Synchronization

/// A context for tests and previews that does what a script says; no system is asked.
///
/// Answers wait in a line, and an evaluation waits for an answer, so either may come first. A double proves nothing to a
/// keychain: an item that demands a proof stays closed. Never let one be chosen in a program that people use.
public final class ScriptedBiometry: BiometryEvaluating, Sendable {
    /// How an evaluation ends.
    public enum Answer: Hashable, Sendable {
        /// The person is recognised.
        case success
        /// It fails with that code.
        case failure(LAError.Code)
    }

    /// One evaluation that was asked for.
    public struct Asked: Hashable, Sendable {
        /// The policy.
        public let policy: LAPolicy
        /// The reason.
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

    /// Takes the script.
    ///
    /// - Parameters:
    ///   - biometryType: the sensor.
    ///   - obstacle: why policies cannot be evaluated; nil when they can.
    ///   - answers: how evaluations end, first things first.
    ///   - enrolledStateHash: what stands for the enrolled set.
    public init(
        biometryType: LABiometryType = .touchID, obstacle: LAError.Code? = nil, answers: [Answer] = [],
        enrolledStateHash: Data? = nil
    ) {
        kind = biometryType
        self.obstacle = obstacle
        state = Mutex(State(answers: answers, hash: enrolledStateHash))
    }

    /// The evaluations so far.
    public var asked: [Asked] { state.withLock { $0.asked } }

    /// Whether `invalidate` was called.
    public var isInvalidated: Bool { state.withLock { $0.isInvalidated } }

    /// The titles that the last options set.
    public var titles: (fallback: String?, cancel: String?) { state.withLock { $0.titles } }

    /// Answers the evaluation that waits longest, or the next one.
    public func answer(_ answer: Answer) {
        let waiting: CheckedContinuation<Answer, Never>? = state.withLock { state in
            guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
            state.answers.append(answer)
            return nil
        }
        waiting?.resume(returning: answer)
    }

    // MARK: - BiometryEvaluating

    /// The sensor of the script.
    public var biometryType: LABiometryType { kind }

    /// The hash of the script.
    public var enrolledStateHash: Data? { state.withLock { $0.hash } }

    /// Whether the script has no obstacle and the context is valid.
    public func canEvaluatePolicy(_ policy: LAPolicy, error: NSErrorPointer) -> Bool {
        let code = isInvalidated ? .invalidContext : obstacle
        error?.pointee = code.map { LAError($0) as NSError }
        return code == nil
    }

    /// Ends as the next answer says; waits for one when there is none.
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

    /// Keeps the titles.
    public func apply(_ options: AuthenticationOptions) {
        state.withLock { $0.titles = (options.fallbackTitle, options.cancelTitle) }
    }

    /// Ends what waits with `LAError.appCancel`, and everything later with `LAError.invalidContext`.
    public func invalidate() {
        let waiting = state.withLock { state in
            state.isInvalidated = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume(returning: .failure(.appCancel)) }
    }
}
