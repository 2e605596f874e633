// SPDX-License-Identifier: Apache-2.0

public import LocalAuthentication

/// The part of `LAContext` that this module uses, so that a test double can replace it.
///
/// The first three members are those of `LAContext`. The others have default implementations, so that a test double
/// needs only the first three.
public protocol BiometryEvaluating {
    /// Returns whether a policy can be evaluated now; never prompts. Apple: `LAContext.canEvaluatePolicy(_:error:)`.
    ///
    /// - Parameters:
    ///   - policy: the policy to test.
    ///   - error: set to an `LAError` when the result is false.
    /// - Returns: true when an evaluation could succeed now.
    func canEvaluatePolicy(_ policy: LAPolicy, error: NSErrorPointer) -> Bool

    /// Shows a prompt and returns when the user has authenticated. Apple:
    /// `LAContext.evaluatePolicy(_:localizedReason:)`.
    ///
    /// - Parameters:
    ///   - policy: what the user has to prove.
    ///   - localizedReason: why the app asks; not empty.
    /// - Returns: true.
    /// - Throws: an `LAError` when the evaluation does not succeed.
    func evaluatePolicy(_ policy: LAPolicy, localizedReason: String) async throws -> Bool

    /// The kind of sensor, set by `canEvaluatePolicy`. Apple: `LAContext.biometryType`.
    var biometryType: LABiometryType { get }

    /// Sets the texts of the prompt and whether it may be shown.
    ///
    /// - Parameter options: the options of the next evaluation.
    func apply(_ options: AuthenticationOptions)

    /// Invalidates the context; a running evaluation ends with `LAError.appCancel`. Apple: `LAContext.invalidate()`.
    func invalidate()

    /// Bytes that identify the enrolled set; nil when nothing is enrolled or biometry is locked.
    var enrolledStateHash: Data? { get }
}

extension BiometryEvaluating {
    /// Default implementation, which does nothing.
    ///
    /// - Parameter options: ignored.
    public func apply(_ options: AuthenticationOptions) {}

    /// Default implementation, which does nothing.
    public func invalidate() {}

    /// Default implementation: nil, since the enrolled set is not known.
    public var enrolledStateHash: Data? { nil }
}

extension LAContext: BiometryEvaluating {
    /// Sets the titles, the reason for keychain calls, the reuse of an unlock, and whether a prompt may be shown.
    ///
    /// - Parameter options: the options of the next evaluation.
    public func apply(_ options: AuthenticationOptions) {
        localizedFallbackTitle = options.fallbackTitle
        localizedCancelTitle = options.cancelTitle
        localizedReason = options.reason
        interactionNotAllowed = !options.allowsInteraction
        touchIDAuthenticationAllowableReuseDuration = TimeInterval(options.reuseSeconds)
    }

    /// The hash of `domainState.biometry`. Each access blocks for one round trip to the system; it never prompts.
    public var enrolledStateHash: Data? { domainState.biometry.stateHash }
}
