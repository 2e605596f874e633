// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams

/// fprintd as the trusted owner of its name on the bus, and calls of it. Used on the bus's thread only.
final class FprintService {
    let bus: SystemBus
    private let timing: FprintReader.Timing
    private let log: any EventLog
    private let name: BusNameOwner
    /// Called when the owner has changed: everything that the earlier one has said is void.
    var ownerChanged: (_ isRunning: Bool) -> Void = { _ in }

    init(_ bus: SystemBus, _ timing: FprintReader.Timing, trustedUser: UInt32, log: any EventLog) {
        self.bus = bus
        self.timing = timing
        self.log = log
        name = BusNameOwner(
            FprintName.service, on: bus, trustedUser: trustedUser, call: timing.call, start: timing.start)
    }

    func start() {
        name.changed = { [weak self] isRunning in self?.ownerChanged(isRunning) }
        name.refused = { [weak self] refusal in self?.log(refusal) }
        name.start()
    }

    /// The unique name of fprintd's connection; nil if it is unknown, not trusted, or there is none.
    var owner: String? { name.owner }

    /// Determines the trusted owner of the name, and has the bus start fprintd if it does not run. A failure is logged
    /// here.
    func resolve(_ done: @escaping (Result<String, Failure>) -> Void) {
        name.resolve { result in done(result.mapError { Self.failure($0) }) }
    }

    private func log(_ refusal: BusNameOwner.Refusal) {
        switch refusal {
        // No error: this machine has no fingerprint reader.
        case .notInstalled, .notRunning: return
        case .untrusted: log.record(.sensorRefused, Self.failure(refusal))
        case .startFailed, .unknown, .userUnknown, .changed: log.record(.sensorFailed, Self.failure(refusal))
        }
    }

    private static func failure(_ refusal: BusNameOwner.Refusal) -> Failure {
        switch refusal {
        case .notInstalled, .notRunning: Failure(.biometryNotAvailable, "fprintd is not installed.")
        case .startFailed(let error):
            unusable("The fingerprint reader cannot be used: fprintd does not start (\(error.description)).")
        case .unknown(.disconnected(let code)), .userUnknown(.disconnected(let code)):
            Failure(
                .biometryNotAvailable,
                "No fingerprint reader can be used: there is no connection to the system's message bus (\(code)).",
                hint: "See: systemctl status dbus")
        case .unknown(let error):
            unusable(
                """
                The fingerprint reader cannot be used: the system's message bus does not say whether fprintd runs \
                (\(error.description)).
                """)
        case .userUnknown(let error):
            unusable("The fingerprint reader cannot be used: the user of fprintd is unknown (\(error.description)).")
        case .changed: unusable("The fingerprint reader cannot be used: fprintd was restarted.")
        case .untrusted(let user?):
            untrusted(
                """
                The name \(FprintName.service) on the system's message bus belongs to user \(user), not to root: its \
                fingerprint reader is not used.
                """)
        case .untrusted(nil):
            untrusted(
                """
                The name \(FprintName.service) on the system's message bus belongs to an unknown user, not to root: its \
                fingerprint reader is not used.
                """)
        }
    }

    private static func untrusted(_ message: Phrase) -> Failure {
        Failure(.peerNotTrusted, message, hint: "See: busctl status \(FprintName.service)")
    }

    private static func unusable(_ message: Phrase) -> Failure {
        Failure(.biometryNotAvailable, message, hint: "See: systemctl status fprintd")
    }

    // MARK: - Calls

    /// Calls a method of a device, or of the manager without `device`. The call goes to the connection of the trusted
    /// owner, so that another program that takes the name meanwhile never receives it.
    func call(
        _ member: String, of device: String? = nil, _ arguments: [BusValue] = [],
        _ done: @escaping (Result<[BusValue], BusError>) -> Void
    ) {
        guard let owner else {
            bus.after(milliseconds: 0) { done(.failure(.disconnected(0))) }
            return
        }
        let call = BusCall(
            owner, device ?? FprintName.managerPath, device == nil ? FprintName.manager : FprintName.device, member,
            arguments)
        bus.call(call, milliseconds: timing.call, done)
    }

