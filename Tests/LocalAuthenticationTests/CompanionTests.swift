// SPDX-License-Identifier: Apache-2.0

import LatchkeySimulator
import LatchkeyTesting
import LocalAuthentication
import Testing

@Suite(.simulator()) struct CompanionTests {
    @Test func thereIsNoPairedDevice_LA05() async throws {
        #expect(preflight(.deviceOwnerAuthenticationWithCompanion) == .companionNotAvailable)
        #expect(await evaluate(.deviceOwnerAuthenticationWithCompanion) == .companionNotAvailable)
    }

    @Test func biometryIsEnough_LA05() async throws {
        #expect(preflight(.deviceOwnerAuthenticationWithBiometricsOrCompanion) == nil)
        try machine().touch(matching: true)
        #expect(await evaluate(.deviceOwnerAuthenticationWithBiometricsOrCompanion) == nil)
        try machine().connect(.none)
        #expect(preflight(.deviceOwnerAuthenticationWithBiometricsOrCompanion) == .companionNotAvailable)
        #expect(await evaluate(.deviceOwnerAuthenticationWithBiometricsOrCompanion) == .companionNotAvailable)
    }

    @Test func wristDetectionExistsOnWatchesOnly_LA06() {
        #expect(preflight(.deviceOwnerAuthenticationWithWristDetection) == .companionNotAvailable)
    }
}
