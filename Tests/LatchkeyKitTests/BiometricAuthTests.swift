// SPDX-License-Identifier: Apache-2.0

import Dispatch
import LatchkeyKit
import LatchkeySimulator
import LatchkeyTesting
import LocalAuthentication
import Security
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct BiometricAuthTests {
    @Test(.simulator()) func theProofReadsAnItemWithoutASecondPrompt() async throws {
        let simulator = try machine()
        let store = KeychainStore()
        try await store.store("s3cret", in: .token, protection: .currentBiometry)
        simulator.touch(matching: true)
        let proof = try await BiometricAuth().authenticate(.biometry)
        #expect(try await store.string(of: .token, prompt: proof) == "s3cret")
        #expect(simulator.transcript.lines.filter { $0.contains("prompt: touchID, tries left: 3") }.count == 1)
    }

    @Test(.simulator()) func theOptionsReachThePrompt() async throws {
        let simulator = try machine()
        simulator.touch(matching: false)
        simulator.chooseFallback()
        _ = await ending(.biometry(reason: "Open your notes", fallbackTitle: "Use Password"))
        let lines = simulator.transcript.lines
        #expect(lines.contains { $0.contains("Open your notes") })
        #expect(lines.contains { $0.contains("Use Password") })
    }

    @Test(arguments: ["", " \n\t"]) func aBlankReasonIsAnErrorWithAMessage(reason: String) async {
        let context = ScriptedBiometry(answers: [.success])
        let failure = await ending(AuthenticationOptions(reason: reason), auth(context))
        #expect(failure?.advice == .correctProgram)
        #expect(failure?.message.contains("reason") == true)
        #expect(context.asked.isEmpty)
    }

    @Test func eachAttemptUsesANewContext() async {
        let (first, second) = (ScriptedBiometry(answers: [.success]), ScriptedBiometry(answers: [.success]))
        let auth = auth(first, second)
        #expect(await ending(.owner, auth) == nil)
        #expect(await ending(.owner, auth) == nil)
        #expect(first.asked.map(\.policy) == [.deviceOwnerAuthentication])
        #expect(first.asked.map(\.reason) == ["test"])
        #expect(second.asked.count == 1)
    }

    @Test func aFalseResultIsAFailure() async {
        // The test double of the documents, with three members.
        struct Liar: BiometryEvaluating {
            var biometryType: LABiometryType { .touchID }
            func canEvaluatePolicy(_ policy: LAPolicy, error: NSErrorPointer) -> Bool { true }
            func evaluatePolicy(_ policy: LAPolicy, localizedReason: String) async throws -> Bool { false }
        }
        #expect(await ending(.owner, BiometricAuth { Liar() })?.code == .authenticationFailed)
    }

    @Test func reuseSecondsAreClamped() {
        #expect(AuthenticationOptions(reason: "test", reuseSeconds: -1).reuseSeconds == 0)
        #expect(AuthenticationOptions(reason: "test", reuseSeconds: .max).reuseSeconds == 300)
    }

    @Test(.simulator()) func anUnlockByBiometryCanBeReused() async throws {
        try machine().lock()
        try machine().unlock(byBiometry: true)
        var options = AuthenticationOptions.biometry
        options.reuseSeconds = 60
        #expect(await ending(options) == nil)
    }

    // MARK: - Cancelling

    @Test(.simulator(waitsForActions: true)) func cancellingTheTaskDismissesThePrompt() async throws {
        let task = Task { await ending(.owner) }
        // The task may be cancelled before the evaluation or during its prompt: the result is the same.
        task.cancel()
        #expect(await task.value?.code == .appCancel)
    }

    @Test func cancellingDuringAPromptEndsTheAttempt() async {
        let context = ScriptedBiometry()
        let auth = auth(context)
        let task = Task { await ending(.owner, auth) }
        while context.asked.isEmpty { await Task.yield() }
        task.cancel()
        #expect(await task.value?.code == .appCancel)
        #expect(context.isInvalidated)
    }

    // MARK: - Where the reply runs

    @Test func theReplyRunsOnTheGivenQueue() async throws {
        let key = DispatchSpecificKey<String>()
        let queue = DispatchQueue(label: "replies")
        queue.setSpecific(key: key, value: "here")
        let auth = auth(ScriptedBiometry(answers: [.success]))
        let place = try await reply { reply in
            auth.authenticate(.owner, on: queue) { _ in
                reply(DispatchQueue.getSpecific(key: key))
            }
        }
        #expect(place == "here")
    }

    @Test(.simulator()) func theReplyRunsOnTheMainActor() async throws {
        try machine().touch(matching: true)
        let isProven = try await reply { reply in
            BiometricAuth().authenticate(.owner) { outcome in
                // Does not compare threads: on Linux the main actor is not bound to one.
                MainActor.preconditionIsolated()
                reply((try? outcome.get()) != nil)
            }
        }
        #expect(isProven)
    }

    @Test func anAttemptCanBeCancelled() async throws {
        let context = ScriptedBiometry()
        let auth = auth(context)
        let outcome = try await reply { reply in
            let attempt = auth.authenticate(.owner, on: .global()) { reply($0) }
            attempt.cancel()
        }
        guard case .failure(let failure) = outcome else {
            Issue.record("it succeeded")
            return
        }
        #expect(failure.code == .appCancel)
    }
}
