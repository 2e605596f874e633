// SPDX-License-Identifier: Apache-2.0

import LatchkeyDesktop

/// The sentences for what went wrong. The daemon's own sentence follows where it says more.
enum FailureWords {
    static let cancelled = words("Cancelled. Nothing was changed.")
    static let startPrompts = words("Start It")
    static let startingPrompts = words("Starting the program that shows prompts…")
    static let promptsStarted = words("Prompts can be shown now. Try again.")

    static func sentence(_ failure: SettingsFailure) -> String {
        switch failure.code {
        case .cancelled: cancelled
        case .unavailable: words("Latchkey’s service cannot be reached.")
        case .storeUnusable: words("The keychain cannot be opened.")
        case .noPrompt:
            words("Latchkey could not ask you, because the program that shows its prompts is not running.")
        case .locked: words("The keychain is locked. Unlock it first.")
        case .passcodeNotSet: words("This needs a passcode, and none is set. Set one on the page Passcode.")
        case .notAuthenticated: words("That was not right, so nothing was changed.")
        case .unplugged: words("The sensor was unplugged, so nothing was stored. Connect it, and try again.")
        case .notAllowed: words("This computer does not let you change fingerprints. Ask who administers it.")
        case .noReader: words("The fingerprint sensor cannot be used now.")
        case .notOpened, .delayed, .exists, .notFound, .other: words(failure.message)
        }
    }

    static func missingTitle(_ failure: SettingsFailure) -> String {
        failure.code == .unavailable ? words("Latchkey Is Not Running") : words("The Keychain Cannot Be Opened")
    }

    static func missing(_ failure: SettingsFailure) -> String {
        failure.code == .unavailable
            ? words(
                """
                The service that keeps your passwords and keys is not installed or does not answer. Your stored items are \
                not lost.
                """) : words("Nothing was changed, and your stored items are still there.")
    }

    /// What only a person who knows Latchkey's parts understands; shown under Details. Nil if the sentence says it all.
    static func details(_ failure: SettingsFailure) -> String? {
        switch failure.code {
        case .unavailable, .storeUnusable, .notAllowed, .noPrompt, .noReader:
            [words(failure.message), words(failure.hint)].filter { !$0.isEmpty }.joined(separator: "\n")
        case .cancelled, .locked, .passcodeNotSet, .notAuthenticated, .notOpened, .delayed, .exists, .notFound,
            .unplugged, .other:
            nil
        }
    }
}
