// SPDX-License-Identifier: Apache-2.0

import LatchkeySimulator
import LatchkeyTesting
import LocalAuthentication
import Testing

@Suite(.simulator()) struct CompanionTests {
    @Test func withoutAPairedDeviceNearbyTheCompanionIsNotAvailable_LA05() throws {
        #expect(preflight(.deviceOwnerAuthenticationWithCompanion) == .companionNotAvailable)
        try machine().pair(.watch)
        #expect(preflight(.deviceOwnerAuthenticationWithCompanion) == nil)
        try machine().setNearby(.watch, false)
        #expect(preflight(.deviceOwnerAuthenticationWithCompanion) == .companionNotAvailable)
    }

    @Test func eitherOfBiometryAndCompanionIsEnough_LA05() async throws {
        #expect(preflight(.deviceOwnerAuthenticationWithBiometricsOrCompanion) == nil)
        try machine().touch(matching: true)
        #expect(await evaluate(.deviceOwnerAuthenticationWithBiometricsOrCompanion) == nil)
        try machine().pair(.watch)
        try machine().connect(.none)
        try machine().confirmOnCompanion()
        #expect(await evaluate(.deviceOwnerAuthenticationWithBiometricsOrCompanion) == nil)
        try machine().unpair(.watch)
        #expect(preflight(.deviceOwnerAuthenticationWithBiometricsOrCompanion) == .companionNotAvailable)
    }

    @Test func aConfirmationEndsAPromptForAFinger() async throws {
        try machine().pair(.watch)
        try machine().touch(matching: false)
        try machine().confirmOnCompanion()
        #expect(await evaluate(.deviceOwnerAuthenticationWithBiometricsOrCompanion) == nil)
    }

    @Test func afterFailedTouchesTheCompanionCanConfirm() async throws {
        try machine().pair(.watch)
        for _ in 1...3 { try machine().touch(matching: false) }
        try machine().confirmOnCompanion()
        #expect(await evaluate(.deviceOwnerAuthenticationWithBiometricsOrCompanion) == nil)
    }

    @Test(.simulator(waitsForActions: true)) func unpairingTheCompanionEndsItsPrompt() async throws {
        try machine().pair(.watch)
        let simulator = try machine()
        async let outcome = evaluate(.deviceOwnerAuthenticationWithCompanion)
        // Unpairing ends the prompt if the evaluation is already waiting; otherwise the evaluation is refused.
        try simulator.unpair(.watch)
        #expect(await outcome == .companionNotAvailable)
    }

    @Test func wristDetectionExistsOnWatchesOnly_LA06() {
        #expect(preflight(.deviceOwnerAuthenticationWithWristDetection) == .companionNotAvailable)
    }
}
