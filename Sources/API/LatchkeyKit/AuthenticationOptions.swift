// SPDX-License-Identifier: Apache-2.0

public import LocalAuthentication

/// The options of one authentication: its policy and the texts of its prompt.
public struct AuthenticationOptions: Sendable {
    /// Why the app asks; shown in the prompt. A reason that is empty or only white space makes the authentication fail;
    /// `LAContext` itself stops the program for an empty reason.
    public var reason: String
    /// What the user has to prove. The default, `.deviceOwnerAuthentication`, offers the passcode when biometry fails.
    public var policy: LAPolicy
    /// Title of the fallback button: nil for the system's title, "" for no button.
    public var fallbackTitle: String?
    /// Title of the cancel button: nil for the system's title. Name what happens next, such as "Use Password".
    public var cancelTitle: String?
    /// Whether a prompt may be shown. If false, an authentication that needs one fails with `LAError.notInteractive`.
    public var allowsInteraction: Bool
    /// Seconds, 0 to 300, after an unlock of the device by biometry in which that unlock proves biometry without a
    /// prompt.
    public var reuseSeconds: Int

    /// Creates options. Everything except the reason has Apple's default.
    ///
    /// - Parameters:
    ///   - reason: why the app asks; shown in the prompt.
    ///   - policy: what the user has to prove.
    ///   - fallbackTitle: title of the fallback button: nil for the system's title, "" for no button.
    ///   - cancelTitle: title of the cancel button; nil for the system's title.
    ///   - allowsInteraction: whether a prompt may be shown.
    ///   - reuseSeconds: seconds in which an unlock by biometry is reused; values outside 0 to 300 are clamped.
    public init(
        reason: String, policy: LAPolicy = .deviceOwnerAuthentication, fallbackTitle: String? = nil,
        cancelTitle: String? = nil, allowsInteraction: Bool = true, reuseSeconds: Int = 0
    ) {
        self.reason = reason
        self.policy = policy
        self.fallbackTitle = fallbackTitle
        self.cancelTitle = cancelTitle
        self.allowsInteraction = allowsInteraction
        self.reuseSeconds = min(max(reuseSeconds, 0), 300)
    }

    /// Creates options for biometry without the passcode.
    ///
    /// - Parameters:
    ///   - reason: why the app asks; shown in the prompt.
    ///   - fallbackTitle: title of the fallback button, which ends the authentication with `LAError.userFallback`, so
    ///     that the app can show its own login: nil for the system's title, "" for no button.
    /// - Returns: options with the policy `.deviceOwnerAuthenticationWithBiometrics`.
    public static func biometry(reason: String, fallbackTitle: String? = nil) -> AuthenticationOptions {
        AuthenticationOptions(
            reason: reason, policy: .deviceOwnerAuthenticationWithBiometrics, fallbackTitle: fallbackTitle)
    }
}
