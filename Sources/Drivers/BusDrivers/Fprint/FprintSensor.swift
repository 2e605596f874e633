// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import LatchkeySystem

/// The scans of all users, and the states that were reported. Used on the bus's thread only.
final class FprintSensor {
    private let service: FprintService
    private let devices: FprintDevices
    private let timing: FprintReader.Timing
    private let templates: EnrolmentFiles?
    private let log: any EventLog
    private var scans: [UInt64: FingerScan] = [:]
    /// The scans that want a device, in order; the first one has claimed it, or is about to.
    private var queues: [String: [DeviceScan]] = [:]
    /// Whether a signal of an untrusted sender was logged since the last scan began.
    private var hasLoggedForgery = false
    /// Called when devices or enrolled fingers may have changed.
    var changed: () -> Void = {}
    /// Called with the state of a user that a scan has found, before its verification begins.
    var found: (SensorState, UInt32) -> Void = { _, _ in }

    init(
        _ service: FprintService, _ devices: FprintDevices, _ timing: FprintReader.Timing, templates: EnrolmentFiles?,
        log: any EventLog
    ) {
        self.service = service
        self.devices = devices
        self.timing = timing
        self.templates = templates
        self.log = log
    }

    /// Begins to receive fprintd's signals.
    func start() {
        service.start()
        // The rule is the bus's filter; `received` checks the sender again, since a program can send a signal to this
        // connection alone.
        service.bus.observe("type='signal',sender='\(FprintName.service)',path_namespace='\(FprintName.root)'") {
            [weak self] in self?.received($0)
        }
        service.ownerChanged = { [weak self] isRunning in self?.ownerChanged(isRunning) }
    }

    // MARK: - State

    /// Determines whether a user can use a fingerprint reader now.
    func state(of user: UInt32, _ done: @escaping (SensorState) -> Void) {
        let account: AccountName
        do throws(Failure) { account = try Accounts.name(of: user) } catch {
            log.record(.sensorFailed, error)
            return done(.absent)
        }
        devices.enrolled(of: account) { [self] result in
            switch result {
            case .failure: done(.absent)
            case .success(let devices):
                done(state(devices, of: account))
            }
        }
    }

    private func state(_ devices: [FprintDevices.Enrolled], of account: AccountName) -> SensorState {
        guard !devices.isEmpty else { return .absent }
        let isEnrolled = devices.contains { !$0.fingers.isEmpty }
        let isVirtual = devices.contains(where: \.isVirtual)
        do throws(Failure) {
            guard let templates else {
                let names = devices.flatMap(\.fingers)
                let set = names.isEmpty ? nil : try EnrolmentFiles.names(names, of: account)
                return SensorState(kind: .touchID, enrolment: set, reportsEnrolmentChanges: false, isVirtual: isVirtual)
            }
            let set = try templates.set(of: account)
            // Prints on a device that is not connected now: reporting no prints would make the service erase the
            // enrolment key, and with it every item that is bound to them.
            guard isEnrolled || set == nil else { return .absent }
            // Prints of a device that has no files would make a set that never changes.
            guard !isEnrolled || set != nil else {
                throw Failure(
                    .biometryNotAvailable, "fprintd has enrolled fingers, but there are no files of them.",
                    hint: "See: ls /var/lib/fprint, and --fingerprints of latchkey-authd")
            }
            return SensorState(kind: .touchID, enrolment: set, isVirtual: isVirtual)
        } catch {
            log.record(.sensorFailed, error)
            return .absent
        }
    }

    // MARK: - Scans

    /// Starts to scan for a finger of a user.
    func arm(_ evaluation: UInt64, user: UInt32, events: @escaping @Sendable (SensorEvent) -> Void) {
        let scan = FingerScan(evaluation, service.bus, events: events) { [weak self] in self?.scans[evaluation] = nil }
        guard scans[evaluation] == nil else { return events(.failed) }
        scans[evaluation] = scan
        hasLoggedForgery = false
        let account: AccountName
        do throws(Failure) { account = try Accounts.name(of: user) } catch {
            log.record(.sensorFailed, error)
            return scan.fail(.failed)
        }
        devices.enrolled(of: account) { [self] result in
            // Ended meanwhile: no device was claimed for it.
            guard !scan.isOver else {
                scans[evaluation] = nil
                return
            }
            switch result {
            case .failure: scan.fail(.failed)
            case .success(let devices):
                let enrolled = devices.filter { !$0.fingers.isEmpty }
                guard !enrolled.isEmpty else {
                    scan.fail(devices.isEmpty ? .disconnected : .failed)
                    return changed()
                }
                begin(scan, enrolled, account, user, isVirtual: devices.contains(where: \.isVirtual))
            }
        }
    }