    /// Calls `done` when the machine does not sleep and is not about to, as logind says; at once without an answer.
    ///
    /// fprintd suspends its devices at the same signal as other programs lock. It forgets a claim that it is asked to
    /// release meanwhile, and leaves the device open, so that no program can claim it until fprintd ends.
    func whenAwake(_ done: @escaping () -> Void) { askForSleep(0, done) }

    private func askForSleep(_ asked: Int, _ done: @escaping () -> Void) {
        let call = BusCall(
            "org.freedesktop.login1", "/org/freedesktop/login1", "org.freedesktop.DBus.Properties", "Get",
            [.string("org.freedesktop.login1.Manager"), .string("PreparingForSleep")])
        bus.call(call, milliseconds: timing.call) { [self] result in
            var isSleeping = false
            if case .success(let values) = result { isSleeping = values.first?.content?.flag ?? false }
            guard isSleeping, asked < Self.mostQuestions else {
                // fprintd wakes its devices at the same signal that has changed the property.
                return asked == 0 ? done() : wait(done)
            }
            wait { [self] in askForSleep(asked + 1, done) }
        }
    }

    private func wait(_ body: @escaping () -> Void) { bus.after(milliseconds: timing.sleep, body) }

    /// Questions at most: about 30 seconds, in which the clock of a sleeping machine stands still.
    private static let mostQuestions = 120

    func devices(_ done: @escaping (Result<[String], BusError>) -> Void) {
        call("GetDevices") { result in
            done(result.map { $0.first?.values?.compactMap(\.text).prefix(Self.mostDevices).map { $0 } ?? [] })
        }
    }

    /// A property of a device; nil if it has none. sd-bus has functions for properties, but refuses names with a hyphen.
    func property(_ name: String, of path: String, _ done: @escaping (Result<BusValue?, BusError>) -> Void) {
        guard let owner else {
            bus.after(milliseconds: 0) { done(.failure(.disconnected(0))) }
            return
        }
        let call = BusCall(
            owner, path, "org.freedesktop.DBus.Properties", "Get", [.string(FprintName.device), .string(name)])
        bus.call(call, milliseconds: timing.call) { done($0.map { $0.first?.content }) }
    }

    /// The names of a user's enrolled fingers; empty if there are none.
    func fingers(of account: String, _ device: String, _ done: @escaping (Result<[String], BusError>) -> Void) {
        call("ListEnrolledFingers", of: device, [.string(account)]) { result in
            if case .failure(let error) = result, FprintName.Refusal(error) == .noEnrolledPrints {
                return done(.success([]))
            }
            done(result.map { $0.first?.values?.compactMap(\.text) ?? [] })
        }
    }

    private static let mostDevices = 16
}

/// The names of fprintd's D-Bus interface.
enum FprintName {
    static let service = "net.reactivated.Fprint"
    static let manager = "net.reactivated.Fprint.Manager"
    static let device = "net.reactivated.Fprint.Device"
    static let managerPath = "/net/reactivated/Fprint/Manager"
    /// The path above all devices.
    static let root = "/net/reactivated/Fprint"
    private static let error = "net.reactivated.Fprint.Error."

    /// Whether an error says that a device is gone: fprintd's own, or that of GDBus for a path without an object.
    static func isGone(_ error: BusError) -> Bool {
        guard case .refused(let name, _) = error else { return false }
        return Refusal(error) == .noSuchDevice || name == "org.freedesktop.DBus.Error.UnknownObject"
            || name == "org.freedesktop.DBus.Error.UnknownMethod"
    }

    /// An error by which fprintd refuses a call.
    enum Refusal: String {
        case claimDevice = "ClaimDevice"
        case alreadyInUse = "AlreadyInUse"
        case `internal` = "Internal"
        case permissionDenied = "PermissionDenied"
        case noEnrolledPrints = "NoEnrolledPrints"
        case noActionInProgress = "NoActionInProgress"
        case invalidFingername = "InvalidFingername"
        case noSuchDevice = "NoSuchDevice"

        /// The refusal that an error contains; nil for an error that fprintd has not made.
        init?(_ error: BusError) {
            guard case .refused(let name, _) = error, name.hasPrefix(FprintName.error) else { return nil }
            self.init(rawValue: String(name.dropFirst(FprintName.error.count)))
        }
    }
}
