// SPDX-License-Identifier: Apache-2.0

@_exported public import LatchkeySimulator
public import Testing

/// Runs each test on a simulated machine of its own, which is invisible to everything else in the process.
///
///     @Test(.simulator(sensor: .faceID)) func faceUnlocks() async throws {
///         Simulator.current?.presentFace(matching: true)
///         ...
///     }
///
/// A prompt that no queued action can answer ends at once, and the trait records an issue (`Simulator.scriptProblem`): at
/// the line of the next action if the prompt never accepts it, at the line of the test if no action is queued. The issue
/// names the prompt and what to queue. Actions that no prompt has used when the test ends are an issue at the line of the
/// test, unless the test threw an error.
///
/// Code on a plain thread, in a detached task or on a dispatch queue runs outside the test's task, and therefore
/// without the machine: its calls fail with a message that says so. An `LAContext` that was created inside the test
/// uses the test's machine on every thread.
public struct SimulatorTrait: TestTrait, SuiteTrait, TestScoping {
    let make: @Sendable (SourceLocation) throws -> Simulator

    /// Always true: a suite with this trait applies it to each of its tests.
    public var isRecursive: Bool { true }

    /// Runs a test on a new machine, and records an issue if a prompt ended without an answer or an action was not used.
    /// Called by Swift Testing; suspends until the test has ended.
    ///
    /// - Parameters:
    ///   - test: the test, at whose line issues are recorded.
    ///   - testCase: ignored; each case gets a machine of its own.
    ///   - function: runs the test.
    /// - Throws: `SimulatorError` when the machine cannot be created, or the error of the test.
    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        let simulator = try make(test.sourceLocation)
        // Records the issue after an error of the test too, since the script's problem is usually the cause.
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
        let unused = simulator.unusedActions
        // A prompt that ended without an answer explains the actions after it.
        if !unused.isEmpty, simulator.scriptProblem == nil {
            Issue.record(
                "No prompt has used these queued actions: \(unused.joined(separator: "; ")).",
                sourceLocation: test.sourceLocation)
        }
    }
}

extension Trait where Self == SimulatorTrait {
    /// Runs each test on a machine of its own. The defaults are those of `Simulator`.
    ///
    /// - Parameters:
    ///   - sensor: the built-in sensor.
    ///   - isEnrolled: whether a finger or a face is enrolled.
    ///   - passcode: the passcode, at least 4 characters; nil for none.
    ///   - application: the name of the app under test.
    ///   - waitsForActions: whether a prompt stays while no queued action can answer it, for tests in which another task
    ///     queues one or advances the clock while the prompt is shown.
    /// - Returns: the trait.
    public static func simulator(
        sensor: Simulator.Sensor = .touchID, isEnrolled: Bool = true, passcode: String? = "1234",
        application: String = "app", waitsForActions: Bool = false
    ) -> Self {
        SimulatorTrait { location in
            try Simulator(
                sensor: sensor, isEnrolled: isEnrolled, passcode: passcode, application: application,
                waitsForActions: waitsForActions, fileID: location.fileID, filePath: location.filePath,
                line: location.line)
        }
    }
}
