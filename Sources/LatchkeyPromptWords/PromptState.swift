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
    /// Characters of a recovery code that have been typed; its length is no secret.
    package var typedCharacters = 0
    /// The process that shows the prompt: another one than the caller's.
    package var processID: Int32

    /// A prompt as it is shown first.
    package init(_ prompt: Prompt, processID: Int32) {
        self.prompt = prompt
        self.processID = processID
        content = prompt.content
        entry = .nothing
    }
}
