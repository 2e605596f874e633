// SPDX-License-Identifier: Apache-2.0

import LatchkeyClient
import LatchkeyModel
public import Security
import Synchronization

/// The mechanisms that the user can authenticate with, and notifications when they change. Apple: `LAEnvironment`.
///
/// Safe to use from any thread.
public final class LAEnvironment: NSObject, Sendable {
    private let engine: Result<Client, Failure>
    private let watch: EnvironmentObservation

    /// The environment of the user who runs the program; the daemon and each simulated machine have one shared object.
    /// Apple: `LAEnvironment.currentUser`.
    public class var currentUser: LAEnvironment {
        let engine = Result { () throws(Failure) in try AppIdentity.client() }
        guard case .success(let client) = engine else { return LAEnvironment(engine) }
        return shared.withLock { shared in
            if let known = shared[ObjectIdentifier(client)]?.value { return known }
            let made = LAEnvironment(engine)
            shared = shared.filter { $0.value.value != nil }
            shared[ObjectIdentifier(client)] = WeakEnvironment(value: made)
            return made
        }
    }

    private struct WeakEnvironment: Sendable { weak var value: LAEnvironment? }
    private static let shared = Mutex<[ObjectIdentifier: WeakEnvironment]>([:])

    private init(_ engine: Result<Client, Failure>) {
        self.engine = engine
        watch = EnvironmentObservation(engine)
    }

    /// A snapshot of the mechanisms. Apple: `LAEnvironment.state`.
    ///
    /// Each access blocks for one round trip to the daemon; it never prompts. Without a daemon the state has no
    /// mechanisms.
    public var state: State { State(EnvironmentReport.now(engine)) }

    /// Notifies an observer of changes from now on. Apple: `LAEnvironment.addObserver(_:)`.
    ///
    /// Blocks for one round trip to the daemon, so that no change after this call is missed. The observer is called
    /// on a private thread, when `state` has already changed.
    ///
    /// - Parameter observer: held weakly. Adding it twice notifies it once.
    public func addObserver(_ observer: any Observer) { watch.add(observer, of: self) }

    /// Stops notifying an observer. Apple: `LAEnvironment.removeObserver(_:)`.
    ///
    /// A notification that is being delivered on the private thread may still arrive after this call.
    ///
    /// - Parameter observer: the observer; one that was not added is ignored.
    public func removeObserver(_ observer: any Observer) { watch.remove(observer) }

    /// An object that is notified when the environment changes. Apple: `LAEnvironment.Observer`.
    ///
    /// > Note: Linux: Apple's only method is optional. Here it has a default implementation that does nothing.
    public protocol Observer: NSObjectProtocol {
        /// Called after the environment has changed, on a private thread. Apple:
        /// `LAEnvironment.Observer.environment(_:stateDidChangeFromOldState:)`.
        ///
        /// - Parameters:
        ///   - environment: the environment; its `state` is already the new one.
        ///   - oldState: the state before the change.
        func environment(_ environment: LAEnvironment, stateDidChangeFromOldState oldState: LAEnvironment.State)
    }

    /// The mechanisms at one moment. Apple: `LAEnvironment.State`.
    public final class State: NSObject, NSCopying, Sendable {
        /// The biometric sensor; nil when there is none. Apple: `LAEnvironment.State.biometry`.
        public let biometry: MechanismBiometry?
        /// The passcode mechanism; nil when the daemon cannot be reached. Apple: `LAEnvironment.State.userPassword`.
        public let userPassword: MechanismUserPassword?
        /// Always empty. Apple: `LAEnvironment.State.companions`.
        ///
        /// > Note: Linux: no device can be paired.
        public let companions: [MechanismCompanion] = []
        let report: EnvironmentReport?

        init(_ report: EnvironmentReport?) {
            self.report = report
            biometry = report.flatMap { $0.biometry == .none ? nil : MechanismBiometry($0) }
            userPassword = report.map { MechanismUserPassword($0) }
        }

        /// All mechanisms: `biometry` and `userPassword`. Apple: `LAEnvironment.State.allMechanisms`.
        public var allMechanisms: [Mechanism] {
            [biometry as Mechanism?, userPassword as Mechanism?].compactMap { $0 }
        }

        /// Returns the object itself, since it is immutable. Apple: `NSCopying.copy(with:)`.
        ///
        /// - Parameter zone: ignored.
        /// - Returns: this object.
        public func copy(with zone: NSZone? = nil) -> Any { self }

