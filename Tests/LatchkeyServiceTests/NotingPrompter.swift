// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import Synchronization

/// Records the shown prompts.
final class CollectingPrompter: Prompter {
    private let prompter: any Prompter
    private let prompts = Mutex<[Prompt]>([])
    var shown: [Prompt] { prompts.withLock { $0 } }

    init(_ prompter: any Prompter) { self.prompter = prompter }
    func show(_ prompt: Prompt, events: @escaping @Sendable (PromptEvent) -> Void) {
        prompts.withLock { $0.append(prompt) }
        prompter.show(prompt, events: events)
    }
    func update(_ id: UInt64, _ content: PromptContent) { prompter.update(id, content) }
    func dismiss(_ id: UInt64) { prompter.dismiss(id) }
}
