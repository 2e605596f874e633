// SPDX-License-Identifier: Apache-2.0

public import LocalAuthentication

/// Why an authentication did not succeed, and what the app can do about it.
public struct AuthenticationFailure: LocalizedError, Hashable, Sendable {
    /// The raw value of the `LAError.Code`.
    public let number: Int
    /// The system's description of the error, for display.
    public let message: String
    /// What the app can do next.
    public let advice: RecoveryAdvice

    /// The code of the error; nil for a number that has no `LAError.Code` on this system.
    public var code: LAError.Code? { LAError.Code(rawValue: number) }

    /// The system's description of the error, for display; the same as `message`.
    public var errorDescription: String? { message }

    /// A sentence that tells the user what to do; nil when there is nothing to do.
    public var recoverySuggestion: String? { advice.sentence(sensor: nil) }

    /// Creates a failure from an error of `LocalAuthentication`.
    ///
    /// - Parameter error: an error that `evaluatePolicy` threw or `canEvaluatePolicy` set. An error that is not an
    ///   `LAError` counts as `authenticationFailed`.
    public init(_ error: any Error) {
        let code = (error as? LAError)?.code ?? .authenticationFailed
        number = code.rawValue
        message = error.localizedDescription
        advice = RecoveryAdvice(for: code)
    }

    /// Creates a failure that this module itself detected.
    init(_ code: LAError.Code, _ message: String, advice: RecoveryAdvice? = nil) {
        number = code.rawValue
        self.message = message
        self.advice = advice ?? RecoveryAdvice(for: code)
    }

    /// Returns whether two failures have equal codes and advice; the messages may differ.
    ///
    /// - Parameters:
    ///   - left: a failure.
    ///   - right: another failure.
    /// - Returns: true when `number` and `advice` are equal.
    public static func == (left: Self, right: Self) -> Bool {
        left.number == right.number && left.advice == right.advice
    }

    /// Hashes the code and the advice.
    ///
    /// - Parameter hasher: receives `number` and `advice`.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(number)
        hasher.combine(advice)
    }
}
