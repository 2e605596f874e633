// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
package import LatchkeySeams
import Synchronization

/// Shows each prompt with the first prompter that has a place for it (docs/design/decisions/012-agent.md).
package final class ChoosingPrompter: Prompter {
    private struct Shown: Sendable {
        var prompt: Prompt
        /// Number of prompters tried so far.
        var asked: Int
        var events: @Sendable (PromptEvent) -> Void
    }

    private let prompters: [any Prompter]
    private let shown = Mutex<[UInt64: Shown]>([:])

    /// Prompters are tried in this order.
    package init(_ prompters: [any Prompter]) { self.prompters = prompters }

    package func show(_ prompt: Prompt, events: @escaping @Sendable (PromptEvent) -> Void) {
        shown.withLock { $0[prompt.id] = Shown(prompt: prompt, asked: 0, events: events) }
        askNext(prompt.id)
    }

    package func update(_ id: UInt64, _ content: PromptContent) {
        let prompter = shown.withLock { shown in
            shown[id]?.prompt.content = content
            return shown[id].map { prompters[$0.asked - 1] }
        }
        prompter?.update(id, content)
    }

    package func dismiss(_ id: UInt64) { dismiss(id) {} }

    package func dismiss(_ id: UInt64, _ gone: @escaping @Sendable () -> Void) {
        guard let removed = shown.withLock({ $0.removeValue(forKey: id) }) else { return gone() }
        prompters[removed.asked - 1].dismiss(id, gone)
    }

    package func agentSession(of user: UInt32, for session: String) -> String? {
        prompters.lazy.compactMap { $0.agentSession(of: user, for: session) }.first
    }

    package func announceNews(to user: UInt32) { for prompter in prompters { prompter.announceNews(to: user) } }

    private func askNext(_ id: UInt64) {
        let refused: (@Sendable (PromptEvent) -> Void)? = shown.withLock { shown in
            guard let next = shown[id] else { return nil }
            guard next.asked < prompters.count else { return shown.removeValue(forKey: id)?.events }
            // A later prompter may show it elsewhere than where the policy has found a free place for it, and the user may
            // be typing a passcode there.
            let isElsewhere = shown.contains { $0.key != id && $0.value.prompt.userID == next.prompt.userID }
            guard next.asked == 0 || next.prompt.terminal == 0 || !isElsewhere else {
                return shown.removeValue(forKey: id)?.events
            }
            shown[id]?.asked += 1
            // Called with the lock held, so that the prompt cannot be dismissed before it is shown. No prompter calls
            // back from within `show`.
            prompters[next.asked].show(next.prompt) { [self] event in
                // Ignores later events of a prompter that was unavailable.
                guard self.shown.withLock({ $0[id]?.asked == next.asked + 1 }) else { return }
                if event == .unavailable { askNext(id) } else { next.events(event) }
            }
            return nil
        }
        refused?(.unavailable)
    }
}
