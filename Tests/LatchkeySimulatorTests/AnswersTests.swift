// SPDX-License-Identifier: Apache-2.0

import LatchkeySimulator
import LocalAuthentication
import Security
import TestSupport
import Testing

/// A person who answers or cancels every prompt needs no script.
@Suite(.timeLimit(.minutes(1))) struct AnswersTests {
    private let biometry = LAPolicy.deviceOwnerAuthenticationWithBiometrics

    @Test func alwaysAnswersFingersAndPasscodesInAnyOrder() async throws {
        let simulator = try Simulator(passcode: "5678")
        try simulator.answer(.always)
        await simulator.run {
            #expect(add("finger", "one", .biometryCurrentSet) == errSecSuccess)
            #expect(add("passcode", "two", .devicePasscode) == errSecSuccess)
            for _ in 1...3 {
                #expect(read("passcode").secret == "two")
                #expect(read("finger").secret == "one")
                #expect(await evaluate(biometry) == nil)
                #expect(await evaluate() == nil)
            }
        }
        #expect(simulator.scriptProblem == nil)
        #expect(simulator.transcript.lines.contains { $0.contains("the enrolled finger") })
        #expect(simulator.transcript.lines.contains { $0.contains("a passcode is entered") })
    }

    @Test(arguments: [Simulator.Sensor.touchID, .faceID, .opticID])
    func alwaysAnswersEachSensor(sensor: Simulator.Sensor) async throws {
        let simulator = try Simulator(sensor: sensor)
        try simulator.answer(.always)
        #expect(await simulator.run { await evaluate(biometry) } == nil)
    }

    @Test func alwaysAllowsFaceID() async throws {
        let simulator = try Simulator(sensor: .faceID)
        simulator.setFaceIDPermission(.undetermined)
        try simulator.answer(.always)
        #expect(await simulator.run { await evaluate(biometry) } == nil)
        #expect(simulator.transcript.lines.contains { $0.contains("Face ID is allowed") })
    }

    @Test func alwaysEntersThePasscodeThatWasChangedLast() async throws {
        let simulator = try Simulator(sensor: .none)
        try simulator.answer(.always)
        try simulator.changePasscode(from: "1234", to: "abcdef")
        #expect(await simulator.run { await evaluate() } == nil)
    }

    @Test func neverCancelsEachPrompt() async throws {
        for sensor in [Simulator.Sensor.none, .touchID, .faceID] {
            let simulator = try Simulator(sensor: sensor)
            try simulator.answer(.never)
            await simulator.run {
                #expect(add("account", "secret", .userPresence) == errSecSuccess)
                for _ in 1...5 {
                    #expect(await evaluate() == .userCancel)
                    #expect(read("account").status == errSecUserCanceled)
                }
            }
            #expect(simulator.scriptProblem == nil)
        }
    }

    @Test(arguments: [Simulator.Answers.always, .never])
    func queuedActionsWaitUntilThePersonAnswersByThem(answers: Simulator.Answers) async throws {
        let simulator = try Simulator()
        simulator.touch(matching: false)
        simulator.chooseFallback()
        try simulator.answer(answers)
        await simulator.run {
            #expect(await evaluate(biometry) == (answers == .always ? nil : .userCancel))
            #expect(simulator.unusedActions.count == 2)
            try? simulator.answer(.byRule)
            #expect(await evaluate(biometry) == .userFallback)
        }
        #expect(simulator.unusedActions.isEmpty)
    }

    @Test func passcodesAreChangedWhileEveryPromptIsCancelled() throws {
        let simulator = try Simulator()
        try simulator.answer(.never)
        try simulator.changePasscode(from: "1234", to: "5678")
        #expect(throws: SimulatorError.self) { try simulator.removePasscode("1234") }
        try simulator.removePasscode("5678")
    }

    @Test(arguments: [(Simulator.Answers.always, nil), (.never, LAError.Code.userCancel)])
    func theShownPromptIsAnsweredToo(answers: Simulator.Answers, end: LAError.Code?) async throws {
        let simulator = try Simulator(waitsForActions: true)
        async let ending = simulator.run { await evaluate() }
        await simulator.promptIsShown()
        try simulator.answer(answers)
        #expect(await ending == end)
    }

    @Test func afterAFailedTouchAlwaysMatches() async throws {
        let simulator = try Simulator(waitsForActions: true)
        simulator.touch(matching: false)
        async let ending = simulator.run { await evaluate(biometry) }
        while !simulator.transcript.lines.contains(where: { $0.contains("not recognised") }) { await Task.yield() }
        try simulator.answer(.always)
        #expect(await ending == nil)
    }

    /// A machine that opens an existing folder has not seen its passcode. The usual one is tried once.
    @Test func aPasscodeThatThePersonDoesNotKnowEndsThePrompt() async throws {
        for (passcode, code) in [("1234", nil), ("5678", LAError.Code.notInteractive)] {
            let folder = try TemporaryFolder()
            do { _ = try Simulator(passcode: passcode, store: .folder(folder.path + "/store")) }
            let simulator = try Simulator(sensor: .none, store: .folder(folder.path + "/store"))
            try simulator.answer(.always)
            #expect(await simulator.run { await evaluate() } == code)
            #expect((simulator.scriptProblem == nil) == (code == nil))
            if code != nil {
                let problem = try #require(simulator.scriptProblem).description
                #expect(problem.contains("has no answer: the prompt \"test\" asks for the passcode."))
                #expect(problem.contains("answer(.byRule); enter(passcode:)"))
                let entries = simulator.transcript.lines.filter { $0.contains("a passcode is entered") }
                #expect(entries.count == 1)
            }
        }
    }

    @Test func aDelayedPromptEndsAlsoForAPersonWhoAlwaysAnswers() async throws {
        let simulator = try Simulator(sensor: .none)
        for wrong in ["0", "1", "2"] { simulator.enter(passcode: wrong) }
        await simulator.run {
            #expect(await evaluate() == .authenticationFailed)
            try? simulator.answer(.always)
            #expect(await evaluate() == .notInteractive)
            try? simulator.advance(by: .seconds(5))
            #expect(await evaluate() == nil)
        }
        #expect(simulator.scriptProblem?.description.contains("accepts no passcode for 5 s") == true)
    }
}
