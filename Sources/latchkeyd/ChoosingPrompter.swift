// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import Synchronization

/// Asks one prompter after another until one has a place for the prompt (docs/decisions/012-agent.md).
final class ChoosingPrompter: Prompter {
    private struct Shown: Sendable {
        /// The prompt as it is to be shown next.
        var prompt: Prompt
        /// How many prompters were asked.
        var asked: Int
        var events: @Sendable (PromptEvent) -> Void
    }

    private let prompters: [any Prompter]
    private let shown = Mutex<[UInt64: Shown]>([:])

    /// The order is the one in which they are asked.
    init(_ prompters: [any Prompter]) { self.prompters = prompters }

    func show(_ prompt: Prompt, events: @escaping @Sendable (PromptEvent) -> Void) {
        shown.withLock { $0[prompt.id] = Shown(prompt: prompt, asked: 0, events: events) }
        askNext(prompt.id)
    }

    func update(_ id: UInt64, _ content: PromptContent) {
        let prompter = shown.withLock { shown in
            shown[id]?.prompt.content = content
            return shown[id].map { prompters[$0.asked - 1] }
        }
        prompter?.update(id, content)
    }

    func dismiss(_ id: UInt64) {
        shown.withLock { $0.removeValue(forKey: id) }.map { prompters[$0.asked - 1] }?.dismiss(id)
    }

    private func askNext(_ id: UInt64) {
        let refused: (@Sendable (PromptEvent) -> Void)? = shown.withLock { shown in
            guard let next = shown[id] else { return nil }
            guard next.asked < prompters.count else { return shown.removeValue(forKey: id)?.events }
            shown[id]?.asked += 1
            // With the lock held, so that it cannot be dismissed before it is shown: no prompter calls back from here.
            prompters[next.asked].show(next.prompt) { [self] event in
                // One that had no place may add that its prompt is lost.
                guard self.shown.withLock({ $0[id]?.asked == next.asked + 1 }) else { return }
                if event == .unavailable { askNext(id) } else { next.events(event) }
            }
            return nil
        }
        refused?(.unavailable)
    }
}
