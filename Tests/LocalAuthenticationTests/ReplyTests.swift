// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation
import Glibc
import LatchkeySimulator
import LocalAuthentication
import Synchronization
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1))) struct ReplyTests {
    @Test func theReplyRunsOnceAndNotOnTheMainThread_LA20() async throws {
        let simulator = try Simulator()
        for action in 0..<3 {
            if action == 0 { simulator.touch(matching: true) } else { simulator.cancel() }
            let wasOnMainThread = try await reply { reply in
                simulator.run { LAContext() }.evaluatePolicy(.owner, localizedReason: "test") { _, _ in
                    reply(Thread.isMainThread)
                }
            }
            #expect(!wasOnMainThread)
        }
    }

    /// An immediate failure is also reported from another thread, since the caller may hold a lock.
    @Test func theReplyOfAnImmediateFailureRunsOnAnotherThread_LA20() async throws {
        let simulator = try Simulator(passcode: nil)
        nonisolated(unsafe) let context = simulator.run { LAContext() }
        // Methods of a context may be called from any thread.
        let hasReplied = DispatchSemaphore(value: 0)
        let caller = Mutex<pthread_t?>(nil)
        let (code, replier) = try await reply { reply in
            Thread {
                caller.withLock { $0 = pthread_self() }
                context.evaluatePolicy(.owner, localizedReason: "test") { _, error in
                    reply(((error as? LAError)?.code, pthread_self()))
                }
                // The thread outlives the reply, so that its identifier is not reused.
                hasReplied.wait()
            }.start()
        }
        hasReplied.signal()
        #expect(code == .passcodeNotSet)
        #expect(pthread_equal(replier, try #require(caller.withLock { $0 })) == 0)
    }

    @Test func evaluatePolicyReturnsBeforeThePromptIsAnswered_LA20() async throws {
        let machine = try RecordingMachine()
        let evaluation = Evaluation(machine.run { LAContext() }, .owner)
        // Reached although the prompt is not answered yet.
        #expect(await machine.nextPrompt() != nil)
        machine.perform(.touch(matching: true))
        #expect(await evaluation.end == .success)
    }

    @MainActor @Test func theMainThreadIsNotBlocked_LA20() async throws {
        let machine = try RecordingMachine()
        let context = machine.run { LAContext() }
        let evaluation = Evaluation(context, .owner)
        _ = await machine.nextPrompt()
        machine.perform(.touch(matching: true))
        let ending = await evaluation.end
        #expect(ending == .success)
        #expect(!ending.wasOnMainThread)
    }

    @Test func theAsynchronousFormReturnsTrueOrThrows_LA22() async throws {
        let simulator = try Simulator()
        simulator.touch(matching: true)
        simulator.cancel()
        try await simulator.run {
            #expect(try await LAContext().evaluatePolicy(.owner, localizedReason: "test"))
            do {
                try await LAContext().evaluatePolicy(.owner, localizedReason: "test")
                Issue.record("it returned")
            } catch LAError.userCancel {
                return
            }
        }
    }

    @Test func theErrorSaysWhatHappenedAndWhatToDo_LA22() async throws {
        let simulator = try Simulator(passcode: nil)
        let error = try await reply { reply in
            simulator.run { LAContext() }.evaluatePolicy(.owner, localizedReason: "test") { isProven, error in
                #expect(!isProven)
                reply(error)
            }
        }
        let refusal = try #require(error as? LAError)
        #expect(refusal.code == .passcodeNotSet)
        #expect(refusal.localizedDescription.contains("passcode"))
        #expect((refusal as NSError).localizedRecoverySuggestion?.contains("latchkey passcode set") == true)
    }

    @Test func aHundredEvaluationsAtOnceEachGetOneReply_LA20_LA35() async throws {
        let simulator = try Simulator()
        for _ in 0..<100 { simulator.touch(matching: true) }
        let endings = await withTaskGroup(of: Ending.self) { group in
            for _ in 0..<100 {
                group.addTask { await simulator.run { await ending(.owner) } }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(endings == Array(repeating: .success, count: 100))
    }
}
