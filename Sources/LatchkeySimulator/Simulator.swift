// SPDX-License-Identifier: Apache-2.0

package import LatchkeyClient
import LatchkeyModel

/// A whole Latchkey in the test's own process: the real engine, with a scripted sensor, a scripted person and a clock
/// that only the script moves.
///
///     let simulator = try Simulator()
///     simulator.touch(matching: true)
///     try await simulator.run {
///         let context = LAContext()
///         #expect(try await context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "log in"))
///     }
///
/// What a person does waits in one line: each action is taken as soon as a prompt can take it, so a script may be
/// written before the code that prompts runs. Calls of the API modules go to the simulator of the `run` they are in,
/// child tasks included; a plain thread or a detached task is in none, and needs `makeDefault`.
public final class Simulator: Sendable {
    /// The kind of sensor.
    public enum Sensor: Sendable {
        /// No sensor.
        case none
        /// A fingerprint reader.
        case touchID
        /// A face camera.
        case faceID
        /// An eye camera.
        case opticID

        var kind: BiometryKind {
            switch self {
            case .none: .none
            case .touchID: .touchID
            case .faceID: .faceID
            case .opticID: .opticID
            }
        }
    }

    /// A paired device.
    public enum Companion: Sendable {
        /// A watch.
        case watch
        /// A Mac.
        case mac
        /// A headset.
        case vision

        var type: CompanionType {
            switch self {
            case .watch: .watch
            case .mac: .mac
            case .vision: .vision
            }
        }
    }

    /// What a person has told an app that asked to use Face ID.
    public enum FaceIDPermission: Sendable {
        /// Nothing so far: the next evaluation asks.
        case undetermined
        /// The app may.
        case allowed
        /// The app may not: `biometryNotAvailable`.
        case denied

        var isAllowed: Bool? {
            switch self {
            case .undetermined: nil
            case .allowed: true
            case .denied: false
            }
        }
    }

    /// Where the items are.
    public enum Store: Sendable {
        /// In memory, as long as the simulator.
        case memory
        /// In files of that folder, which is made when it is missing and opened again by the next simulator.
        case folder(String)
    }

    /// The simulator of the test that runs, where the trait of `LatchkeyTesting` made one.
    @TaskLocal public static var current: Simulator?

    package let client: Client
    let machine: Machine
    let application: String

    /// Makes a machine.
    ///
    /// - Parameters:
    ///   - sensor: what is built in.
    ///   - isEnrolled: whether a finger or face is enrolled.
    ///   - passcode: the passcode, or nil for none.
    ///   - store: where items are kept.
    ///   - application: the name of the app under test.
    ///   - accessGroups: its access groups, the one of its new items first; without any, the one of its name.
    ///   - hasSecureEnclave: whether there is something that holds private keys.
    ///   - faceIDUsageDescription: `NSFaceIDUsageDescription` of the app under test; nil for an app that lacks it.
    /// - Throws: `SimulatorError` when the store cannot be made or opened.
    public init(
        sensor: Sensor = .touchID, isEnrolled: Bool = true, passcode: String? = "1234", store: Store = .memory,
        application: String = "app", accessGroups: [String] = [], hasSecureEnclave: Bool = true,
        faceIDUsageDescription: String? = "tests"
    ) throws {
        self.application = application
        ClientScope.requireWorld()
        do throws(Failure) {
            let machine = try Machine(
                sensor: sensor.kind, isEnrolled: isEnrolled, hasSecureEnclave: hasSecureEnclave, store: store)
            self.machine = machine
            client = Client(application: application, groups: accessGroups, faceUsage: faceIDUsageDescription) {
                () throws(Failure) in
                machine.connect(application)
            }
            if let passcode, try !machine.isPasscodeSet() {
                _ = try client.call(.passcode(.set(SecretBytes(passcode.utf8))))
            }
        } catch {
            throw SimulatorError(error)
        }
    }

    /// Another app on the same machine: its items are its own, the person and the sensor are shared.
    ///
    /// - Parameters:
    ///   - application: its name.
    ///   - accessGroups: its access groups, the one of its new items first; without any, the one of its name.
    ///   - body: what it does.
    public func run<R>(as application: String, accessGroups: [String] = [], _ body: () throws -> R) rethrows -> R {
        let machine = machine
        let other = Client(application: application, groups: accessGroups, faceUsage: "tests") { () throws(Failure) in
            machine.connect(application)
        }
        return try ClientScope.$world.withValue(other, operation: body)
    }

    // MARK: - Scope

    /// Runs `body` with this machine behind `LocalAuthentication` and `Security`.
    public func run<R>(_ body: () throws -> R) rethrows -> R {
        try ClientScope.$world.withValue(client, operation: body)
    }

    /// Runs `body` with this machine behind `LocalAuthentication` and `Security`, child tasks included.
    public func run<R>(
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> R
    ) async rethrows -> R {
        try await ClientScope.$world.withValue(client, operation: body, isolation: isolation)
    }

    /// Puts this machine behind every call of the process that is in no `run`.
    public func makeDefault() { ClientScope.setDefault(client) }

    /// Takes away what `makeDefault` set.
    public static func resignDefault() { ClientScope.setDefault(nil) }

    func control(_ command: SimulatorCommand) throws { try call(.simulate(command)) }

    func call(_ request: Request) throws {
        do throws(Failure) {
            _ = try client.call(request)
        } catch {
            throw SimulatorError(error)
        }
    }
}

/// Why a simulator could not do what a script asked for.
public struct SimulatorError: Error, CustomStringConvertible, Sendable {
    /// What happened and, where there is something, what to do.
    public let description: String

    init(_ failure: Failure) {
        description = failure.hint.isEmpty ? failure.message : "\(failure.message) \(failure.hint)"
    }
}
