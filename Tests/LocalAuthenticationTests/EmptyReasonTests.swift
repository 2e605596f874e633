// SPDX-License-Identifier: Apache-2.0

import LatchkeySimulator
import LocalAuthentication
import Testing

/// An empty reason is a programming error and stops the program, as on Apple systems.
@Suite struct EmptyReasonTests {
    @Test func anEmptyReasonStopsTheProgram_LA21() async {
        await #expect(processExitsWith: .failure) {
            let simulator = try Simulator()
            simulator.cancel()
            let context = simulator.run { LAContext() }
            context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "") { _, _ in }
        }
    }

    @Test func anEmptyReasonStopsTheProgramInTheAsynchronousForm_LA21() async {
        await #expect(processExitsWith: .failure) {
            let simulator = try Simulator()
            simulator.cancel()
            try? await simulator.run {
                _ = try await LAContext().evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "")
            }
        }
    }

    /// The same program with a reason does not stop; shows that the tests above can fail.
    @Test func aReasonDoesNotStopTheProgram_LA21() async {
        await #expect(processExitsWith: .success) {
            let simulator = try Simulator()
            simulator.cancel()
            try? await simulator.run {
                _ = try await LAContext().evaluatePolicy(.deviceOwnerAuthentication, localizedReason: " ")
            }
        }
    }
}
