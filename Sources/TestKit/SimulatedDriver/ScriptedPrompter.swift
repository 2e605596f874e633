// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
package import LatchkeySeams
import Synchronization

/// Lets a script answer the prompts of another prompter, and adds them to the transcript.
package final class ScriptedPrompter: Prompter {
    private let prompter: any Prompter
    private let world: SimulatedWorld
    private let shown = Mutex<[UInt64: Prompt]>([:])

    /// Wraps a prompter of the machine of `world`.
    package init(_ prompter: any Prompter, world: SimulatedWorld) { (self.prompter, self.world) = (prompter, world) }

    package func show(_ prompt: Prompt, events: @escaping @Sendable (PromptEvent) -> Void) {
        let id = prompt.id
        shown.withLock { $0[id] = prompt }
        let why = prompt.purpose == .app ? prompt.reason : "\(prompt.purpose)"
        world.record.note("\(prompt.caller) asks" + (why.isEmpty ? "" : ": \"\(why)\""))
        world.record.note(prompt.content.words(prompt))
        world.promptComes(prompt, events)
        prompter.show(prompt) { [world] event in
            if let words = event.words { world.record.note(words) }
            events(event)
            if event == .visible { world.promptIsVisible(id) }
        }
    }

    package func update(_ id: UInt64, _ content: PromptContent) {
        if let prompt = shown.withLock({ $0[id] }) { world.record.note(content.words(prompt)) }
        // The world is updated first, since another program may answer as soon as the prompter shows the content.
        world.promptChanges(id, content)
        prompter.update(id, content)
        world.goOn()
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
