// SPDX-License-Identifier: Apache-2.0

import LatchkeyPromptWords
import TerminalPromptLayout

/// What to write to the terminal, in either look.
enum PromptScreen {
    case block(Block)
    case speech(PlainSpeech)

    init(_ look: Look) { self = look.isPlain ? .speech(PlainSpeech(look: look)) : .block(Block(look: look)) }

    /// Shows what is new in a prompt, or in its window.
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

    /// Takes the prompt away; what was said stays.
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
