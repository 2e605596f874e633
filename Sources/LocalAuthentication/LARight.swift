// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
public import Security
import Synchronization

/// Something that only the owner of the device may do, and whether it was allowed. Apple: `LARight`.
open class LARight: NSObject {
    // Everything that changes is behind the lock. Not Sendable, as on Apple systems.
    private struct Progress: Sendable {
        var state = State.unknown
        var tag = 0
        var context: Carried<LAContext>?
    }

    let requirement: LAAuthenticationRequirement
    private let progress = Mutex(Progress())

    /// How far the right is. Apple: `LARight.State`.
    public enum State: Int, Sendable {
        /// Nobody has asked.
        case unknown = 0
        /// The person is being asked.
        case authorizing = 1
        /// It was allowed.
        case authorized = 2
        /// It was refused, or taken back.
        case notAuthorized = 3
    }

    /// A right that asks for biometry or the passcode.
    public override init() {
        requirement = .default
        super.init()
    }

    /// A right that asks for `requirement`.
    public init(requirement: LAAuthenticationRequirement) {
        self.requirement = requirement
        super.init()
    }

    /// How far the right is.
    open var state: State { progress.withLock { $0.state } }

    /// A number of the app's own; 0 at first.
    open var tag: Int {
        get { progress.withLock { $0.tag } }
        set { progress.withLock { $0.tag = newValue } }
    }

    /// What the right was authorized on, for using what it guards without another prompt; nil while it is not.
    var authorizedContext: LAContext? {
        let context = progress.withLock { $0.state == .authorized ? $0.context : nil }?.value
        context?.interactionNotAllowed = true
        return context
    }

    /// Asks the person and calls `handler` once, never on the main thread: nil, or an `LAError`.
    ///
    /// - Parameter localizedReason: why; not empty.
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
                // Taken back while the person was asked: that is the last word.
                guard progress.context?.value === asked.value else { return }
                progress.state = error == nil ? .authorized : .notAuthorized
            }
            handler(error)
        }
    }

    /// Asks the person. Throws an `LAError` when it is refused.
    nonisolated(nonsending) open func authorize(localizedReason: String) async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            authorize(localizedReason: localizedReason) { error in
                if let error { continuation.resume(throwing: error) } else { continuation.resume() }
            }
        }
    }

    /// Calls `handler` with nil when the right could be asked for now, or with why not.
    @preconcurrency
    open func checkCanAuthorize(completion handler: @escaping @Sendable ((any Error)?) -> Void) {
        let requirement = requirement
        // Made here: a simulated world in scope is not in scope on the other thread.
        let context = Carried(value: LAContext())
        Thread.detachNewThread {
            var error: NSError?
            let isPossible = context.value.canEvaluatePolicy(requirement.policy, error: &error)
            handler(isPossible ? nil : error.map { LAError(_nsError: $0) })
        }
    }

    /// Throws when the right could not be asked for now.
    nonisolated(nonsending) open func checkCanAuthorize() async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            checkCanAuthorize { error in
                if let error { continuation.resume(throwing: error) } else { continuation.resume() }
            }
        }
    }

    /// Takes the right back: it is `notAuthorized` when `handler` is called, and a prompt that is up goes.
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

    /// Takes the right back.
    nonisolated(nonsending) open func deauthorize() async {
        await withCheckedContinuation { continuation in deauthorize { continuation.resume() } }
    }
}

extension LAContext {
    /// Evaluates what a right asks for.
    func evaluate(
        _ requirement: LAAuthenticationRequirement, localizedReason: String,
        completion: @escaping @Sendable (LAError?) -> Void
    ) {
        let (rule, bound) = (requirement.rule, requirement.set)
        let context = Carried(value: self)
        evaluatePolicy(requirement.policy, localizedReason: localizedReason) { isProven, error in
            if !isProven { return completion(error as? LAError ?? LAError(.authenticationFailed)) }
            // The finger that was recognised may belong to a set that came after the right.
            let isSame = rule != .biometryCurrentSet || bound == context.value.domainState.biometry.stateHash
            completion(isSame ? nil : LAError(.authenticationFailed))
        }
    }
}
