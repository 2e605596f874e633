// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
package import LatchkeySeams
import Synchronization

/// Shows prompts that only the script answers. A prompt that no queued action can answer ends with a `ScriptProblem`.
package final class SimulatedPrompter: Prompter {
    private let world: SimulatedWorld?
    private let waitsForActions: Bool

    /// Creates a prompter for the script of `world`.
    ///
    /// - Parameter waitsForActions: whether a prompt stays while no action is queued, because another task may queue
    ///   one.
    package init(_ world: SimulatedWorld? = nil, waitsForActions: Bool = true) {
        (self.world, self.waitsForActions) = (world, waitsForActions)
    }

    package func show(_ prompt: Prompt, events: @escaping @Sendable (PromptEvent) -> Void) {
        world?.promptIsUnseen(prompt.id, .functions(waits: waitsForActions))
        events(.visible)
    }

    package func update(_ id: UInt64, _ content: PromptContent) {}

    package func dismiss(_ id: UInt64) {}
}

/// The last prompter of a simulated daemon, for a caller with neither a terminal nor an agent: queued actions answer
/// the prompt, or a person who answers or cancels every prompt. Without either the prompt is unavailable.
package final class QueuedActionPrompter: Prompter {
    private let world: SimulatedWorld
    private let later: @Sendable (@escaping @Sendable () -> Void) -> Void

    /// `later` runs its argument on another thread, since a prompter must not call back from within `show`.
    package init(_ world: SimulatedWorld, later: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void) {
        (self.world, self.later) = (world, later)
    }

    package func show(_ prompt: Prompt, events: @escaping @Sendable (PromptEvent) -> Void) {
        let isAnswered = world.answersUnseenPrompts
        if isAnswered { world.promptIsUnseen(prompt.id, .commands) } else { world.record(.noPrompt) }
        later { events(isAnswered ? .visible : .unavailable) }
    }

    package func update(_ id: UInt64, _ content: PromptContent) {}

    package func dismiss(_ id: UInt64) {}
}

/// Lets a script answer the prompts of another prompter, and adds them to the transcript.
package final class ScriptedPrompter: Prompter {
    private let prompter: any Prompter
    private let world: SimulatedWorld
    private let shown = Mutex<[UInt64: Prompt]>([:])

    /// Wraps a prompter of the machine of `world`.
    package init(_ prompter: any Prompter, world: SimulatedWorld) { (self.prompter, self.world) = (prompter, world) }

    package func announceNews(to user: UInt32) { prompter.announceNews(to: user) }

    package func show(_ prompt: Prompt, events: @escaping @Sendable (PromptEvent) -> Void) {
        let id = prompt.id
        shown.withLock { $0[id] = prompt }
        let why = prompt.purpose == .app ? prompt.reason : "\(prompt.purpose)"
        world.record.record("\(prompt.caller) asks" + (why.isEmpty ? "" : ": \"\(why)\""))
        world.record.record(prompt.content.words(prompt))
        world.promptComes(prompt, events)
        prompter.show(prompt) { [world] event in
            if let words = event.words { world.record.record(words) }
            events(event)
            if event == .visible { world.promptIsVisible(id) }
        }
    }

    package func update(_ id: UInt64, _ content: PromptContent) {
        if let prompt = shown.withLock({ $0[id] }) { world.record.record(content.words(prompt)) }
        // The world is updated first, since another program may answer as soon as the prompter shows the content.
        world.promptChanges(id, content)
        prompter.update(id, content)
        world.proceed()
    }

    package func dismiss(_ id: UInt64) { dismiss(id) {} }

    package func dismiss(_ id: UInt64, _ gone: @escaping @Sendable () -> Void) {
        shown.withLock { $0[id] = nil }
        prompter.dismiss(id) { [world] in
            world.promptGoes(id)
            gone()
        }
    }
}
