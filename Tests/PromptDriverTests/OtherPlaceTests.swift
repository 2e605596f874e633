// SPDX-License-Identifier: Apache-2.0

import ChildProcessDrivers
import LatchkeyModel
import LatchkeySeams
import Synchronization
import Testing

/// A prompt whose terminal cannot be used moves to an agent, which is another place than the policy has found free.
@Suite struct OtherPlaceTests {
    /// Holds the prompts that it is asked to show, until the test reports their events.
    private final class Place: Prompter {
        private let held = Mutex<[UInt64: @Sendable (PromptEvent) -> Void]>([:])
        var shown: [UInt64] { held.withLock { $0.keys.sorted() } }
        func show(_ prompt: Prompt, events: @escaping @Sendable (PromptEvent) -> Void) {
            held.withLock { $0[prompt.id] = events }
        }
        func update(_ id: UInt64, _ content: PromptContent) {}
        func dismiss(_ id: UInt64) { held.withLock { $0[id] = nil } }
        func fail(_ id: UInt64) { held.withLock { $0.removeValue(forKey: id) }?(.unavailable) }
    }

    private let terminals = Place()
    private let agents = Place()
    private let prompter: ChoosingPrompter

    init() { prompter = ChoosingPrompter([terminals, agents]) }

    private func show(_ id: UInt64, user: UInt32 = 1000, terminal: UInt64 = 7) {
        let prompt = Prompt(
            id: id, caller: "notes", processID: 1, reason: "", cancelTitle: "", fallbackTitle: "", faceUsage: "",
            sensor: .none, tier: .file, terminal: terminal, userID: user,
            content: PromptContent(method: .passcode, notice: .none, triesLeft: 3, showsFallback: false))
        let answered = answered
        prompter.show(prompt) { answered.add(id, $0) }
    }

    private final class Answered: Sendable {
        private let events = Mutex<[UInt64: PromptEvent]>([:])
        func add(_ id: UInt64, _ event: PromptEvent) { events.withLock { $0[id] = event } }
        func event(_ id: UInt64) -> PromptEvent? { events.withLock { $0[id] } }
    }
    private let answered = Answered()

    @Test func theOnlyPromptOfAUserMovesToAnAgent() {
        show(1)
        show(2, user: 1001)
        terminals.fail(1)
        #expect(agents.shown == [1] && answered.event(1) == nil)
    }

    @Test func besideAnotherPromptOfTheUserItIsRefused() {
        show(1)
        show(2)
        terminals.fail(2)
        #expect(agents.shown.isEmpty && answered.event(2) == .unavailable)
        #expect(terminals.shown == [1], "the user may be typing a passcode there")
        prompter.dismiss(1)
        show(3)
        terminals.fail(3)
        #expect(agents.shown == [3])
    }

    @Test func aProgramWithoutATerminalAsksTheAgentInAnyCase() {
        show(1)
        show(2, terminal: 0)
        terminals.fail(2)
        #expect(agents.shown == [2])
    }
}
