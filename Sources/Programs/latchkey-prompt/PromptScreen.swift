// SPDX-License-Identifier: Apache-2.0

import LatchkeyPrompts

/// The output to the terminal: as a block or as plain sentences.
enum PromptScreen {
    case block(Block)
    case speech(PlainSpeech)

    init(_ look: Look) { self = look.isPlain ? .speech(PlainSpeech(look: look)) : .block(Block(look: look)) }

    /// Returns the output for a changed prompt or window size.
    mutating func show(_ state: PromptState, in window: WindowSize) -> String {
        switch self {
        case .block(var block):
            defer { self = .block(block) }
            return block.show(state, in: window)
        case .speech(var speech):
            defer { self = .speech(speech) }
            return speech.say(state)
        }
    }

    /// Returns the output that ends the prompt: the block is removed, sentences remain.
    mutating func close() -> String {
        switch self {
        case .block(var block):
            defer { self = .block(block) }
            return block.remove()
        case .speech(var speech):
            defer { self = .speech(speech) }
            return speech.end()
        }
    }
}
