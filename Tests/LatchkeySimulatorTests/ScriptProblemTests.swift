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
            "ScriptProblemTests.swift:\(line): The script cannot go on: the enrolled finger or face comes next, "
            + "and the prompt asks for the passcode."
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
            ("the paired device confirms", { $0.confirmOnCompanion() }),
            ("Face ID is allowed", { $0.answerFaceIDQuestion(allow: true) }),
            ("the recovery code is written down", { $0.acknowledgeRecoveryCode() }),
            ("a recovery code is entered", { $0.enter(recoveryCode: "X") }),
            ("a new passcode is entered", { $0.enter(newPasscode: "X") }),
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
            ("another finger or face", { $0.touch(matching: false) }),
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
        for guidance in ScanGuidance.allCases { simulator.scanBadly(guidance) }
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

    /// Prompts that can still be answered do not end: one whose entry is delayed, and one without queued actions.
    @Test func aPromptThatMayStillBeAnsweredDoesNotEnd() async throws {
        let simulator = try Simulator(sensor: .none)
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

private final class Box: @unchecked Sendable {
    // Written by the test's body, and read after it has ended.
    var value = 0
}
