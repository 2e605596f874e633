// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
import LatchkeySeams

/// A prompt that only the script sees. One that no action can ever answer is ended, with a sentence that says so.
package final class SimulatedPrompter: Prompter {
    private let world: SimulatedWorld?

    /// A prompter for that world's script.
    package init(_ world: SimulatedWorld? = nil) { self.world = world }

    package func show(_ prompt: Prompt, events: @escaping @Sendable (PromptEvent) -> Void) {
        world?.promptIsUnseen(prompt.id)
        events(.visible)
    }

    package func update(_ id: UInt64, _ content: PromptContent) {}

    package func dismiss(_ id: UInt64) {}
}

/// The last place of a simulated daemon's prompts: where a caller has neither a terminal nor a window, the actions that wait
/// are its person. Without any there is no place to ask.
package final class QueuedActionPrompter: Prompter {
    private let world: SimulatedWorld
    private let later: @Sendable (@escaping @Sendable () -> Void) -> Void

    /// `later` runs what it is given on another thread: a prompter does not call back from `show`.
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
