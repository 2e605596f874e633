// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
import LatchkeySeams

/// Shows prompts that only the script answers. A prompt that no queued action can answer ends with a `ScriptProblem`.
package final class SimulatedPrompter: Prompter {
    private let world: SimulatedWorld?

    /// Creates a prompter for the script of `world`.
    package init(_ world: SimulatedWorld? = nil) { self.world = world }

    package func show(_ prompt: Prompt, events: @escaping @Sendable (PromptEvent) -> Void) {
        world?.promptIsUnseen(prompt.id)
        events(.visible)
    }

    package func update(_ id: UInt64, _ content: PromptContent) {}

    package func dismiss(_ id: UInt64) {}
}

/// The last prompter of a simulated daemon, for a caller with neither a terminal nor an agent: queued actions answer
/// the prompt. Without queued actions the prompt is unavailable.
package final class QueuedActionPrompter: Prompter {
    private let world: SimulatedWorld
    private let later: @Sendable (@escaping @Sendable () -> Void) -> Void

    /// `later` runs its argument on another thread, since a prompter must not call back from within `show`.
    package init(_ world: SimulatedWorld, later: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void) {
        self.world = world
        self.later = later
    }

    package func show(_ prompt: Prompt, events: @escaping @Sendable (PromptEvent) -> Void) {
        let hasActions = world.hasActions
        if hasActions { world.promptIsUnseen(prompt.id, endsWithScript: true) } else { world.note(ScriptProblem(nil)) }
        later { events(hasActions ? .visible : .unavailable) }
    }

    package func update(_ id: UInt64, _ content: PromptContent) {}

    package func dismiss(_ id: UInt64) {}
}