    private func begin(
        _ scan: FingerScan, _ enrolled: [FprintDevices.Enrolled], _ account: AccountName, _ user: UInt32,
        isVirtual: Bool
    ) {
        let names = enrolled.flatMap(\.fingers)
        let scans = enrolled.map { device in
            DeviceScan(device, service, timing, account: account.text, log: log) { [weak self, templates] in
                Result { () throws(Failure) in
                    let set = try Self.set(templates, names, of: account)
                    // A change of the fingers may not be announced yet, and a match of a set that is not known proves
                    // nothing.
                    self?.found(
                        SensorState(
                            kind: .touchID, enrolment: set, reportsEnrolmentChanges: templates != nil,
                            isVirtual: isVirtual), user)
                    return set
                }
            } report: { [weak self, weak scan] event, device in
                if case .ended = event { self?.released(device) }
                scan?.report(event, of: device)
            }
        }
        scan.begin(scans, milliseconds: timing.scan)
        for device in scans {
            queues[device.device, default: []].append(device)
            // One scan for each device; the next one begins when this one has released it.
            if queues[device.device]?.count == 1 { device.begin() }
        }
    }

    /// The set of the fingers that a scan can recognise.
    private static func set(
        _ templates: EnrolmentFiles?, _ names: [String], of account: AccountName
    ) throws(Failure) -> EnrolmentSet {
        guard let templates else { return try EnrolmentFiles.names(names, of: account) }
        guard let set = try templates.set(of: account) else {
            throw Failure(.biometryNotEnrolled, "The files of the enrolled fingers are gone.")
        }
        return set
    }

    private func released(_ device: DeviceScan) {
        let wasFirst = queues[device.device]?.first === device
        queues[device.device]?.removeAll { $0 === device }
        if queues[device.device]?.isEmpty == true { queues[device.device] = nil }
        if wasFirst { queues[device.device]?.first?.begin() }
    }

    func disarm(_ evaluation: UInt64) { scans[evaluation]?.end() }

    // MARK: - Signals

    private func received(_ signal: BusSignal) {
        guard signal.sender == service.owner else {
            // Possible without an owner: a signal that arrives while the owner is being determined concerns no scan.
            guard service.owner != nil, !scans.isEmpty, !hasLoggedForgery else { return }
            hasLoggedForgery = true
            return log.record(
                .sensorRefused,
                Failure(
                    .peerNotTrusted,
                    "A signal \(signal.member) for the fingerprint reader was sent by \(signal.sender), which is not "
                        + "fprintd; it was ignored.", hint: "See: busctl status \(signal.sender)"))
        }
        let arguments = signal.arguments
        switch signal.member {
        case "VerifyStatus":
            guard arguments.count == 2, let result = arguments[0].text, let isDone = arguments[1].flag else { return }
            for scan in scans.values { scan.received(result, isDone: isDone, of: signal.path) }
        // Where only the names are known, also before the last scan: fprintd has deleted a print of the same name by then, and
        // its absence is all that shows that another finger has the name afterwards. The files are watched instead.
        case "EnrollStatus": if templates == nil || arguments.last?.flag == true { changed() }
        // Another program uses a reader, perhaps to enrol a finger in a single scan.
        case "PropertiesChanged" where templates == nil && scans.isEmpty: changed()
        case "InterfacesRemoved":
            guard let device = arguments.first?.text else { return }
            devices.forget()
            for scan in scans.values { scan.lost(device, .disconnected) }
            changed()
        case "InterfacesAdded":
            devices.forget()
            changed()
        default: break
        }
    }

    private func ownerChanged(_ isRunning: Bool) {
        devices.forget()
        // The earlier owner has no claim any more, and the new one none of ours.
        for scan in scans.values { scan.lost(nil, .failed) }
        // fprintd ends when it is idle; asking it would start it again, for ever.
        if isRunning { changed() }
    }
}