        /// Returns whether two states have equal mechanisms. Apple: `NSObjectProtocol.isEqual(_:)`.
        ///
        /// - Parameter object: the object to compare with.
        /// - Returns: true for a `State` with equal mechanisms; false for any other object and nil.
        public override func isEqual(_ object: Any?) -> Bool {
            guard let other = object as? State else { return false }
            var (mine, others) = (report, other.report)
            mine?.revision = 0
            others?.revision = 0
            return mine == others
        }

        /// A hash that is the same for equal states.
        public override var hash: Int {
            var hasher = Hasher()
            hasher.combine(report?.biometryHash)
            hasher.combine(report?.isPasscodeSet)
            return hasher.finalize()
        }
    }

    /// One mechanism for authentication. Apple: `LAEnvironment.Mechanism`.
    public class Mechanism: NSObject, @unchecked Sendable {
        // Subclasses of this module add only constants.

        /// Whether `canEvaluatePolicy` would succeed for this mechanism. Apple: `LAEnvironment.Mechanism.isUsable`.
        public let isUsable: Bool
        /// The name of the mechanism, for display. Apple: `LAEnvironment.Mechanism.localizedName`.
        public let localizedName: String
        /// The name of Apple's symbol for the mechanism. Apple: `LAEnvironment.Mechanism.iconSystemName`.
        ///
        /// > Note: Linux: icon themes of Linux desktops do not have icons of these names.
        public let iconSystemName: String

        init(isUsable: Bool, localizedName: String, iconSystemName: String) {
            (self.isUsable, self.localizedName, self.iconSystemName) = (isUsable, localizedName, iconSystemName)
        }
    }

    /// The biometric sensor. Apple: `LAEnvironment.MechanismBiometry`.
    public final class MechanismBiometry: Mechanism, @unchecked Sendable {
        // Only constants.

        /// The kind of sensor, whether usable or not. Apple: `LAEnvironment.MechanismBiometry.biometryType`.
        public let biometryType: LABiometryType
        /// Whether a finger or a face is enrolled. Apple: `LAEnvironment.MechanismBiometry.isEnrolled`.
        public let isEnrolled: Bool
        /// Whether biometry is locked until the passcode is entered. Apple:
        /// `LAEnvironment.MechanismBiometry.isLockedOut`.
        public let isLockedOut: Bool
        /// 32 bytes that identify the enrolled set; empty when nothing is enrolled. Apple:
        /// `LAEnvironment.MechanismBiometry.stateHash`.
        public let stateHash: Data
        /// Whether a built-in sensor is out of reach, for example under a closed lid; always false on Linux. Apple:
        /// `LAEnvironment.MechanismBiometry.builtInSensorInaccessible`.
        public let builtInSensorInaccessible = false

        init(_ report: EnvironmentReport) {
            biometryType = LABiometryType(report.biometry)
            isEnrolled = report.isEnrolled
            isLockedOut = report.isLockedOut
            stateHash = Data(report.biometryHash ?? [])
            let (name, icon) =
                switch report.biometry {
                case .touchID: ("Fingerprint", "touchid")
                case .faceID: ("Face", "faceid")
                case .opticID: ("Eyes", "opticid")
                case .none: ("", "")
                }
            super.init(isUsable: report.isBiometryUsable, localizedName: name, iconSystemName: icon)
        }
    }

    /// Paired devices of one type. Apple: `LAEnvironment.MechanismCompanion`.
    ///
    /// > Note: Linux: no device can be paired, so there is no object of this class.
    public final class MechanismCompanion: Mechanism, @unchecked Sendable {
        // Only constants.

        /// The type of the paired devices. Apple: `LAEnvironment.MechanismCompanion.type`.
        public let type: LACompanionType
        /// Identifies the paired devices of this type. Apple: `LAEnvironment.MechanismCompanion.stateHash`.
        public let stateHash: Data?

        private init(_ type: LACompanionType) {
            self.type = type
            stateHash = nil
            super.init(isUsable: false, localizedName: "", iconSystemName: "")
        }
    }

    /// The passcode of the device. Apple: `LAEnvironment.MechanismUserPassword`.
    public final class MechanismUserPassword: Mechanism, @unchecked Sendable {
        // Only constants.

        /// Whether a passcode is set. Apple: `LAEnvironment.MechanismUserPassword.isSet`.
        public let isSet: Bool

        init(_ report: EnvironmentReport) {
            isSet = report.isPasscodeSet
            super.init(isUsable: report.isPasscodeSet, localizedName: "Passcode", iconSystemName: "lock")
        }
    }
}

