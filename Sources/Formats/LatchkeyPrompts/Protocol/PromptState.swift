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
    /// The id of the process that shows the prompt, which is not the caller's.
    package var processID: Int32
    /// The language of the prompt: that of the session in which it is shown.
    package let words: Words

    package init(_ prompt: Prompt, processID: Int32, words: Words = .english) {
        self.prompt = prompt
        self.processID = processID
        self.words = words
        content = prompt.content
        delayLeft = prompt.content.delaySeconds
        entry = .nothing
    }

    /// Replaces the content and resets typing and delay.
    package mutating func show(_ content: PromptContent) {
        self.content = content
        entry = .nothing
        typedText = nil
        delayLeft = content.delaySeconds
    }

    /// Updates the remaining delay, `secondsPassed` after the content arrived. It stays at 1 until the daemon permits
    /// entry with new content.
    package mutating func countDown(secondsPassed: Int64) {
        guard content.delaySeconds > 0 else { return }
        delayLeft = max(1, content.delaySeconds - Int(clamping: max(0, secondsPassed)))
    }

    package var isDelayed: Bool { delayLeft > 0 }
}
