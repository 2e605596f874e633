// SPDX-License-Identifier: Apache-2.0

public import LocalAuthentication

/// What this module needs of an `LAContext`, so that a test double can stand for it.
///
/// The first three members are those of `LAContext`. The others have defaults that do nothing, so a double of three
/// members is enough.
public protocol BiometryEvaluating {
    /// Whether the policy can be evaluated now; sets `error` to an `LAError` when it cannot.
    func canEvaluatePolicy(_ policy: LAPolicy, error: NSErrorPointer) -> Bool

    /// Asks the person. Returns true, or throws an `LAError`.
    func evaluatePolicy(_ policy: LAPolicy, localizedReason: String) async throws -> Bool

    /// The kind of sensor, once `canEvaluatePolicy` was called.
    var biometryType: LABiometryType { get }

    /// Takes over what the prompt says and may do.
    func apply(_ options: AuthenticationOptions)

    /// Ends the context: an evaluation under way ends with `LAError.appCancel`.
    func invalidate()

    /// Bytes that stand for what is enrolled; nil when nothing is, or when biometry is locked.
    var enrolledStateHash: Data? { get }
}

extension BiometryEvaluating {
    /// Does nothing.
    public func apply(_ options: AuthenticationOptions) {}

    /// Does nothing.
    public func invalidate() {}

    /// nil: nothing is known.
    public var enrolledStateHash: Data? { nil }
}

extension LAContext: BiometryEvaluating {
    /// Sets the titles, the reason for keychain calls, the reuse of an unlock and whether a prompt may be shown.
    public func apply(_ options: AuthenticationOptions) {
        localizedFallbackTitle = options.fallbackTitle
        localizedCancelTitle = options.cancelTitle
        localizedReason = options.reason
        interactionNotAllowed = !options.allowsInteraction
        touchIDAuthenticationAllowableReuseDuration = TimeInterval(options.reuseSeconds)
    }

    /// The hash of `domainState.biometry`. Blocks for one round trip to the system; never prompts.
    public var enrolledStateHash: Data? { domainState.biometry.stateHash }
}
