// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import SystemBus

/// fprintd as the owner of its name on the bus: who that is, whether it is trusted, and calls of it.
///
/// No signal of fprintd carries a proof. Results are accepted only from the connection that owns the name and that
/// belongs to root, so that the trust is in root and in the bus, which sets the sender of each message. Used on the bus's
/// thread only.
final class FprintService {
    let bus: SystemBus
    private let timing: FprintReader.Timing
    /// The user that may own the name: root, or another one in tests.
    private let trustedUser: UInt32
    private let log: any EventLog
    /// The unique name of fprintd's connection; nil if it is unknown, not trusted, or there is none.
    private(set) var owner: String?
    private var resolving: [(Result<String, Failure>) -> Void] = []
    /// Increases with each change of the owner, so that an answer about an earlier one is not used.
    private var generation = 0
    /// Called when the owner has changed: everything that the earlier one has said is void.
    var ownerChanged: (_ isRunning: Bool) -> Void = { _ in }

    init(_ bus: SystemBus, _ timing: FprintReader.Timing, trustedUser: UInt32, log: any EventLog) {
        self.bus = bus
        self.timing = timing
        self.trustedUser = trustedUser
        self.log = log
    }

    /// Begins to follow the owner of the name.
    func start() {
        bus.observe(
            "type='signal',sender='org.freedesktop.DBus',path='/org/freedesktop/DBus',"
                + "interface='org.freedesktop.DBus',member='NameOwnerChanged',arg0='\(FprintName.service)'"
        ) { [weak self] signal in
            // The name of the bus belongs to the bus itself: no program can send as it.
            guard signal.sender == "org.freedesktop.DBus", signal.arguments.count == 3,
                signal.arguments[0].text == FprintName.service, let new = signal.arguments[2].text
            else { return }
            self?.forget(isRunning: !new.isEmpty)
        }
        bus.whenLost { [weak self] in self?.forget(isRunning: false) }
    }

    private func forget(isRunning: Bool) {
        generation += 1
        owner = nil
        ownerChanged(isRunning)
    }

    // MARK: - The owner

    /// Determines the trusted owner of the name, and has the bus start fprintd if it does not run. A failure is logged
    /// here.
    func resolve(_ done: @escaping (Result<String, Failure>) -> Void) {
        if let owner { return done(.success(owner)) }
        resolving.append(done)
        guard resolving.count == 1 else { return }
        askBus("GetNameOwner") { [self] result in
            if case .failure(.refused(let name, _)) = result, name.hasSuffix(".NameHasNoOwner") {
                return startProgram()
            }
            named(result)
        }
    }

    private func startProgram() {
        let call = BusCall(
            Self.busName, Self.busPath, Self.busName, "StartServiceByName",
            [.string(FprintName.service), .integer(0)])
        bus.call(call, milliseconds: timing.start) { [self] result in
            switch result {
            case .success: askBus("GetNameOwner") { self.named($0) }
            // Not installed, which is no error: this machine has no fingerprint reader.
            case .failure(.refused(let name, _)) where name == "org.freedesktop.DBus.Error.ServiceUnknown":
                finish(.failure(Failure(.biometryNotAvailable, "fprintd is not installed.")))
            case .failure(let error): finish(.failure(unavailable("fprintd does not start", error)))
            }
        }
    }

    private func named(_ result: Result<[BusValue], BusError>) {
        switch result {
        case .failure(let error): finish(.failure(unavailable("fprintd does not run", error)))
        case .success(let values):
            guard let name = values.first?.text, name.hasPrefix(":") else {
                return finish(.failure(unavailable("fprintd has no connection", .malformed)))
            }
            let asked = generation
            askBus("GetConnectionUnixUser", of: name) { [self] result in
                guard asked == generation else {
                    return finish(.failure(unavailable("fprintd was restarted", .disconnected(0))))
                }
                switch result {
                case .failure(let error): finish(.failure(unavailable("the user of fprintd is unknown", error)))
                case .success(let values): identified(name, user: values.first?.number)
                }
            }
        }
    }

    private func identified(_ name: String, user: Int64?) {
        guard user == Int64(trustedUser) else {
            let owner = user.map { "user \($0)" } ?? "an unknown user"
            let refusal = Failure(
                .peerNotTrusted,
                "The name \(FprintName.service) on the system's message bus belongs to \(owner), not to root: its "
                    + "fingerprint reader is not used.",
                hint: "See: busctl status \(FprintName.service)")
            log.note(.sensorRefused, refusal)
            return finish(.failure(refusal))
        }
        owner = name
        finish(.success(name))
    }

    private func finish(_ result: Result<String, Failure>) {
        let waiting = resolving
        resolving = []
        for done in waiting { done(result) }
    }

    private static let busName = "org.freedesktop.DBus"
    private static let busPath = "/org/freedesktop/DBus"

    private func askBus(
        _ member: String, of name: String = FprintName.service, _ done: @escaping (Result<[BusValue], BusError>) -> Void
    ) {
        bus.call(
            BusCall(Self.busName, Self.busPath, Self.busName, member, [.string(name)]), milliseconds: timing.call, done)
    }

    private func unavailable(_ what: String, _ error: BusError) -> Failure {
        let failure = Failure(
            .biometryNotAvailable, "The fingerprint reader cannot be used: \(what) (\(error.description)).",
            hint: "See: systemctl status fprintd")
        log.note(.sensorFailed, failure)
        return failure
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

    /// The paths of all devices.
    func devices(_ done: @escaping (Result<[String], BusError>) -> Void) {
        call("GetDevices") { result in
            done(result.map { $0.first?.values?.compactMap(\.text).prefix(Self.mostDevices).map { $0 } ?? [] })
        }
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
