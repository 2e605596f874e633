// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

/// A prompt at one moment.
package struct PromptState: Equatable, Sendable {
    /// What has become of the passcode or the recovery code. A prompt never says how long a passcode is.
    package enum Entry: Sendable {
        case nothing
        case typing
        case checking
    }

    /// What does not change.
    package var prompt: Prompt
    /// What changes with every try.
    package var content: PromptContent
    /// How far the person is with typing.
    package var entry: Entry
    /// Seconds left in which no passcode is taken, counted down by the program that shows the prompt; 0 while one is.
    package var delayLeft: Int
    /// Characters of a recovery code that have been typed; its length is no secret.
    package var typedCharacters = 0
    /// The process that shows the prompt: another one than the caller's.
    package var processID: Int32

    /// A prompt as it is shown first.
    package init(_ prompt: Prompt, processID: Int32) {
        self.prompt = prompt
        self.processID = processID
        content = prompt.content
        delayLeft = prompt.content.delaySeconds
        entry = .nothing
    }

    /// Shows what changed.
    package mutating func show(_ content: PromptContent) {
        self.content = content
        entry = .nothing
        typedCharacters = 0
        delayLeft = content.delaySeconds
    }

    /// Counts the delay down: so many seconds have passed since the content was sent. The last second stays until the
    /// daemon says that entry goes on.
    package mutating func countDown(secondsPassed: Int64) {
        guard content.delaySeconds > 0 else { return }
        delayLeft = max(1, content.delaySeconds - Int(clamping: max(0, secondsPassed)))
    }

    /// Whether a passcode is asked for that is not taken yet.
    package var isDelayed: Bool { delayLeft > 0 }
}
