// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeySimulator
import LocalAuthentication
import Security
import TestSupport
import Testing

/// Transcripts, and faults that a script injects.
@Suite(.timeLimit(.minutes(1))) struct TranscriptTests {
    @Test func aTranscriptContainsEveryStepOfAnEvaluation() async throws {
        let simulator = try Simulator()
        simulator.touch(matching: false)
        simulator.chooseFallback()
        try simulator.advance(by: .seconds(7))
        simulator.enter(passcode: "1234")
        simulator.clearTranscript()
        await simulator.run { #expect(await evaluate(.deviceOwnerAuthentication) == nil) }
        #expect(
            simulator.transcript
                == Transcript(
                    """
                    7 s  app asks: "test"
                    7 s    prompt: touchID, tries left: 3
                    7 s  another finger
                    7 s    prompt: touchID, not recognised, tries left: 2, fallback "Enter Passcode"
                    7 s  the fallback is chosen
                    7 s    prompt: passcode, tries left: 3
                    7 s  a passcode is entered
                    7 s  app gets: granted by passcode
                    """))
    }

    @Test func aTranscriptIsWrittenAndReadAgain() async throws {
        let simulator = try Simulator(sensor: .faceID)
        simulator.setFaceIDPermission(.undetermined)
        simulator.answerFaceIDQuestion(allow: false)
        await simulator.run {
            #expect(await evaluate(.deviceOwnerAuthenticationWithBiometrics) == .biometryNotAvailable)
        }
        try simulator.restart()
        #expect(simulator.transcript.lines.last == "0 s  the machine restarts")
        let folder = try TemporaryFolder()
        let file = URL(filePath: folder.path + "/transcript.txt")
        try simulator.transcript.write(to: file)
        #expect(try Transcript(contentsOf: file) == simulator.transcript)
        #expect(simulator.transcript.lines.contains { $0.contains("faceID? \"tests\"") })
    }

    @Test func aTranscriptContainsNoPasscodeAndNoSecret() async throws {
        let simulator = try Simulator(passcode: "739154")
        simulator.run { #expect(add("account", "a secret of note", .devicePasscode) == errSecSuccess) }
        simulator.enter(passcode: "000000")
        simulator.enter(passcode: "739154")
        simulator.run { #expect(read("account").secret == "a secret of note") }
        let text = simulator.transcript.description
        for secret in ["739154", "000000", "a secret of note"] { #expect(!text.contains(secret)) }
        #expect(text.contains("wrong passcode"))
    }

    // MARK: - Faults

    @Test func aFullDiskFailsOneWriteAndChangesNothing() throws {
        let simulator = try Simulator()
        try simulator.run {
            try simulator.failNext(.diskFull)
            #expect(add("account", "lost") == errSecDiskFull)
            #expect(read("account").status == errSecItemNotFound)
            #expect(add("account", "kept") == errSecSuccess)
            #expect(read("account").secret == "kept")
        }
    }

    @Test func aWriteThatFailsForAnotherReasonDoesNotConsumeTheFault() throws {
        let simulator = try Simulator()
        try simulator.run {
            #expect(add("account", "kept") == errSecSuccess)
            try simulator.failNext(.diskFull)
            #expect(add("account", "again") == errSecDuplicateItem)
            #expect(add("other", "lost") == errSecDiskFull)
            #expect(add("other", "kept") == errSecSuccess)
        }
    }

    @Test func aMissingEntitlementFailsOneCall() throws {
        let simulator = try Simulator()
        try simulator.run {
            #expect(add("account") == errSecSuccess)
            try simulator.failNext(.missingEntitlement)
            #expect(read("account").status == errSecMissingEntitlement)
            #expect(read("account").status == errSecSuccess)
        }
    }

    @Test func afterASensorFailureThePasscodeCanBeUsed() async throws {
        let simulator = try Simulator()
        try simulator.failNext(.sensor)
        await simulator.run {
            #expect(await evaluate(.deviceOwnerAuthenticationWithBiometrics) == .biometryNotAvailable)
        }
        try simulator.failNext(.sensor)
        simulator.enter(passcode: "1234")
        await simulator.run { #expect(await evaluate(.deviceOwnerAuthentication) == nil) }
    }

    @Test func removingTheSensorDuringAScanEndsTheEvaluation_LA02() async throws {
        let simulator = try Simulator(waitsForActions: true)
        async let end = simulator.run { await evaluate(.deviceOwnerAuthenticationWithBiometrics) }
        while !simulator.transcript.lines.contains(where: { $0.contains("prompt:") }) { await Task.yield() }
        try simulator.connect(.none)
        #expect(await end == .biometryNotAvailable)
    }

    // MARK: - Any passcode

    @Test func acceptsAnyPasscodeAcceptsEveryPasscode() async throws {
        let simulator = try Simulator(sensor: .none)
        try simulator.setAcceptsAnyPasscode(true)
        simulator.enter(passcode: "anything")
        await simulator.run { #expect(await evaluate(.deviceOwnerAuthentication) == nil) }
        try simulator.setAcceptsAnyPasscode(false)
        for wrong in ["anything", "else", "more"] { simulator.enter(passcode: wrong) }
        await simulator.run { #expect(await evaluate(.deviceOwnerAuthentication) == .authenticationFailed) }
    }

    @Test func acceptsAnyPasscodeNeedsAMachineWithAPasscode() throws {
        let simulator = try Simulator(passcode: nil)
        #expect(throws: SimulatorError.self) { try simulator.setAcceptsAnyPasscode(true) }
    }
}
