// SPDX-License-Identifier: Apache-2.0

import LatchkeySimulator
import LatchkeyTesting
import LocalAuthentication
import Testing

@Suite(.simulator()) struct RightTests {
    @Test func aNewRightIsUnknownAndIsAuthorizedByAFinger_RI01() async throws {
        let right = LARight()
        #expect(right.state == .unknown && right.tag == 0)
        try machine().touch(matching: true)
        try await right.authorize(localizedReason: "test")
        #expect(right.state == .authorized)
        await right.deauthorize()
        #expect(right.state == .notAuthorized)
    }

    @Test func afterAFailureTheRightIsNotAuthorized_RI01() async throws {
        let right = LARight(requirement: .biometry)
        for _ in 1...3 { try machine().touch(matching: false) }
        do {
            try await right.authorize(localizedReason: "test")
            Issue.record("a stranger was let in")
        } catch LAError.authenticationFailed {
        }
        #expect(right.state == .notAuthorized)
    }

    @Test func theDefaultRequirementAcceptsAPasscodeAndBiometryDoesNot_RI02() async throws {
        try machine().unenroll()
        let biometry = LARight(requirement: .biometry)
        await #expect(throws: (any Error).self) { try await biometry.checkCanAuthorize() }
        let right = LARight()
        try await right.checkCanAuthorize()
        try machine().enter(passcode: "1234")
        try await right.authorize(localizedReason: "test")
        #expect(right.state == .authorized)
    }

    @Test func anEnrolmentChangeDisablesARightOfTheCurrentSet_RI02() async throws {
        let right = LARight(requirement: .biometryCurrentSet)
        try machine().touch(matching: true)
        try await right.authorize(localizedReason: "test")
        try machine().replaceFinger()
        try machine().touch(matching: true)
        await #expect(throws: (any Error).self) { try await right.authorize(localizedReason: "test") }
        #expect(right.state == .notAuthorized)
    }

    @Test func aFallbackRequirementAcceptsThePasscode_RI02() async throws {
        let right = LARight(requirement: .biometry(fallback: .devicePasscode))
        for _ in 1...3 { try machine().touch(matching: false) }
        try machine().enter(passcode: "1234")
        try await right.authorize(localizedReason: "test")
        #expect(right.state == .authorized)
    }
}
