// SPDX-License-Identifier: Apache-2.0

package import LatchkeyClient
public import LatchkeyModel
package import LatchkeySeams
package import SimulatedDriver

/// A simulated machine in the test's own process: the daemon's engine with a scripted sensor, a scripted user, and a
/// clock that only the script moves.
///
///     let simulator = try Simulator()
///     simulator.touch(matching: true)
///     try await simulator.run {
///         let context = LAContext()
///         #expect(try await context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "log in"))
///     }
///
/// Actions of the user are queued. The first one is performed as soon as a prompt accepts it, so a script can be
/// written before the code that prompts. A prompt that no queued action can answer ends at once, with an error that says
/// what to queue (`scriptProblem`); with `answer(_:)` the person answers or cancels every prompt instead.
///
/// Calls of `LocalAuthentication` and `Security` use the machine of the `run`
/// that they are in, child tasks included. Calls on a plain thread or in a detached task are in no `run`, and need
/// `makeDefault`.
public final class Simulator: Sendable {
    /// The kind of the simulated sensor.
    public typealias Sensor = BiometryKind

    /// The user's answer to an app's request to use Face ID.
    public enum FaceIDPermission: Sendable {
        /// No answer yet: the next evaluation asks.
        case undetermined
        /// The app may use Face ID.
        case allowed
        /// The app may not use Face ID: evaluations fail with `LAError.biometryNotAvailable`.
        case denied

        var isAllowed: Bool? {
            switch self {
            case .undetermined: nil
            case .allowed: true
            case .denied: false
            }
        }
    }

    /// Where the machine stores its items.
    public enum Store: Sendable {
        /// In memory, until the simulator is deallocated.
        case memory
        /// In files of the folder at this path, which is created when it is missing and can be opened by a later
        /// simulator.
        case folder(String)
    }

    /// The machine of the running test, if the trait of `LatchkeyTesting` created one.
    @TaskLocal public static var current: Simulator?

    package let client: Client
    let machine: Machine
    let application: String

    /// Creates a machine. Blocks for the creation or opening of its store.
    ///
    /// From then on, calls of `LocalAuthentication` and `Security` outside a `run` fail in this process, unless a
    /// default machine is set. They never reach the user's daemon.
    ///
    /// - Parameters:
    ///   - sensor: the built-in sensor.
    ///   - isEnrolled: whether a finger or a face is enrolled.
    ///   - passcode: the passcode, at least 4 characters; nil for none. Ignored when an opened folder has a passcode.
    ///   - store: where items are stored.
    ///   - application: the name of the app under test.
    ///   - accessGroups: the access groups of the app, the one of its new items first; empty for the group of its name.
    ///   - hasSecureEnclave: whether the machine has a (software) Secure Enclave.
    ///   - faceIDUsageDescription: `NSFaceIDUsageDescription` of the app under test; nil for an app without one.
    ///   - waitsForActions: whether a prompt stays while no queued action can answer it, for tests in which another task
    ///     queues one or advances the clock while the prompt is shown.
    ///   - fileID: the file to report when a prompt ends without an answer.
    ///   - filePath: the path to report when a prompt ends without an answer.
    ///   - line: the line to report when a prompt ends without an answer.
    /// - Throws: `SimulatorError` when the store cannot be created or opened.
    public convenience init(
        sensor: Sensor = .touchID, isEnrolled: Bool = true, passcode: String? = "1234", store: Store = .memory,
        application: String = "app", accessGroups: [String] = [], hasSecureEnclave: Bool = true,
        faceIDUsageDescription: String? = "tests", waitsForActions: Bool = false, fileID: String = #fileID,
        filePath: String = #filePath, line: Int = #line
    ) throws {
        try self.init(
            sensor: sensor, isEnrolled: isEnrolled, passcode: passcode, store: store, application: application,
            accessGroups: accessGroups, enclave: hasSecureEnclave ? Machine.software : nil,
            faceIDUsageDescription: faceIDUsageDescription, waitsForActions: waitsForActions,
            place: ScriptLine(fileID: fileID, filePath: filePath, line: line))
    }

