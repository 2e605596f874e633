// SPDX-License-Identifier: Apache-2.0

import Synchronization
import SystemDriver
package import TPMDriver
import TestSupport
package import Testing

/// A software TPM for each test and each case of a test with arguments, which starts when it is used first.
package struct TPMOfThisTest: TestTrait, SuiteTrait, TestScoping {
    private final class Box: Sendable {
        let content = Mutex<(tpm: SoftwareTPM, chip: TPMChip)?>(nil)
    }
    @TaskLocal private static var box: Box?

    package var isRecursive: Bool { true }

    package func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        guard testCase != nil else { return try await function() }
        try await Self.inScope(function)
    }

    /// Runs a function with a TPM of its own.
    package static func inScope(_ function: @Sendable () async throws -> Void) async throws {
        try await $box.withValue(Box()) { try await function() }
    }

    /// The TPM, started if necessary; all modules of a test share the one connection that it takes.
    package static var chip: TPMChip {
        guard let box else { preconditionFailure("the suite lacks the trait .ownTPM") }
        return box.content.withLock { content in
            if let content { return content.chip }
            do {
                let tpm = try SoftwareTPM()
                // The nonces of a TPM age by its own clock.
                let chip = TPMChip(TPMPlace(tpm.path), clock: SystemClock(), random: SystemRandomSource())
                content = (tpm, chip)
                return chip
            } catch {
                preconditionFailure("swtpm does not start: \(error)")
            }
        }
    }
}

extension Trait where Self == TPMOfThisTest {
    /// Gives each test a software TPM of its own.
    package static var ownTPM: Self { Self() }
}
