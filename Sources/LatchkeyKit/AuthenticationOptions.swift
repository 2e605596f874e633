// SPDX-License-Identifier: Apache-2.0

public import LocalAuthentication

/// How a person is asked.
public struct AuthenticationOptions: Sendable {
    /// Why the app asks; shown in the prompt. Without any visible character the evaluation fails with words, where
    /// `LAContext` itself would stop the program.
    public var reason: String
    /// What is asked. The default, `.deviceOwnerAuthentication`, goes on to the passcode by itself.
    public var policy: LAPolicy
    /// Title of the fallback button: nil for the system's own, "" for no button.
    public var fallbackTitle: String?
    /// Title of the cancel button: nil for the system's own. Say what happens next, such as "Use Password".
    public var cancelTitle: String?
    /// Whether a prompt may be shown; without one the evaluation fails with `LAError.notInteractive`.
    public var allowsInteraction: Bool
    /// Seconds, 0 to 300, for which an unlock of the device by biometry stands for a match.
    public var reuseSeconds: Int

    /// Takes the options; all but the reason have Apple's defaults.
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

    /// Biometry and nothing else; the fallback button carries `fallbackTitle` and leads to the app's own way.
    public static func biometry(reason: String, fallbackTitle: String? = nil) -> AuthenticationOptions {
        AuthenticationOptions(
            reason: reason, policy: .deviceOwnerAuthenticationWithBiometrics, fallbackTitle: fallbackTitle)
    }
}
