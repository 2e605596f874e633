// SPDX-License-Identifier: Apache-2.0

// The test of the README; Tests/Packages/test_sdk.py compares it with what is printed there.

import LatchkeySimulator
import LocalAuthentication
import Testing

@Test func unknownFingerIsRefused() async throws {
    let simulator = try Simulator(sensor: .touchID, passcode: "1234")
    for _ in 1...3 { simulator.touch(matching: false) }
    await simulator.run {
        await #expect(throws: LAError.self) {
            try await LAContext().evaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, localizedReason: "log in")
        }
    }
}