extension LAEnvironment.Observer {
    /// Default implementation, which does nothing. Apple:
    /// `LAEnvironment.Observer.environment(_:stateDidChangeFromOldState:)`.
    ///
    /// - Parameters:
    ///   - environment: ignored.
    ///   - oldState: ignored.
    public func environment(_ environment: LAEnvironment, stateDidChangeFromOldState oldState: LAEnvironment.State) {}
}

extension EnvironmentReport {
    /// The environment as the engine reports it; nil when the engine cannot be reached.
    static func now(_ engine: Result<Client, Failure>) -> EnvironmentReport? { try? report(engine, unlike: nil) }

    /// Waits for a report that differs from `last`; nil when the engine cannot be reached. When the wait times out,
    /// returns the current report.
    static func next(_ engine: Result<Client, Failure>, after last: EnvironmentReport?) -> EnvironmentReport? {
        do throws(Failure) {
            return try report(engine, unlike: last?.revision)
        } catch {
            return error.status == .timedOut ? now(engine) : nil
        }
    }

    private static func report(
        _ engine: Result<Client, Failure>, unlike revision: UInt64?
    ) throws(Failure) -> EnvironmentReport {
        try engine.get().call(Request.Environment(unlike: revision))
    }
}

/// Notifies the observers of an environment. While there are observers, one thread waits for changes in a request to
/// the daemon.
final class EnvironmentObservation: Sendable {
    private struct Entry: @unchecked Sendable {
        // A weak reference is read and cleared atomically; only one thread at a time calls the observer.
        weak var observer: (any LAEnvironment.Observer)?
    }

    /// Milliseconds of back-off between two tries to reach an engine that does not respond; doubled after each try.
    private static let (shortestPause, longestPause) = (100, 60_000)

    private struct State: Sendable {
        var entries: [Entry] = []
        var isWatching = false
        /// Whether the thread pauses because the engine cannot be reached.
        var isPausing = false
    }

    private let engine: Result<Client, Failure>
    private let state = Mutex(State())
    private let comeBack = DispatchSemaphore(value: 0)

    init(_ engine: Result<Client, Failure>) { self.engine = engine }

    func add(_ observer: any LAEnvironment.Observer, of environment: LAEnvironment) {
        // Reads the state to compare with before this function returns, so that no later change is missed.
        let first = EnvironmentReport.now(engine)
        let entry = Entry(observer: observer)
        let starts = state.withLock { state in
            state.entries.removeAll { $0.observer == nil || $0.observer === entry.observer }
            state.entries.append(entry)
            if state.isPausing { comeBack.signal() }
            // Without an engine (no simulated machine in scope) there is nothing to wait for.
            guard case .success = engine else { return false }
            defer { state.isWatching = true }
            return !state.isWatching
        }
        guard starts else { return }
        Thread.detachNewThread { [weak environment, self] in
            var last = first
            var pause = Self.shortestPause
            while isObserved(environment) {
                guard let report = EnvironmentReport.next(engine, after: last) else {
                    // The engine may become reachable again, for example after an update of the daemon.
                    rest(pause)
                    pause = min(2 * pause, Self.longestPause)
                    continue
                }
                pause = Self.shortestPause
                guard let environment else { continue }
                let old = LAEnvironment.State(last)
                last = report
                // The revision also changes when only another app is affected, and when another daemon answers.
                if old.isEqual(LAEnvironment.State(report)) { continue }
                for entry in state.withLock({ $0.entries }) {
                    entry.observer?.environment(environment, stateDidChangeFromOldState: old)
                }
            }
        }
    }

    /// Pauses for at most `milliseconds`; adding an observer ends the pause.
    private func rest(_ milliseconds: Int) {
        state.withLock { $0.isPausing = true }
        _ = comeBack.wait(timeout: .now() + .milliseconds(milliseconds))
        state.withLock { $0.isPausing = false }
    }

    /// Returns whether there are observers to notify. Otherwise the thread ends, and adding an observer starts a new
    /// one.
    private func isObserved(_ environment: LAEnvironment?) -> Bool {
        state.withLock { state in
            state.entries.removeAll { $0.observer == nil }
            state.isWatching = environment != nil && !state.entries.isEmpty
            return state.isWatching
        }
    }

    func remove(_ observer: any LAEnvironment.Observer) {
        let entry = Entry(observer: observer)
        state.withLock { state in
            state.entries.removeAll { $0.observer == nil || $0.observer === entry.observer }
        }
    }
}
