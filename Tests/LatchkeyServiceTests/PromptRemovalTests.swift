// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import SimulatedDriver
import Synchronization
import SystemDriver
import TestPromises
import TestSupport
import Testing

@testable import LatchkeyService

/// The user of a prompt can delay its removal: it stops the prompt's process. No thread waits for that.
@Suite struct PromptRemovalTests {
    /// A prompter whose prompts are gone when the test says so.
    private final class HeldPrompter: Prompter {
        private let held = Mutex<[UInt64: @Sendable () -> Void]>([:])
        private let prompts = Recorder<UInt64>()
        var shown: [UInt64] { prompts.all }
        var leaving: Int { held.withLock { $0.count } }

        func show(_ prompt: Prompt, events: @escaping @Sendable (PromptEvent) -> Void) {
            prompts.add(prompt.id)
            events(.visible)
        }
        func update(_ id: UInt64, _ content: PromptContent) {}
        func dismiss(_ id: UInt64) { dismiss(id) {} }
        func dismiss(_ id: UInt64, _ gone: @escaping @Sendable () -> Void) { held.withLock { $0[id] = gone } }

        func finish() {
            let callbacks = held.withLock { held in
                defer { held = [:] }
                return held.sorted { $0.key < $1.key }.map(\.value)
            }
            for callback in callbacks { callback() }
        }
    }

    private let prompter = HeldPrompter()
    private let machine: SimulatedService
    private let session: any RequestHandler

    init() throws {
        let prompter = prompter
        machine = try SimulatedService(WorldState(sensor: .touchID, enrolment: [1])) { parts, world in
            parts.prompter = ScriptedPrompter(prompter, world: world)
        }
        session = machine.handler(Request.Hello(application: "app"))
        #expect(InterruptedService.answers(session, .setPasscode("1234"))() == [.done])
    }

    private func evaluation(_ id: UInt64, _ context: ContextHandle? = nil) throws -> () -> [Reply] {
        let context = try context ?? session.context()
        return InterruptedService.answers(
            session, InterruptedService.evaluation(context, .deviceOwnerAuthenticationWithBiometrics), id: id)
    }

    @Test func anEvaluationIsAnsweredWhenItsPromptIsGone() throws {
        let answers = try evaluation(7)
        machine.world.perform(.touch(matching: true))
        #expect(prompter.leaving == 1 && answers().isEmpty)
        prompter.finish()
        #expect(answers().count == 1)
        if case .failure(let failure)? = answers().first { Issue.record("\(failure)") }
    }

    @Test func eventsMeanwhileReturnAtOnceAndApplyInTheirOrder() throws {
        let first = try evaluation(7)
        machine.world.perform(.touch(matching: true))
        let second = try evaluation(8)
        #expect(prompter.shown.count == 1 && second().isEmpty, "the next prompt waits for the place")
        prompter.finish()
        #expect(first().count == 1 && prompter.shown.count == 2)
        machine.world.perform(.cancel)
        prompter.finish()
        #expect(second() == [.failure(Failure(.userCancel))])
    }

    @Test(.promise("prompt.hanging")) func aWithdrawalDoesNotWaitForThePrompt() throws {
        let context = try session.context()
        let answers = try evaluation(7, context)
        session.handle(9, .invalidateContext(context)) { _ in }
        #expect(prompter.leaving == 1 && answers().isEmpty)
        prompter.finish()
        #expect(answers().count == 1)
    }
}
