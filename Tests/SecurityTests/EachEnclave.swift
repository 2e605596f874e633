// SPDX-License-Identifier: Apache-2.0

import LatchkeySimulator
import SeamStandIns
import SimulatedDriver
import TPMDriver
import TestSupport
import Testing

/// Runs each test twice: with keys that software makes, and with keys of a TPM. What an app sees is the same, except
/// where a test asks `isTPM`.
struct EachEnclave: TestTrait, SuiteTrait, TestScoping {
    @TaskLocal static var isTPM = false

    var isRecursive: Bool { true }

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        guard testCase != nil else { return try await function() }
        try await function()
        guard Need.softwareTPM.isMet() else { return }
        try await Self.$isTPM.withValue(true) {
            try await TPMOfThisTest.inScope { try await function() }
        }
    }

    /// A machine whose enclave is the one with which the test runs.
    static func machine(sensor: Simulator.Sensor = .touchID) throws -> Simulator {
        guard isTPM else { return try Simulator(sensor: sensor) }
        let chip = TPMOfThisTest.chip
        return try Simulator(
            sensor: sensor,
            enclave: { (clock, _) in
                TPMEnclave(chip, clock: clock, allowsVirtual: true)
            }, place: ScriptLine(fileID: #fileID, filePath: #filePath, line: #line))
    }
}

extension Trait where Self == EachEnclave {
    /// Runs each test with keys of software, then with keys of a TPM of its own.
    static var onEachEnclave: Self { Self() }
}
