// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
package import LatchkeyWords

/// The state of a prompt, from which its texts are derived.
package struct PromptState: Equatable, Sendable {
    /// Progress of typing a passcode or recovery code. A prompt never shows a passcode nor its length.
    package enum Entry: Sendable {
        case nothing
        case typing
        case checking
    }

    package var prompt: Prompt
    /// The part of the prompt that changes with each attempt.
    package var content: PromptContent
    package var entry: Entry
    /// Remaining delay of entry in seconds, counted down by the program that shows the prompt; 0 when entry is
    /// possible.
    package var delayLeft: Int
    /// What is typed of a recovery code or a word, which a person has to compare with paper; nil for a passcode.
    package var typedText: String?
    /// The answer that was chosen and is not sent yet: a key alone does not answer.
    package var chosen: SecretAnswer?
    /// The id of the process that shows the prompt, which is not the caller's.
    package var processID: Int32
    /// The language of the prompt: that of the session in which it is shown.
    package let words: Words
    /// The name of the caller in sentences: `Prompt.caller`, or its name in the menu of the desktop.
    package var callerName: String
    /// The name of the caller's icon in the menu of the desktop; nil if it has none.
    package var callerIcon: String?
    /// Whether the caller is a program of Latchkey, which a prompt calls by its name only.
    package var isOwnProgram = false
    /// Whether the end of a backup's recovery code is asked for, which the program that shows the prompt compares itself.
    package private(set) var asksForEnd = false
    /// Whether a recovery code was typed where the passcode is asked for, and was not sent.
    package private(set) var isCodeInsteadOfPasscode = false
    /// Whether that was said before: another one is sent.
    private var hasSaidCode = false

    package init(_ prompt: Prompt, processID: Int32, words: Words = .english) {
        self.prompt = prompt
        self.processID = processID
        self.words = words
        callerName = prompt.caller
        content = prompt.content
        delayLeft = prompt.content.delaySeconds
        entry = .nothing
    }

    /// Replaces the content and resets typing and delay.
    package mutating func show(_ content: PromptContent) {
        self.content = content
        entry = .nothing
        typedText = nil
        chosen = nil
        (asksForEnd, isCodeInsteadOfPasscode) = (false, false)
        delayLeft = content.delaySeconds
    }

    /// Whether the text that was sent stays where it was typed, because a person only corrects a typing error in it.
    package var keepsTyped: Bool {
        content.step == .recoveryCodeAsked && [.recoveryCodeMistyped, .wrongRecoveryCode].contains(content.notice)
    }

    /// Updates the remaining delay, `secondsPassed` after the content arrived. It stays at 1 until the daemon permits
    /// entry with new content.
    package mutating func countDown(secondsPassed: Int64) {
        guard content.delaySeconds > 0 else { return }
        delayLeft = max(1, content.delaySeconds - Int(clamping: max(0, secondsPassed)))
    }

    package var isDelayed: Bool { delayLeft > 0 }

    // MARK: - A code in place of the passcode

    /// Holds back a text that has the form of a recovery code, if the prompt asks for the passcode first and for such a code
    /// later: it would count as a wrong passcode.
    ///
    /// Once for each prompt: a passcode can have that form, and is sent when it is typed again. Nothing is verified here,
    /// and each text that the service verifies counts.
    ///
    /// - Returns: whether the text must not be sent.
    package mutating func holdsBack(_ typed: SecretBytes) -> Bool {
        isCodeInsteadOfPasscode = false
        guard prompt.purpose == .importItems, content.step == .proof, content.method == .passcode, !hasSaidCode,
            Self.hasFormOfCode(typed)
        else { return false }
        (isCodeInsteadOfPasscode, hasSaidCode, entry) = (true, true, .nothing)
        return true
    }

    /// Whether a text has the characters of a recovery code, also one with a typing error.
    private static func hasFormOfCode(_ typed: SecretBytes) -> Bool {
        let characters = characters(typed)
        return characters.count == codeCharacters
            && characters.withBytes { bytes in
                bytes.allSatisfy {
                    (0x30...0x39).contains($0) || ((0x41...0x5a).contains($0) && $0 != UInt8(ascii: "U"))
                }
            }
    }

    /// Characters of a recovery code without dashes.
    private static let codeCharacters = 26

    // MARK: - The end of a backup's code

    /// Asks for the end of the recovery code of a backup, so that a person notices before the code is gone that it was
    /// not noted. The service asks for the end of a keychain's code itself.
    ///
    /// - Returns: false if no code of a backup is shown, or if its end was asked for; nothing is changed then.
    package mutating func askForEnd() -> Bool {
        guard content.step == .recoveryCodeShown, isOfBackup, content.recoveryCode != nil else { return false }
        content.step = .recoveryCodeRepeated
        content.notice = .none
        asksForEnd = true
        return true
    }

    /// Compares a typed text with the last group of the code, or with the whole code, and shows the code once more if it
    /// is neither. Small letters, spaces and dashes do not matter.
    ///
    /// - Returns: whether the text is the end of the code.
    package mutating func checkEnd(_ typed: SecretBytes) -> Bool {
        guard asksForEnd, let code = content.recoveryCode else { return false }
        let (whole, entered) = (Self.characters(code), Self.characters(typed))
        let group = code.withBytes { $0.reversed().prefix { $0 != UInt8(ascii: "-") }.count }
        let end = whole.withBytes { SecretBytes(copying: UnsafeRawBufferPointer(rebasing: $0.suffix(group))) }
        // `SecretBytes` compares in constant time.
        guard entered == end || entered == whole else {
            content.step = .recoveryCodeShown
            content.notice = .recoveryCodeDiffers
            (entry, asksForEnd) = (.nothing, false)
            return false
        }
        return true
    }

    /// The characters of a code in capitals, without spaces and dashes; O as 0, and I and L as 1, as the service reads them.
    private static func characters(_ text: SecretBytes) -> SecretBytes {
        text.withBytes { bytes in
            let isCounted = { (byte: UInt8) in ![0x20, 0x2d, 0x0a, 0x0d].contains(byte) }
            return SecretBytes(count: bytes.count(where: isCounted)) { output in
                for (place, byte) in bytes.lazy.filter(isCounted).enumerated() {
                    let capital = (0x61...0x7a).contains(byte) ? byte - 0x20 : byte
                    output[place] =
                        switch capital {
                        case UInt8(ascii: "O"): UInt8(ascii: "0")
                        case UInt8(ascii: "I"), UInt8(ascii: "L"): UInt8(ascii: "1")
                        default: capital
                        }
                }
            }
        }
    }
}
