// SPDX-License-Identifier: Apache-2.0

public import LocalAuthentication

/// Why an authentication did not succeed, and what to do now.
public struct AuthenticationFailure: LocalizedError, Hashable, Sendable {
    /// The number of the `LAError.Code`.
    public let number: Int
    /// The system's sentence.
    public let message: String
    /// What to do.
    public let advice: RecoveryAdvice

    /// The code; nil for a number that this system's `LAError` does not have.
    public var code: LAError.Code? { LAError.Code(rawValue: number) }

    /// The system's sentence.
    public var errorDescription: String? { message }

    /// What the person can do, in words.
    public var recoverySuggestion: String? { advice.sentence(sensor: nil) }

    /// Takes what an evaluation threw, or what a preflight gave.
    public init(_ error: any Error) {
        let code = (error as? LAError)?.code ?? .authenticationFailed
        number = code.rawValue
        message = error.localizedDescription
        advice = RecoveryAdvice(for: code)
    }

    /// A failure of this module's own making.
    init(_ code: LAError.Code, _ message: String, advice: RecoveryAdvice? = nil) {
        number = code.rawValue
        self.message = message
        self.advice = advice ?? RecoveryAdvice(for: code)
    }

    /// Equal for equal codes, whatever the words.
    public static func == (left: Self, right: Self) -> Bool {
        left.number == right.number && left.advice == right.advice
    }

    /// Equal for equal failures.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(number)
        hasher.combine(advice)
    }
}