    /// Creates a machine with another enclave, for Latchkey's own tests.
    ///
    /// - Parameters:
    ///   - enclave: makes the key module, with the clock and the random source of the machine; nil for none.
    ///   - place: the line to report when a prompt ends without an answer.
    package init(
        sensor: Sensor = .touchID, isEnrolled: Bool = true, passcode: String? = "1234", store: Store = .memory,
        application: String = "app", accessGroups: [String] = [],
        enclave: (@Sendable (any Clock, any RandomSource) -> any KeyModule)?, faceIDUsageDescription: String? = "tests",
        waitsForActions: Bool = false, place: ScriptLine
    ) throws {
        self.application = application
        ClientScope.requireWorld()
        do throws(Failure) {
            let machine = try Machine(
                sensor: sensor, isEnrolled: isEnrolled, enclave: enclave, store: store,
                waitsForActions: waitsForActions, line: place)
            self.machine = machine
            client = Client(application: application, groups: accessGroups, faceUsage: faceIDUsageDescription) {
                () throws(Failure) in
                machine.connect(application)
            }
            if let passcode, try !machine.isPasscodeSet() {
                try client.call(Request.PasscodeChange.set(SecretBytes(passcode.utf8)))
            }
        } catch {
            throw SimulatorError(error)
        }
    }

    /// Runs `body` as another app on the same machine. The app has its own items, and shares the user, the sensor and
    /// the queue of actions. Blocks and prompts as `body` does.
    ///
    /// - Parameters:
    ///   - application: the name of the app.
    ///   - accessGroups: the access groups of the app, the one of its new items first; empty for the group of its name.
    ///   - body: calls `LocalAuthentication` and `Security`.
    /// - Returns: the result of `body`.
    /// - Throws: the error of `body`.
    @discardableResult
    public func run<R>(as application: String, accessGroups: [String] = [], _ body: () throws -> R) rethrows -> R {
        let machine = machine
        let other = Client(application: application, groups: accessGroups, faceUsage: "tests") { () throws(Failure) in
            machine.connect(application)
        }
        return try ClientScope.$world.withValue(other, operation: body)
    }

    // MARK: - Scope

    /// Runs `body` with this machine behind `LocalAuthentication` and `Security`, on the calling thread.
    /// Blocks and prompts as `body` does.
    ///
    /// - Parameter body: calls `LocalAuthentication` and `Security`.
    /// - Returns: the result of `body`.
    /// - Throws: the error of `body`.
    @discardableResult
    public func run<R>(_ body: () throws -> R) rethrows -> R {
        try ClientScope.$world.withValue(client, operation: body)
    }

    /// Runs `body` and its child tasks with this machine behind `LocalAuthentication` and `Security`. Suspends and prompts as
    /// `body` does.
    ///
    /// When the task is cancelled, for example by the time limit of a test, the shown prompt of the machine ends with
    /// `LAError.notInteractive`, and so does each later one until `body` returns (`scriptProblem`).
    ///
    /// - Parameters:
    ///   - isolation: the actor on which `body` runs; by default that of the caller.
    ///   - body: calls `LocalAuthentication` and `Security`.
    /// - Returns: the result of `body`.
    /// - Throws: the error of `body`.
    @discardableResult
    public func run<R>(
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> R
    ) async rethrows -> R {
        let world = machine.world
        let run = world.beginRun()
        defer { world.endRun(run) }
        return try await withTaskCancellationHandler {
            try await ClientScope.$world.withValue(client, operation: body, isolation: isolation)
        } onCancel: {
            world.cancelRun(run)
        }
    }

    /// Makes this machine the default of the process: the machine of all calls that are in no `run`.
    public func makeDefault() { ClientScope.setDefault(client) }

    /// Removes the default machine that `makeDefault` set.
    public static func resignDefault() { ClientScope.setDefault(nil) }

    func control(_ command: SimulatorCommand) throws { try call(Request.Simulate(command)) }

    func call(_ request: some DaemonRequest) throws {
        do throws(Failure) { _ = try client.call(request) } catch { throw SimulatorError(error) }
    }
}

/// Why a simulator could not do what a script requested.
public struct SimulatorError: Error, CustomStringConvertible, Sendable {
    /// What happened and, if known, what to do.
    public let description: String

    init(_ failure: Failure) {
        description = failure.hint.isEmpty ? "\(failure.message)" : "\(failure.message) \(failure.hint)"
    }
}
