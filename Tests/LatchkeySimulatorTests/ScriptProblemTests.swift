// SPDX-License-Identifier: Apache-2.0

import LatchkeyTesting
import LocalAuthentication
import Security
import Testing

/// A script that cannot continue ends with a message that contains the line of the action, instead of a call that
/// never returns.
@Suite(.timeLimit(.minutes(1))) struct ScriptProblemTests {
    private typealias Act = @Sendable (Simulator) -> Void

    private func evaluate(_ policy: LAPolicy) async -> LAError? {
        do {
            try await LAContext().evaluatePolicy(policy, localizedReason: "log in")
            return nil
        } catch {
            return error as? LAError
        }
    }

    @Test func aTouchAtAPasscodePromptIsReportedWithItsLine() async throws {
        let simulator = try Simulator(sensor: .none)
        let line = #line + 1
        simulator.touch(matching: true)
        simulator.enter(passcode: "1234")
        let error = try #require(await simulator.run { await evaluate(.deviceOwnerAuthentication) })
        #expect(error.code == .notInteractive)
        let sentence =
            "ScriptProblemTests.swift:\(line): The script cannot go on: the enrolled finger comes next, "
            + "and the prompt \"log in\" asks for the passcode."
        #expect(error.localizedDescription.hasPrefix(sentence), "\(error.localizedDescription)")
        let problem = try #require(simulator.scriptProblem)
        #expect(problem.line == line && problem.filePath == #filePath && problem.fileID == #fileID)
        #expect(problem.description.hasPrefix(sentence) && problem.description.contains("forgetActions()"))
        #expect(simulator.transcript.lines.contains { $0.contains(sentence) })
        // The action is still queued.
        try simulator.forgetActions()
        simulator.enter(passcode: "1234")
        #expect(await simulator.run { await evaluate(.deviceOwnerAuthentication) } == nil)
    }

    @Test func aBlockedSecItemCallEnds() throws {
        let simulator = try Simulator(isEnrolled: false)
        try simulator.run {
            let rule = try #require(
                SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, .userPresence, nil))
            let item: [String: Any] = [
                kSecClass as String: kSecClassGenericPassword, kSecAttrAccount as String: "a",
                kSecValueData as String: Data("x".utf8), kSecAttrAccessControl as String: rule,
            ]
            #expect(SecItemAdd(item as CFDictionary, nil) == errSecSuccess)
            simulator.chooseFallback()
            let query: [String: Any] = [
                kSecClass as String: kSecClassGenericPassword, kSecAttrAccount as String: "a",
                kSecReturnData as String: true,
            ]
            var result: CFTypeRef?
            #expect(SecItemCopyMatching(query as CFDictionary, &result) == errSecInteractionNotAllowed)
            #expect(simulator.scriptProblem?.description.contains("the fallback is chosen comes next") == true)
        }
    }

    /// Each action that the first prompt of Touch ID never accepts.
    @Test func everyActionThatThePromptNeverAcceptsIsReported() async throws {
        let acts: [(String, Act)] = [
            ("a passcode is entered", { $0.enter(passcode: "1234") }),
            ("the fallback is chosen", { $0.chooseFallback() }),
            ("Face ID is allowed", { $0.answerFaceIDQuestion(allow: true) }),
            ("the recovery code is written down", { $0.acknowledgeRecoveryCode() }),
            ("a recovery code is entered", { $0.enter(recoveryCode: "X") }),
            ("a new passcode is entered", { $0.enter(newPasscode: "X") }),
            ("reading is allowed once", { $0.choose(.once) }),
            ("reading is always allowed", { $0.choose(.always) }),
            ("reading is never allowed", { $0.choose(.never) }),
        ]
        for (words, act) in acts {
            let simulator = try Simulator()
            act(simulator)
            simulator.touch(matching: true)
            #expect(await simulator.run { await evaluate(.deviceOwnerAuthentication) }?.code == .notInteractive)
            #expect(simulator.scriptProblem?.description.contains("\(words) comes next") == true, "\(words)")
        }
    }

    /// Actions at the sensor, which a prompt that asks for the passcode never accepts.
    @Test func everyActionAtTheSensorIsReportedWhenThePasscodeIsAskedFor() async throws {
        let acts: [(String, Act)] = [
            ("another finger", { $0.touch(matching: false) }),
            ("the sensor cannot use a scan: swipeTooShort", { $0.scanBadly(.swipeTooShort) }),
            ("the sensor is unplugged", { $0.unplugSensor() }),
        ]
        for (words, act) in acts {
            let simulator = try Simulator(sensor: .none)
            act(simulator)
            #expect(await simulator.run { await evaluate(.deviceOwnerAuthentication) }?.code == .notInteractive)
            #expect(simulator.scriptProblem?.description.contains("\(words) comes next") == true, "\(words)")
        }
    }

    @Test func everyGuidanceIsShownAndUsesNoTry() async throws {
        let simulator = try Simulator()
        for guidance in SensorGuidance.allCases { simulator.scanBadly(guidance) }
        simulator.touch(matching: true)
        #expect(await simulator.run { await evaluate(.deviceOwnerAuthenticationWithBiometrics) } == nil)
    }

    @Test func anUnpluggedSensorIsBiometryDisconnected() async throws {
        let simulator = try Simulator()
        simulator.unplugSensor()
        let error = await simulator.run { await evaluate(.deviceOwnerAuthenticationWithBiometrics) }
        #expect(error?.code == .biometryDisconnected)
        let next = await simulator.run { await evaluate(.deviceOwnerAuthenticationWithBiometrics) }
        #expect(next?.code == .biometryNotAvailable)
    }

    /// After the last failed face the camera is disarmed.
    @Test func aFaceAtADisarmedCameraIsReported() async throws {
        let simulator = try Simulator(sensor: .faceID)
        for _ in 1...3 { simulator.presentFace(matching: false) }
        let error = await simulator.run { await evaluate(.deviceOwnerAuthenticationWithBiometrics) }
        #expect(error?.code == .notInteractive && simulator.scriptProblem != nil)
    }

    @Test func aFaceDoesNotAnswerTouchIDAndATouchNoCamera() async throws {
        let simulator = try Simulator()
        simulator.presentFace(matching: true)
        #expect(await simulator.run { await evaluate(.deviceOwnerAuthentication) }?.code == .notInteractive)
        #expect(
            simulator.scriptProblem?.description.contains(
                "the enrolled face comes next, and the prompt \"log in\" asks for a finger.") == true)
        for (sensor, object) in [(Simulator.Sensor.faceID, "a face"), (.opticID, "the eyes")] {
            let simulator = try Simulator(sensor: sensor)
            simulator.touch(matching: false)
            #expect(await simulator.run { await evaluate(.deviceOwnerAuthentication) }?.code == .notInteractive)
            #expect(
                simulator.scriptProblem?.description.contains(
                    "another finger comes next, and the prompt \"log in\" asks for \(object).") == true)
            #expect(simulator.unusedActions.count == 1, "it was not a failed match")
        }
    }

    /// The sensors are those of a machine without another action, and `prepare` leads to the prompt.
    @Test func aPromptWithoutAQueuedActionEndsAndSaysWhatToQueue() async throws {
        let prompts: [(sensor: Simulator.Sensor, wants: String, remedy: String, prepare: Act)] = [
            (.touchID, "asks for a finger.", "touch(matching: true)", { _ in }),
            (.faceID, "asks for a face.", "presentFace(matching: true)", { _ in }),
            (.opticID, "asks for the eyes.", "presentFace(matching: true)", { _ in }),
            (.none, "asks for the passcode.", "enter(passcode:)", { _ in }),
            (
                .touchID, "asks for a finger and offers the fallback.", "touch(matching: true)",
                { $0.touch(matching: false) }
            ),
            (
                .faceID, "asks whether the app may use Face ID.", "answerFaceIDQuestion(allow: true)",
                { $0.setFaceIDPermission(.undetermined) }
            ),
        ]
        for prompt in prompts {
            let line = #line + 1
            let simulator = try Simulator(sensor: prompt.sensor)
            prompt.prepare(simulator)
            let error = try #require(await simulator.run { await evaluate(.deviceOwnerAuthentication) })
            #expect(error.code == .notInteractive)
            let sentence = "The script ends too early: no action is queued, and the prompt \"log in\" \(prompt.wants)"
            #expect(error.localizedDescription.hasPrefix(sentence), "\(error.localizedDescription)")
            let problem = try #require(simulator.scriptProblem)
            #expect(problem.description.contains("Queue the action before the call: \(prompt.remedy)"))
            #expect(problem.description.contains("waitsForActions: true"))
            #expect(problem.line == line && problem.filePath == #filePath && problem.fileID == #fileID)
        }
    }

    @Test func aMachineThatWaitsForActionsKeepsAPromptWithoutOne() async throws {
        let simulator = try Simulator(waitsForActions: true)
        async let ending = simulator.run { await evaluate(.deviceOwnerAuthentication) }
        await simulator.promptIsShown()
        simulator.touch(matching: true)
        #expect(await ending == nil)
        #expect(simulator.scriptProblem == nil)
    }

    /// No pair of actions leaves a prompt that waits for ever, whichever the sensor is: the test would not end.
    @Test(arguments: [Simulator.Sensor.none, .touchID, .faceID])
    func everyScriptOfTwoActionsEnds(sensor: Simulator.Sensor) async throws {
        let acts: [Act] = [
            { $0.touch(matching: true) }, { $0.touch(matching: false) }, { $0.presentFace(matching: true) },
            { $0.presentFace(matching: false) }, { $0.scanBadly(.scanAgain) }, { $0.unplugSensor() },
            { try? $0.failNext(.sensor) }, { $0.enter(passcode: "1234") }, { $0.enter(passcode: "0000") },
            { $0.chooseFallback() }, { $0.cancel() },
            { $0.answerFaceIDQuestion(allow: true) }, { $0.answerFaceIDQuestion(allow: false) },
            { $0.acknowledgeRecoveryCode() }, { $0.enter(recoveryCode: "X") }, { $0.enter(newPasscode: "12345") },
            { $0.choose(.once) },
        ]
        for first in acts {
            for second in acts {
                let simulator = try Simulator(sensor: sensor)
                if sensor == .faceID { simulator.setFaceIDPermission(.undetermined) }
                first(simulator)
                second(simulator)
                let error = await simulator.run { await evaluate(.deviceOwnerAuthentication) }
                #expect((error?.code == .notInteractive) == (simulator.scriptProblem != nil))
            }
        }
    }

    // MARK: - Cancellation

    @Test func cancellingTheTaskOfARunEndsItsPrompts() async throws {
        let simulator = try Simulator(waitsForActions: true)
        let task = Task {
            await simulator.run {
                let shown = await evaluate(.deviceOwnerAuthentication)
                return (shown, await evaluate(.deviceOwnerAuthentication))
            }
        }
        await simulator.promptIsShown()
        task.cancel()
        let (shown, later) = await task.value
        #expect(shown?.code == .notInteractive && later?.code == .notInteractive)
        let sentence = "The task was cancelled while the prompt \"log in\" asks for a finger."
        #expect(simulator.scriptProblem?.description == sentence)
        simulator.touch(matching: true)
        #expect(
            await simulator.run { await evaluate(.deviceOwnerAuthentication) } == nil, "the next run is another task")
    }

    /// A time limit cancels the task of the test, which may be blocked in a call.
    @Test func cancellingTheTaskOfATestEndsABlockedCall() async throws {
        let test = try #require(Test.current)
        let simulators = AsyncStream.makeStream(of: Simulator.self)
        let status = Box()
        try await withKnownIssue {
            let task = Task {
                let trait: SimulatorTrait = .simulator(waitsForActions: true)
                try await trait.provideScope(for: test, testCase: nil) {
                    #expect(add("account", "secret", .userPresence) == errSecSuccess)
                    if let simulator = Simulator.current { simulators.continuation.yield(simulator) }
                    status.value = Int(read("account").status)
                }
            }
            for await simulator in simulators.stream {
                await simulator.promptIsShown()
                break
            }
            task.cancel()
            try await task.value
        } matching: {
            $0.comments.contains { "\($0)".hasPrefix("The task was cancelled while the prompt") }
        }
        #expect(status.value == Int(errSecInteractionNotAllowed))
    }

    // MARK: - The trait

    @Test func theTraitRecordsAPromptWithoutAnActionAtTheLineOfTheTest() async throws {
        let test = try #require(Test.current)
        try await withKnownIssue {
            try await SimulatorTrait.simulator().provideScope(for: test, testCase: nil) {
                #expect(await evaluate(.deviceOwnerAuthentication)?.code == .notInteractive)
            }
        } matching: { issue in
            issue.sourceLocation?.line == test.sourceLocation.line && issue.sourceLocation?.fileID == #fileID
                && issue.comments.contains { "\($0)".contains("no action is queued, and the prompt \"log in\"") }
        }
    }

    @Test func theTraitRecordsUnusedActionsAtTheLineOfTheTest() async throws {
        let test = try #require(Test.current)
        try await withKnownIssue {
            try await SimulatorTrait.simulator().provideScope(for: test, testCase: nil) {
                Simulator.current?.touch(matching: true)
                Simulator.current?.enter(passcode: "secret")
                Simulator.current?.cancel()
                #expect(await evaluate(.deviceOwnerAuthentication) == nil)
            }
        } matching: { issue in
            issue.sourceLocation?.line == test.sourceLocation.line && issue.sourceLocation?.fileID == #fileID
                && issue.comments.contains {
                    let words = "\($0)".split(separator: "; ")
                    return words.count == 2 && words[0].hasSuffix("a passcode is entered")
                        && words[0].contains("ScriptProblemTests.swift:")
                        && words[1].contains("the prompt is cancelled")
                }
        }
    }

    @Test func theTraitRecordsNoUnusedActionOfATestThatThrew() async throws {
        struct Mine: Error {}
        let test = try #require(Test.current)
        await #expect(throws: Mine.self) {
            try await SimulatorTrait.simulator().provideScope(for: test, testCase: nil) {
                Simulator.current?.touch(matching: true)
                throw Mine()
            }
        }
    }

    @Test(.simulator(waitsForActions: true)) func theTraitCanWaitForActions() async throws {
        let simulator = try #require(Simulator.current)
        async let ending = evaluate(.deviceOwnerAuthentication)
        await simulator.promptIsShown()
        simulator.touch(matching: true)
        #expect(await ending == nil)
    }

    @Test func theTraitRecordsTheProblemAtTheLineOfTheAction() async throws {
        let test = try #require(Test.current)
        let line = Box()
        try await withKnownIssue {
            let trait: SimulatorTrait = .simulator(sensor: .none)
            try await trait.provideScope(for: test, testCase: nil) {
                line.value = #line + 1
                Simulator.current?.touch(matching: true)
                _ = await evaluate(.deviceOwnerAuthentication)
            }
        } matching: { issue in
            issue.sourceLocation?.line == line.value && issue.sourceLocation?.fileID == #fileID
                && issue.comments.contains { "\($0)".contains("The script cannot go on") }
        }
    }

    /// The person cannot enter a passcode before the clock has advanced.
    @Test func aPromptWhoseEntryIsDelayedEnds() async throws {
        let simulator = try Simulator(sensor: .none)
        for wrong in ["0", "1", "2", "1234"] { simulator.enter(passcode: wrong) }
        #expect(await simulator.run { await evaluate(.deviceOwnerAuthentication) }?.code == .authenticationFailed)
        #expect(await simulator.run { await evaluate(.deviceOwnerAuthentication) }?.code == .notInteractive)
        let problem = try #require(simulator.scriptProblem)
        #expect(problem.description.contains("a passcode is entered comes next"))
        #expect(problem.description.contains("the prompt \"log in\" accepts no passcode for 5 s."))
        #expect(problem.description.contains("advance(by:)"))
        try simulator.advance(by: .seconds(5))
        #expect(await simulator.run { await evaluate(.deviceOwnerAuthentication) } == nil)
    }

    /// Where another task may act, prompts that can still be answered do not end: one whose entry is delayed, and one
    /// without queued actions.
    @Test func aPromptThatMayStillBeAnsweredDoesNotEnd() async throws {
        let simulator = try Simulator(sensor: .none, waitsForActions: true)
        for wrong in ["0", "1", "2"] { simulator.enter(passcode: wrong) }
        #expect(await simulator.run { await evaluate(.deviceOwnerAuthentication) }?.code == .authenticationFailed)
        simulator.enter(passcode: "1234")
        async let delayed = simulator.run { await evaluate(.deviceOwnerAuthentication) }
        while !simulator.transcript.lines.contains(where: { $0.contains("entry in") }) { await Task.yield() }
        try simulator.advance(by: .seconds(3600))
        #expect(await delayed == nil)
        #expect(simulator.scriptProblem == nil)
    }
}

extension Simulator {
    /// Returns when a prompt has been shown.
    func promptIsShown() async {
        while !transcript.lines.contains(where: { $0.contains("prompt:") }) { await Task.yield() }
    }
}

private final class Box: @unchecked Sendable {
    // Written by the test's body, and read after it has ended.
    var value = 0
}
