// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import LatchkeySystem

/// The readers of fprintd that may be used. Used on the bus's thread only.
///
/// libfprint has drivers of virtual readers, whose matches are sent by another program. The environment of fprintd selects
/// them, so they are used only with the consent of root (abuse case 24).
final class FprintDevices {
    /// A reader, and the fingers of an account on it.
    struct Enrolled {
        let path: String
        let fingers: [String]
        let isVirtual: Bool
    }

    private let service: FprintService
    private let allowsVirtual: Bool
    private let configuration: String
    private let log: any EventLog
    /// Whether the readers are virtual, by their paths; only what fprintd has answered, no failure.
    private var virtual: [String: Bool] = [:]

    init(_ service: FprintService, allowsVirtual: Bool, configuration: String, log: any EventLog) {
        (self.service, self.allowsVirtual, self.configuration, self.log) = (service, allowsVirtual, configuration, log)
    }

    /// Forgets what the readers are: another one can have the path of an earlier one.
    func forget() { virtual = [:] }

    /// Determines the readers and the fingers of an account on them. A failure is logged here.
    func enrolled(of account: AccountName, _ done: @escaping (Result<[Enrolled], Failure>) -> Void) {
        service.resolve { [self] result in
            if case .failure(let failure) = result { return done(.failure(failure)) }
            service.devices { [self] result in
                switch result {
                case .failure(let error): done(.failure(unusable(error)))
                case .success(let paths): fingers(on: paths[...], of: account, found: [], done)
                }
            }
        }
    }

    private func fingers(
        on paths: ArraySlice<String>, of account: AccountName, found: [Enrolled],
        _ done: @escaping (Result<[Enrolled], Failure>) -> Void
    ) {
        guard let path = paths.first else { return done(.success(found)) }
        let rest = paths.dropFirst()
        isVirtual(path) { [self] result in
            switch result {
            case .failure(let error): return done(.failure(unusable(error)))
            case .success(nil): return fingers(on: rest, of: account, found: found, done)
            case .success(true?) where !allowsVirtual: return fingers(on: rest, of: account, found: found, done)
            case .success(let isVirtual?):
                service.fingers(of: account.text, path) { [self] result in
                    switch result {
                    case .success(let fingers):
                        let device = Enrolled(path: path, fingers: fingers, isVirtual: isVirtual)
                        self.fingers(on: rest, of: account, found: found + [device], done)
                    // Unplugged since the list was made.
                    case .failure(let error) where FprintName.isGone(error):
                        fingers(on: rest, of: account, found: found, done)
                    case .failure(let error): done(.failure(unusable(error)))
                    }
                }
            }
        }
    }

    /// Determines whether a reader is virtual; nil if it is gone. fprintd names a device as libfprint does, and says nothing
    /// else about its driver. A reader without a name counts as virtual.
    private func isVirtual(_ path: String, _ done: @escaping (Result<Bool?, BusError>) -> Void) {
        if let known = virtual[path] { return done(.success(known)) }
        service.property("name", of: path) { [self] result in
            switch result {
            case .success(let value):
                let name = value?.text
                let isVirtual = name?.hasPrefix(Self.prefix) ?? true
                if name != nil { virtual[path] = isVirtual }
                if isVirtual {
                    logUnused(
                        Failure(
                            .biometryNotAvailable,
                            "A fingerprint reader is not used, because it is a program: \(name ?? "it has no name").",
                            hint: "To use it all the same, root adds a line to \(configuration): "
                                + "allow-virtual-hardware = yes"))
                }
                done(.success(isVirtual))
            // Unplugged since the list was made.
            case .failure(let error) where FprintName.isGone(error): done(.success(nil))
            case .failure(.refused(let name, _)):
                // A refusal says nothing about the reader, so it counts as virtual until the next question.
                logUnused(
                    Failure(
                        .biometryNotAvailable,
                        """
                        A fingerprint reader is not used, because it may be a program: fprintd does not say its name \
                        (\(name)).
                        """, hint: "See: systemctl status fprintd"))
                done(.success(true))
            case .failure(let error): done(.failure(error))
            }
        }
    }

    /// Logs that a virtual reader is not used, where root has not allowed it.
    private func logUnused(_ failure: Failure) { if !allowsVirtual { log.record(.sensorFailed, failure) } }

    /// How libfprint begins the names of its virtual devices.
    private static let prefix = "Virtual "

    private func unusable(_ error: BusError) -> Failure {
        let isRefused = FprintName.Refusal(error) == .permissionDenied
        let failure = Failure(
            .biometryNotAvailable, "The fingerprint reader cannot be used (\(error.description)).",
            hint: isRefused
                ? "polkit refuses it; see: pkaction --verbose --action-id net.reactivated.fprint.device.verify"
                : "See: systemctl status fprintd")
        log.record(.sensorFailed, failure)
        return failure
    }
}
