// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import Synchronization
import TestSupport

/// Records the shown prompts.
final class CollectingPrompter: Prompter {
    private let prompter: any Prompter
    private let prompts = Recorder<Prompt>()
    private let receiver = Mutex<(@Sendable (PromptEvent) -> Void)?>(nil)
    var shown: [Prompt] { prompts.all }
    /// Receives the events of the latest prompt.
    var events: (@Sendable (PromptEvent) -> Void)? { receiver.withLock { $0 } }

    init(_ prompter: any Prompter) { self.prompter = prompter }
    func show(_ prompt: Prompt, events: @escaping @Sendable (PromptEvent) -> Void) {
        prompts.add(prompt)
        receiver.withLock { $0 = events }
        prompter.show(prompt, events: events)
    }
    func update(_ id: UInt64, _ content: PromptContent) { prompter.update(id, content) }
    func dismiss(_ id: UInt64) { prompter.dismiss(id) }
}
