// SPDX-License-Identifier: Apache-2.0

import Glibc
import KeyFileDriver
package import LatchkeyClient
import LatchkeyHost
import LatchkeyKeychain
import LatchkeyModel
import LatchkeySeams
import LatchkeyService
import SQLiteDriver
import SimulatedDriver
import SystemDriver

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

    /// Where the items are.
    public enum Store: Sendable {
        /// In memory, as long as the simulator.
        case memory
        /// In files of that folder, which is made when it is missing and opened again by the next simulator.
        case folder(String)
    }

    package let client: Client
    private let service: Service
    private let world: SimulatedWorld
    private let clock: VirtualClock

    /// Makes a machine.
    ///
    /// - Parameters:
    ///   - sensor: what is built in.
    ///   - isEnrolled: whether a finger or face is enrolled.
    ///   - passcode: the passcode, or nil for none.
    ///   - store: where items are kept.
    ///   - application: the name of the app under test, which is its access group.
    /// - Throws: `SimulatorError` when the store cannot be made or opened.
    public init(
        sensor: Sensor = .touchID, isEnrolled: Bool = true, passcode: String? = "1234", store: Store = .memory,
        application: String = "app"
    ) throws {
        ClientScope.requireWorld()
        do throws(Failure) {
            let random = SystemRandomSource()
            let state = WorldState(
                sensor: sensor.kind, enrolment: isEnrolled ? try random.bytes(16).copyBytes() : [])
            clock = VirtualClock()
            world = SimulatedWorld(state, clock: clock, random: random) { _ in }
            let keychain = try Simulator.openKeychain(store, clock, random)
            let service = Service(
                Service.Parts(
                    tier: .simulated, storePath: store.path, processID: getpid(), keychain: .success(keychain),
                    reader: world, prompter: SimulatedPrompter(world: world), clock: clock, random: random,
                    work: ImmediateWorkQueue(), controls: world))
            self.service = service
            client = Client(application: application) {
                MemoryChannel(
                    service.session(
                        caller: Caller(
                            groups: [application], label: application, processID: getpid(), userID: geteuid()),
                        terminal: 0, mayNameItself: true))
            }
            if let passcode, try !keychain.tree.isPasscodeSet() {
                _ = try client.call(.passcode(.set(SecretBytes(passcode.utf8))))
            }
        } catch {
            throw SimulatorError(error)
        }
    }

    private static func openKeychain(
        _ store: Store, _ clock: VirtualClock, _ random: SystemRandomSource
    ) throws(Failure) -> Keychain {
        let identity = StoreIdentity(tier: .simulated, userID: geteuid(), passcodeCost: 4)
        switch store {
        case .memory:
            let items = try SQLiteItemStore.inMemory()
            let vault = MemoryKeyVault(rootKey: try random.bytes(32))
            try identity.create(in: items, rootKey: vault.rootKey(), random: random)
            return try identity.open(items, vault: vault, clock: clock, random: random)
        case .folder(let path):
            let folder = StoreFolder(path)
            try folder.prepare {
                () throws(Failure) in
                try random.bytes(32)
            } build: { (path, rootKey) throws(Failure) in
                try identity.create(in: SQLiteItemStore.create(at: path), rootKey: rootKey, random: random)
            }
            return try identity.open(
                SQLiteItemStore.open(folder.database), vault: FileKeyVault(folder), clock: clock, random: random)
        }
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

    // MARK: - The person

    /// Touches the sensor, or looks at it, as soon as it watches.
    public func touch(matching: Bool) { world.perform(.touch(matching: matching)) }

    /// Types a passcode as soon as a prompt asks for one.
    public func enter(passcode: String) { world.perform(.passcode(SecretBytes(passcode.utf8))) }

    /// Chooses the fallback button as soon as it is shown.
    public func chooseFallback() { world.perform(.fallback) }

    /// Cancels the prompt as soon as there is one.
    public func cancel() { world.perform(.cancel) }

    /// Drops actions that nothing has taken.
    public func forgetActions() throws { try control(.reset) }

    // MARK: - The machine

    /// Builds in another sensor; `none` takes it out. What was enrolled stays enrolled.
    public func connect(_ sensor: Sensor) throws { try control(.sensor(sensor.kind)) }

    /// Enrols one more finger or face: the enrolled set becomes another.
    public func enrol() throws { try control(.enrol) }

    /// Forgets everything that is enrolled.
    public func unenrol() throws { try control(.unenrol) }

    /// Replaces an enrolled finger by another: the enrolled set becomes another.
    public func replaceFinger() throws { try control(.replaceFinger) }

    /// Moves the clock on; what becomes due happens before this returns. Parts of a second are dropped.
    public func advance(by duration: Duration) throws {
        try control(.advance(seconds: UInt64(clamping: duration.components.seconds)))
    }

    /// Sets the first passcode.
    public func setPasscode(_ passcode: String) throws { try call(.passcode(.set(SecretBytes(passcode.utf8)))) }

    /// Changes the passcode.
    public func changePasscode(from old: String, to new: String) throws {
        try call(.passcode(.change(old: SecretBytes(old.utf8), new: SecretBytes(new.utf8))))
    }

    /// Removes the passcode and every item that needs one.
    public func removePasscode(_ passcode: String) throws { try call(.passcode(.remove(SecretBytes(passcode.utf8)))) }

    private func control(_ command: SimulatorCommand) throws { try call(.simulate(command)) }

    private func call(_ request: Request) throws {
        do throws(Failure) {
            _ = try client.call(request)
        } catch {
            throw SimulatorError(error)
        }
    }
}

extension Simulator.Store {
    fileprivate var path: String {
        switch self {
        case .memory: ":memory:"
        case .folder(let path): path
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
