// SPDX-License-Identifier: Apache-2.0

import LatchkeySimulator
import LocalAuthentication
import Testing

@Suite(.timeLimit(.minutes(1))) struct ContextLifeTests {
    // MARK: - Reuse

    @Test func theSameContextPromptsOnceAndANewContextPromptsAgain_LA34() async throws {
        let machine = try RecordingMachine()
        machine.perform(.touch(matching: true))
        let context = machine.run { LAContext() }
        for _ in 0..<3 { #expect(await ending(.biometry, context) == .success) }
        #expect(await ending(.owner, context) == .success)
        #expect(machine.shown.count == 1)
        machine.perform(.cancel)
        #expect(await ending(.biometry, machine.run { LAContext() }) == .failure(.userCancel))
    }

    @Test func aPasscodeIsNotReusedForABiometricPolicy_LA34() async throws {
        let simulator = try Simulator()
        simulator.touch(matching: false)
        simulator.chooseFallback()
        simulator.enter(passcode: "1234")
        simulator.cancel()
        await simulator.run {
            let context = LAContext()
            #expect(await ending(.owner, context) == .success)
            #expect(await ending(.owner, context) == .success)
            #expect(await ending(.biometry, context) == .failure(.userCancel))
        }
    }

    @Test func aFailureIsNotReused_LA34() async throws {
        let simulator = try Simulator()
        simulator.cancel()
        simulator.touch(matching: true)
        await simulator.run {
            let context = LAContext()
            #expect(await ending(.owner, context) == .failure(.userCancel))
            #expect(await ending(.owner, context) == .success)
        }
    }

    @Test func aMatchOfAnEarlierSetIsNotReused_abuse32() async throws {
        let simulator = try Simulator()
        simulator.touch(matching: true)
        try await simulator.run {
            let context = LAContext()
            #expect(await ending(.biometry, context) == .success)
            try simulator.replaceFinger()
            simulator.cancel()
            #expect(await ending(.biometry, context) == .failure(.userCancel))
        }
    }

    // MARK: - Concurrent evaluations

    @Test func concurrentEvaluationsPromptOneAfterTheOther_LA35_abuse18() async throws {
        let machine = try RecordingMachine()
        let first = Evaluation(machine.run { LAContext() }, .owner, reason: "first")
        #expect(await machine.nextPrompt()?.reason == "first")
        let second = Evaluation(machine.run { LAContext() }, .owner, reason: "second")
        #expect(machine.shown.count == 1)
        machine.perform(.cancel)
        #expect(await first.end == .failure(.userCancel))
        #expect(await machine.nextPrompt()?.reason == "second")
        machine.perform(.touch(matching: true))
        #expect(await second.end == .success)
        #expect(machine.shown.map(\.reason) == ["first", "second"])
    }

    @Test func concurrentEvaluationsOfOneContextAreQueued_LA35() async throws {
        let machine = try RecordingMachine()
        let context = machine.run { LAContext() }
        let first = Evaluation(context, .owner)
        _ = await machine.nextPrompt()
        let second = Evaluation(context, .owner)
        machine.perform(.cancel)
        machine.perform(.touch(matching: true))
        #expect(await first.end == .failure(.userCancel))
        #expect(await second.end == .success)
    }

    // MARK: - Invalidation

    @Test func invalidatingEndsARunningEvaluationWithAppCancel_LA36() async throws {
        let machine = try RecordingMachine()
        let context = machine.run { LAContext() }
        let evaluation = Evaluation(context, .owner)
        _ = await machine.nextPrompt()
        context.invalidate()
        #expect(await evaluation.end == .failure(.appCancel))
    }

    @Test func invalidatingEndsAQueuedEvaluation_LA36() async throws {
        let machine = try RecordingMachine()
        let first = Evaluation(machine.run { LAContext() }, .owner)
        _ = await machine.nextPrompt()
        let context = machine.run { LAContext() }
        let second = Evaluation(context, .owner)
        context.invalidate()
        #expect(await second.end == .failure(.appCancel))
        machine.perform(.touch(matching: true))
        #expect(await first.end == .success)
    }

    /// `evaluatePolicy` was called before `invalidate`, even if the request was not sent yet.
    @Test func invalidatingRightAfterEvaluatePolicyIsAppCancel_LA36() async throws {
        let machine = try RecordingMachine()
        for _ in 0..<50 {
            let context = machine.run { LAContext() }
            let evaluation = Evaluation(context, .owner)
            context.invalidate()
            #expect(await evaluation.end == .failure(.appCancel))
        }
    }

    @Test func evaluatingAnInvalidatedContextIsInvalidContext_LA36() async throws {
        let simulator = try Simulator()
        simulator.touch(matching: true)
        await simulator.run {
            let context = LAContext()
            context.invalidate()
            context.invalidate()
            for policy in [LAPolicy.biometry, .owner] {
                #expect(await ending(policy, context) == .failure(.invalidContext))
            }
            #expect(await ending(.owner) == .success, "another context works")
        }
    }

    @Test func invalidatingRevokesTheProofsOfTheContext_LA36() async throws {
        let simulator = try Simulator()
        simulator.touch(matching: true)
        await simulator.run {
            let context = LAContext()
            #expect(await ending(.owner, context) == .success)
            context.invalidate()
            #expect(await ending(.owner, context) == .failure(.invalidContext))
        }
    }

    @Test func invalidatingOneContextDoesNotAffectOthers_LA36() async throws {
        let machine = try RecordingMachine()
        let evaluation = Evaluation(machine.run { LAContext() }, .owner)
        _ = await machine.nextPrompt()
        machine.run { LAContext() }.invalidate()
        machine.perform(.touch(matching: true))
        #expect(await evaluation.end == .success)
    }

    // MARK: - Lifetime

    @Test func deallocatingAContextInvalidatesItInTheDaemon_LA37() async throws {
        let simulator = try Simulator()
        // More contexts than a connection may have at a time.
        for _ in 0..<1100 { simulator.touch(matching: true) }
        await simulator.run {
            for number in 0..<1100 {
                let ending = await ending(.owner)
                #expect(ending == .success, "context \(number)")
                if ending != .success { break }
            }
        }
    }

    /// According to Apple's documentation, deallocating the context cancels the evaluation. Here the evaluation retains
    /// the context, because published samples hold no reference to it.
    @Test func aRunningEvaluationRetainsItsContext_LA37() async throws {
        let machine = try RecordingMachine()
        weak var watched: LAContext?
        let evaluation: Evaluation
        do {
            let context = machine.run { LAContext() }
            watched = context
            evaluation = Evaluation(context, .owner)
        }
        _ = await machine.nextPrompt()
        #expect(watched != nil)
        machine.perform(.touch(matching: true))
        #expect(await evaluation.end == .success)
    }

    /// Runs code between the moment the context reads its handle and the moment it sends its request.
    private final class InterruptedContext: LAContext, @unchecked Sendable {
        // Set before the only evaluation.
        var interruption: () -> Void = {}

        override var touchIDAuthenticationAllowableReuseDuration: TimeInterval {
            get {
                interruption()
                interruption = {}
                return super.touchIDAuthenticationAllowableReuseDuration
            }
            set { super.touchIDAuthenticationAllowableReuseDuration = newValue }
        }
    }

    @Test func anEvaluationUsesTheConnectionThatAnotherCallReopened_LA34() async throws {
        let simulator = try Simulator()
        let context = simulator.run { InterruptedContext() }
        simulator.touch(matching: true)
        #expect(await ending(.owner, context) == .success)
        context.interruption = {
            #expect(throws: Never.self) { try simulator.restart() }
            _ = simulator.run { preflight(.deviceOwnerAuthentication) }
        }
        simulator.enter(passcode: "1234")
        #expect(await ending(.owner, context) == .success)
    }
}
