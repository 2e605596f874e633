// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import LatchkeyWire

/// The rules of one verification: what a module may ask, and what libpam's return values mean. Pure; the process is
/// driven by `PAMPasswords`.
struct PAMConversation {
    /// What follows from a message of the process.
    enum Step: Equatable {
        /// Send the password as the answer.
        case answer
        /// Show a text to the user, and wait for the next message.
        case show(String)
        case end(AccountVerdict)
    }

    /// Maximum messages that modules may show.
    static let messages = 16

    private var hasAnswered = false
    private var shown = 0

    mutating func received(_ message: PAMMessage) -> Step {
        switch message {
        case .begin, .answer: return refused("the process that runs PAM sent a message that is not its own")
        case .said(.hiddenQuestion, _):
            // A second question is for another secret, such as a code or a new password; the typed string is neither.
            guard !hasAnswered else { return refused("a module of PAM asks for a second secret") }
            hasAnswered = true
            return .answer
        case .said(.shownQuestion, _): return refused("a module of PAM asks for a text that is not a password")
        case .said(.other, _): return refused("a module of PAM uses a conversation of an unknown kind")
        case .said(.information, let text), .said(.error, let text):
            shown += 1
            guard shown <= Self.messages else { return refused("the modules of PAM send too many messages") }
            return .show(text)
        case .ended(let phase, let code): return .end(verdict(phase, code))
        }
    }

    private func verdict(_ phase: PAMMessage.Phase, _ code: UInt64) -> AccountVerdict {
        let value = PAMReturnValue(rawValue: code)
        switch (phase, value) {
        case (.account, .success): return right(mustChange: false)
        case (.account, .newPasswordRequired): return right(mustChange: true)
        case (.authentication, .authenticationError), (.authentication, .triesExceeded): return .wrong
        case (_, .informationUnavailable):
            return .notAvailable(
                Failure(
                    .daemonUnavailable, "The password of the account cannot be verified now.",
                    hint: "Try again later; the try does not count. See: journalctl -u latchkey-authd"))
        case (_, .accountExpired):
            return .refused(Failure(.notPermitted, "The account has expired.", hint: Self.administrator))
        case (_, .permissionDenied), (_, .userUnknown), (_, .passwordExpired), (.account, .authenticationError),
            (.account, .triesExceeded):
            return .refused(Failure(.notPermitted, "The system refuses the account.", hint: Self.administrator))
        // Success of the first phase alone is not a success: the account may have expired.
        case (.start, _), (.authentication, .success), (.authentication, .newPasswordRequired), (_, nil):
            return .failed(Self.failure("PAM ended with the value \(code)"))
        }
    }

    /// PAM counts only if it verified the string that was typed: a module can accept a finger or nothing at all.
    private func right(mustChange: Bool) -> AccountVerdict {
        hasAnswered
            ? .right(mustChange: mustChange) : .failed(Self.violation("PAM accepted the account without a password"))
    }

    private func refused(_ what: String) -> Step { .end(.failed(Self.violation(what))) }

    private static let administrator: Phrase = "Ask an administrator about the account."

    /// The failure of a module that broke a rule of the conversation.
    static func violation(_ what: String) -> Failure { failure(what, .peerNotTrusted) }

    static func failure(_ what: String, _ status: Status = .authenticationFailed) -> Failure {
        Failure(
            status, "The password was not verified: \(what).",
            hint: "Compare /etc/pam.d/latchkey with the file of the package. See: journalctl -u latchkey-authd")
    }
}
