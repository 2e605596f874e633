// SPDX-License-Identifier: Apache-2.0

import LatchkeySimulator
import LocalAuthentication
import Testing

/// Behaviour LA-07, as an app meets it.
@Suite struct FaceConsentTests {
    private func evaluate(
        _ simulator: Simulator, _ policy: LAPolicy = .deviceOwnerAuthenticationWithBiometrics
    ) async throws -> LAError.Code? {
        try await simulator.run {
            do {
                _ = try await LAContext().evaluatePolicy(policy, localizedReason: "log in")
                return nil
            } catch let error as LAError {
                return error.code
            }
        }
    }

    private func refusal(_ simulator: Simulator) -> (LAError.Code?, LABiometryType) {
        simulator.run {
            let context = LAContext()
            var error: NSError?
            _ = context.canEvaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, error: &error)
            return (error.map { LAError.Code(rawValue: $0.code) } ?? nil, context.biometryType)
        }
    }

    @Test func withoutAUsageDescriptionFaceIDIsNotAvailableAndStillNamed_LA07() async throws {
        let simulator = try Simulator(sensor: .faceID, faceIDUsageDescription: nil)
        #expect(refusal(simulator) == (.biometryNotAvailable, .faceID))
        #expect(try await evaluate(simulator) == .biometryNotAvailable)
        try simulator.connect(.touchID)
        #expect(refusal(simulator) == (nil, .touchID), "Touch ID has no such key")
    }

    @Test func anEmptyUsageDescriptionIsNone_LA07() async throws {
        let simulator = try Simulator(sensor: .faceID, faceIDUsageDescription: "")
        #expect(refusal(simulator) == (.biometryNotAvailable, .faceID))
    }

    @Test func theQuestionComesOnceForEachApp_LA07() async throws {
        let simulator = try Simulator(sensor: .faceID)
        simulator.setFaceIDPermission(.undetermined)
        #expect(refusal(simulator) == (nil, .faceID))
        simulator.answerFaceIDQuestion(allow: true)
        simulator.touch(matching: true)
        #expect(try await evaluate(simulator) == nil)
        simulator.touch(matching: true)
        #expect(try await evaluate(simulator) == nil)
    }

    @Test func aRefusalHoldsForLaterContextsAndARestart_LA07() async throws {
        let simulator = try Simulator(sensor: .faceID)
        simulator.setFaceIDPermission(.undetermined)
        simulator.answerFaceIDQuestion(allow: false)
        #expect(try await evaluate(simulator) == .biometryNotAvailable)
        #expect(refusal(simulator) == (.biometryNotAvailable, .faceID))
        try simulator.restart()
        #expect(refusal(simulator).0 == .biometryNotAvailable)
    }

    @Test func aRefusedAppStillHasThePasscode_LA07() async throws {
        let simulator = try Simulator(sensor: .faceID)
        simulator.setFaceIDPermission(.denied)
        simulator.enter(passcode: "1234")
        #expect(try await evaluate(simulator, .deviceOwnerAuthentication) == nil)
    }

    @Test func oneAppsRefusalIsNotAnothers_LA07() throws {
        let simulator = try Simulator(sensor: .faceID)
        simulator.setFaceIDPermission(.denied, of: "bank")
        #expect(refusal(simulator).0 == nil)
        simulator.run(as: "bank") {
            var error: NSError?
            #expect(!LAContext().canEvaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, error: &error))
        }
    }
}
