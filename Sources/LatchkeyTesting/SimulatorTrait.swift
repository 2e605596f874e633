// SPDX-License-Identifier: Apache-2.0

@_exported public import LatchkeySimulator
public import Testing

/// Gives every test a machine of its own, which nothing else in the process can see.
///
///     @Test(.simulator(sensor: .faceID)) func aFaceUnlocks() async throws {
///         Simulator.current?.touch(matching: true)
///         ...
///     }
///
/// A script that cannot go on is an issue at the line of the action that came next (`Simulator.scriptProblem`).
///
/// Code that hops to a plain thread, a detached task or a queue leaves the test's task, and with it the machine: its
/// calls fail with a text that says so. An `LAContext` made inside the test keeps its machine wherever it is used.
public struct SimulatorTrait: TestTrait, SuiteTrait, TestScoping {
    let make: @Sendable () throws -> Simulator

    /// A suite hands the trait to each of its tests.
    public var isRecursive: Bool { true }

    /// Runs a test on a fresh machine.
    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        let simulator = try make()
        // Also behind an error: it is the reason of it.
        defer {
            if let problem = simulator.scriptProblem {
                Issue.record(
                    "\(problem.description)",
                    sourceLocation: SourceLocation(
                        fileID: problem.fileID, filePath: problem.filePath, line: problem.line, column: 1))
            }
        }
        try await Simulator.$current.withValue(simulator) {
            try await simulator.run { try await function() }
        }
    }
}

extension Trait where Self == SimulatorTrait {
    /// A machine with that sensor, enrolled or not, and that passcode; the defaults are those of `Simulator`.
    public static func simulator(
        sensor: Simulator.Sensor = .touchID, isEnrolled: Bool = true, passcode: String? = "1234",
        application: String = "app"
    ) -> Self {
        SimulatorTrait {
            try Simulator(sensor: sensor, isEnrolled: isEnrolled, passcode: passcode, application: application)
        }
    }
}
