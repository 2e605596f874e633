// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
import LatchkeySeams

/// The enrolled fingers of one account: lists, enrols and deletes them. Its functions wait for the reader and for the
/// person; polkit decides in fprintd whether the calling user may do it.
package final class FprintFingers: @unchecked Sendable {
    // Sendable: `service` and `enrolment` are used on the bus's thread only.

    package static let names = ["left", "right"].flatMap { hand in
        ["thumb", "index-finger", "middle-finger", "ring-finger", "little-finger"].map { "\(hand)-\($0)" }
    }

    /// A reader, and the fingers that are enrolled on it.
    package struct Reader: Equatable, Sendable {
        package let path: String
        /// The product's name, without characters that could control a terminal: it is text of the device.
        package let name: String
        /// Whether the finger is swiped over the reader, not placed on it.
        package let isSwiped: Bool
        package let fingers: [String]
    }

    private let bus: SystemBus
    private let account: String
    private let timing: FprintReader.Timing
    private let service: FprintService
    private var enrolment: Enrolment?

    /// - Parameters:
    ///   - account: the name of the account.
    ///   - trustedUser: the user to which the name of fprintd must belong; another one than root in tests only.
    package init(
        _ bus: SystemBus, account: String, trustedUser: UInt32 = 0, timing: FprintReader.Timing = .init(),
        log: any EventLog
    ) {
        self.bus = bus
        self.account = account
        self.timing = timing
        service = FprintService(bus, timing, trustedUser: trustedUser, log: log)
        bus.run { [self] in
            service.start()
            service.ownerChanged = { [weak self] _ in self?.enrolment?.ended(.disconnected) }
            bus.observe("type='signal',sender='\(FprintName.service)',interface='\(FprintName.device)'") {
                [weak self] signal in
                guard let self, signal.sender == service.owner, signal.path == enrolment?.device,
                    signal.member == "EnrollStatus", signal.arguments.count == 2,
                    let result = signal.arguments[0].text, let isDone = signal.arguments[1].flag
                else { return }
                enrolment?.received(EnrolStatus(result, isDone: isDone), isDone: isDone)
            }
        }
    }

    /// All readers. One that is unplugged meanwhile is left out.
    package func readers() throws(Failure) -> [Reader] {
        let paths = try ask { [self] (done: @escaping (Result<[String], Failure>) -> Void) in
            self.service.resolve { result in
                if case .failure(let failure) = result { return done(.failure(failure)) }
                self.service.devices { done($0.mapError { self.failure($0) }) }
            }
        }
        var readers: [Reader] = []
        for path in paths {
            let found = try ask { [self] (done: @escaping (Result<[String]?, Failure>) -> Void) in
                service.fingers(of: account, path) { result in
                    if case .failure(let error) = result, FprintName.isGone(error) { return done(.success(nil)) }
                    done(result.map { Optional($0) }.mapError { self.failure($0) })
                }
            }
            guard let fingers = found else { continue }
            let name = property("name", of: path)?.text ?? "fingerprint reader"
            readers.append(
                Reader(
                    path: path, name: name.withoutControls, isSwiped: property("scan-type", of: path)?.text == "swipe",
                    fingers: fingers
                ))
        }
        return readers
    }

    /// Deletes one print, or all of them on a reader. Needs no finger.
    package func delete(_ finger: String?, on reader: Reader) throws(Failure) {
        try claiming(reader) { () throws(Failure) in
            if let finger {
                try call("DeleteEnrolledFinger", of: reader, finger)
            } else {
                try call("DeleteEnrolledFingers2", of: reader)
            }
        }
    }

    /// Enrols a finger. fprintd deletes a print of the same name first, so that none remains if the enrolment is not
    /// completed.
    ///
    /// - Parameters:
    ///   - begins: called before the first scan with the number of scans that are needed if it is known.
    ///   - progress: called on the bus's thread with every result, and the same number.
    package func enroll(
        _ finger: String, on reader: Reader, begins: (_ stages: Int?) -> Void,
        progress: @escaping @Sendable (EnrolStatus, _ stages: Int?) -> Void
    ) throws(Failure) {
        try claiming(reader) { () throws(Failure) in
            let stages = property("num-enroll-stages", of: reader.path)?.number.flatMap { $0 > 0 ? Int($0) : nil }
            begins(stages)
            let answer = Answer<EnrolStatus>()
            bus.run { [self] in
                enrolment = Enrolment(reader.path, bus, milliseconds: timing.scan) { status, isLast in
                    progress(status, stages)
                    if isLast { answer.set(status) }
                }
            }
            do throws(Failure) { try call("EnrollStart", of: reader, finger) } catch {
                bus.run { [self] in enrolment = nil }
                throw error
            }
            let status = answer.wait() ?? .failed
            bus.run { [self] in enrolment = nil }
            // Fails if the reader is gone. The status, which decides below, says so as well.
            try? call("EnrollStop", of: reader)
            guard status == .completed else { throw Self.failure(status) }
        }
    }

    private static func failure(_ status: EnrolStatus) -> Failure {
        func notEnrolled(_ status: Status, _ message: Phrase) -> Failure {
            Failure(
                status, message, hint: "No print is stored under this name now. Try again, or with another finger.")
        }
        return switch status {
        case .duplicate: Failure(.duplicateItem, "This finger is enrolled already, perhaps under another name.")
        case .full: Failure(.limitExceeded, "The reader has no space for another print.", hint: "Delete one first.")
        case .disconnected: notEnrolled(.biometryDisconnected, "The reader was disconnected.")
        case .guidance: notEnrolled(.timedOut, "No finger was scanned in time.")
        case .failed, .completed, .stagePassed:
            notEnrolled(.biometryNotAvailable, "The finger was not enrolled.")
        }
    }

    // MARK: - Calls

    private func claiming(_ reader: Reader, _ body: () throws(Failure) -> Void) throws(Failure) {
        try call("Claim", of: reader, account)
        do throws(Failure) { try body() } catch {
            // The first failure is the one to report; the end of this process releases the reader as well.
            try? call("Release", of: reader)
            throw error
        }
        try call("Release", of: reader)
    }

    private func call(_ member: String, of reader: Reader, _ argument: String? = nil) throws(Failure) {
        _ = try ask { [self] (done: @escaping (Result<[BusValue], Failure>) -> Void) in
            service.call(member, of: reader.path, argument.map { [.string($0)] } ?? []) { result in
                done(result.mapError { self.failure($0) })
            }
        }
    }

    /// A property of a device; nil if it has none.
    private func property(_ name: String, of path: String) -> BusValue? {
        // The properties only select a text or a picture; without one the command names no reader and no stages. Whether a
        // reader is virtual is decided by FprintDevices, which takes a reader without a name for virtual.
        try? ask { [self] (done: @escaping (Result<BusValue?, Failure>) -> Void) in
            service.property(name, of: path) { done($0.mapError { self.failure($0) }) }
        }
    }

    private func ask<Value: Sendable>(
        _ body: @escaping @Sendable (_ done: @escaping (Result<Value, Failure>) -> Void) -> Void
    ) throws(Failure) -> Value {
        let answer = Answer<Result<Value, Failure>>()
        bus.run { body { answer.set($0) } }
        guard let result = answer.wait() else { throw Failure(.internalFailure) }
        return try result.get()
    }

    private func failure(_ error: BusError) -> Failure {
        switch FprintName.Refusal(error) {
        case .permissionDenied:
            Failure(
                .notPermitted, "You may not do this: polkit refuses it.",
                hint:
                    "Do it in a local session; see: pkaction --verbose --action-id net.reactivated.fprint.device.enroll"
            )
        case .alreadyInUse:
            Failure(.limitExceeded, "Another program uses the reader.", hint: "Close its prompt, and try again.")
        case .noEnrolledPrints:
            Failure(.itemNotFound, "This finger is not enrolled.", hint: "See: latchkey fingerprint list")
        case .noSuchDevice: Failure(.biometryDisconnected, "The reader was disconnected.")
        case .claimDevice, .internal, .noActionInProgress, .invalidFingername, nil:
            Failure(
                .biometryNotAvailable, "The fingerprint reader cannot be used (\(error.description)).",
                hint: "See: systemctl status fprintd")
        }
    }
}

/// An enrolment that is under way. Used on the bus's thread only.
private final class Enrolment {
    let device: String
    private let bus: SystemBus
    private let milliseconds: Int64
    private let report: (EnrolStatus, _ isLast: Bool) -> Void
    private var deadline: SystemBus.Timer?
    private var isEnded = false

    init(
        _ device: String, _ bus: SystemBus, milliseconds: Int64,
        report: @escaping (EnrolStatus, _ isLast: Bool) -> Void
    ) {
        self.device = device
        self.bus = bus
        self.milliseconds = milliseconds
        self.report = report
        wait()
    }

    /// Each scan has the whole time: fprintd has no limit of its own.
    private func wait() {
        if let deadline { bus.cancel(deadline) }
        deadline = bus.after(milliseconds: milliseconds) { [weak self] in self?.ended(.guidance(.scanAgain)) }
    }

    func received(_ status: EnrolStatus, isDone: Bool) {
        guard !isEnded else { return }
        if isDone { return ended(status) }
        wait()
        report(status, false)
    }

    func ended(_ status: EnrolStatus) {
        guard !isEnded else { return }
        isEnded = true
        if let deadline { bus.cancel(deadline) }
        report(status, true)
    }
}
