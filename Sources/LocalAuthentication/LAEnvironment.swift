// SPDX-License-Identifier: Apache-2.0

import LatchkeyClient
import LatchkeyModel
public import Security
import Synchronization

/// The ways to authenticate that there are, and when they change. Apple: `LAEnvironment`.
public final class LAEnvironment: NSObject, Sendable {
    private let engine: Result<Client, Failure>
    private let watch: EnvironmentObservation

    /// The environment of the user who runs the program: one shared object for each engine.
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

    /// The ways as they are now: a snapshot. Blocks for one round trip to the daemon; never prompts.
    public var state: State { State(EnvironmentReport.now(engine)) }

    /// Tells an observer of changes from now on. It is held weakly, and is called on a private queue, when `state` is
    /// the new one already.
    public func addObserver(_ observer: any Observer) { watch.add(observer, of: self) }

    /// Tells an observer no more.
    public func removeObserver(_ observer: any Observer) { watch.remove(observer) }

    /// Who is told of changes. Apple: `LAEnvironment.Observer`, whose one method is optional; here it has an empty
    /// default.
    public protocol Observer: NSObjectProtocol {
        /// The environment has become another.
        func environment(_ environment: LAEnvironment, stateDidChangeFromOldState oldState: LAEnvironment.State)
    }

    /// The ways to authenticate at one moment. Apple: `LAEnvironment.State`.
    public final class State: NSObject, NSCopying, Sendable {
        /// The sensor; nil when there is none.
        public let biometry: MechanismBiometry?
        /// The passcode.
        public let userPassword: MechanismUserPassword?
        /// One entry for each type of which a device is paired, whether it can be reached or not.
        public let companions: [MechanismCompanion]
        let report: EnvironmentReport?

        init(_ report: EnvironmentReport?) {
            self.report = report
            biometry = report.flatMap { $0.biometry == .none ? nil : MechanismBiometry($0) }
            userPassword = report.map { MechanismUserPassword($0) }
            companions = (report?.companions ?? [:]).sorted { $0.key.rawValue < $1.key.rawValue }.map { type, hash in
                MechanismCompanion(LACompanionType(type), Data(hash), report?.isCompanionUsable ?? false)
            }
        }

        /// All of the others.
        public var allMechanisms: [Mechanism] {
            [biometry as Mechanism?, userPassword as Mechanism?].compactMap { $0 } + companions
        }

        /// The same object: it does not change.
        public func copy(with zone: NSZone? = nil) -> Any { self }

        /// Whether both say the same.
        public override func isEqual(_ object: Any?) -> Bool {
            guard let other = object as? State else { return false }
            var (mine, others) = (report, other.report)
            mine?.revision = 0
            others?.revision = 0
            return mine == others
        }

        /// Equal for states that say the same.
        public override var hash: Int {
            var hasher = Hasher()
            hasher.combine(report?.biometryHash)
            hasher.combine(report?.isPasscodeSet)
            return hasher.finalize()
        }
    }

    /// One way to authenticate. Apple: `LAEnvironment.Mechanism`.
    public class Mechanism: NSObject, @unchecked Sendable {
        // Subclasses of this module add constants only.

        /// Whether `canEvaluatePolicy` would succeed for it.
        public let isUsable: Bool
        /// Its name for a person.
        public let localizedName: String
        /// The name of an icon: Apple's symbol names, which Linux icon themes do not have.
        public let iconSystemName: String

        init(isUsable: Bool, localizedName: String, iconSystemName: String) {
            self.isUsable = isUsable
            self.localizedName = localizedName
            self.iconSystemName = iconSystemName
        }
    }

    /// The sensor. Apple: `LAEnvironment.MechanismBiometry`.
    public final class MechanismBiometry: Mechanism, @unchecked Sendable {
        // Constants only.

        /// Its kind, whether usable or not.
        public let biometryType: LABiometryType
        /// Whether a finger or face is enrolled.
        public let isEnrolled: Bool
        /// Whether it waits for a passcode.
        public let isLockedOut: Bool
        /// The hash of `LADomainStateBiometry`; empty when nothing is enrolled.
        public let stateHash: Data
        /// Whether a built-in sensor cannot be reached, as under a closed lid. Always false here.
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
    public final class MechanismCompanion: Mechanism, @unchecked Sendable {
        // Constants only.

        /// Their type.
        public let type: LACompanionType
        /// The hash of `LADomainStateCompanion` for this type.
        public let stateHash: Data?

        init(_ type: LACompanionType, _ hash: Data, _ isUsable: Bool) {
            self.type = type
            stateHash = hash
            let (name, icon) =
                switch type {
                case .watch: ("Watch", "applewatch")
                case .mac: ("Computer", "desktopcomputer")
                case .vision: ("Headset", "visionpro")
                }
            super.init(isUsable: isUsable, localizedName: name, iconSystemName: icon)
        }
    }

    /// The passcode. Apple: `LAEnvironment.MechanismUserPassword`.
    public final class MechanismUserPassword: Mechanism, @unchecked Sendable {
        // Constants only.

        /// Whether one is set.
        public let isSet: Bool

        init(_ report: EnvironmentReport) {
            isSet = report.isPasscodeSet
            super.init(isUsable: report.isPasscodeSet, localizedName: "Passcode", iconSystemName: "lock")
        }
    }
}

extension LAEnvironment.Observer {
    /// Does nothing.
    public func environment(_ environment: LAEnvironment, stateDidChangeFromOldState oldState: LAEnvironment.State) {}
}

extension EnvironmentReport {
    /// The environment as an engine reports it; nil when it cannot be reached.
    static func now(_ engine: Result<Client, Failure>) -> EnvironmentReport? { try? report(engine, unlike: nil) }

    /// The environment that comes after `last`; nil when the engine cannot be reached. A wait that was too long ends with
    /// what is there now.
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
        guard case .environment(let report) = try engine.get().call(.environment(unlike: revision)) else {
            throw Failure(.internalFailure, "The daemon's answer is of another kind.")
        }
        return report
    }
}
