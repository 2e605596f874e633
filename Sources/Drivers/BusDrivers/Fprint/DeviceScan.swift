// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams

/// The scan on one device for one evaluation: claims the device, verifies until it is ended, and releases the device on
/// every path. Used on the bus's thread only.
final class DeviceScan {
    /// What the scan reports.
    enum Event {
        /// `isVirtual` says whether this device is a program.
        case match(EnrolmentSet, isVirtual: Bool)
        case noMatch
        case guidance(SensorGuidance)
        /// Another program has claimed the device, or has released it.
        case inUse(Bool)
        /// The scan ended; nil if `end` was called.
        case ended(SensorEvent?)
    }

    private enum Phase {
        /// Waits until another scan of this process, or another program, has released the device.
        case waiting
        case claiming
        case starting
        /// The claim is held and a verification of this scan runs: the only phase in which a result counts.
        case verifying
        /// The verification ended by itself and is started again.
        case restarting
        case stopping
        case releasing
        case ended
    }

    /// The most results that are stored before the answer to `VerifyStart`.
    private static let mostEarly = 8

    let device: String
    private let isVirtual: Bool
    private let service: FprintService
    private let timing: FprintReader.Timing
    private let account: String
    /// Reads the user's enrolment set; called while the device is claimed, so that no finger of it can be enrolled
    /// until the scan has ended.
    private let enrolment: () -> Result<EnrolmentSet, Failure>
    private let log: any EventLog
    private let report: (Event, DeviceScan) -> Void
    private var phase = Phase.waiting
    private var set: EnrolmentSet?
    /// Results before the answer to `VerifyStart`: a finger that lies on the reader already can be faster than it. They
    /// are of this verification, because the device is claimed and an earlier verification ends before `VerifyStop` is
    /// answered.
    private var early: [(result: String, isDone: Bool)] = []
    private var verdict: SensorEvent?
    private var timer: SystemBus.Timer?
    /// Whether another program had claimed the device at the last attempt.
    private var isInUse = false
    /// Whether `end` was called: later results and failures are not reported.
    private var isEnding = false

    init(
        _ device: FprintDevices.Enrolled, _ service: FprintService, _ timing: FprintReader.Timing, account: String,
        log: any EventLog,
        enrolment: @escaping () -> Result<EnrolmentSet, Failure>, report: @escaping (Event, DeviceScan) -> Void
    ) {
        self.device = device.path
        isVirtual = device.isVirtual
        self.service = service
        self.timing = timing
        self.account = account
        self.log = log
        self.enrolment = enrolment
        self.report = report
    }

    // MARK: - Claim and start

    func begin() {
        timer = nil
        guard !isEnding else { return over() }
        phase = .claiming
        service.call("Claim", of: device, [.string(account)]) { [self] result in
            guard phase == .claiming else { return }
            switch result {
            case .success: claimed()
            case .failure(let error): notClaimed(error)
            }
        }
    }

    private func notClaimed(_ error: BusError) {
        switch FprintName.Refusal(error) {
        case .alreadyInUse where !isEnding:
            // fprintd does not say when another program releases the device.
            phase = .waiting
            if !isInUse { report(.inUse(true), self) }
            isInUse = true
            timer = service.bus.after(milliseconds: timing.busy) { [weak self] in self?.begin() }
        // Without an answer the claim may have succeeded: only the end of the connection releases it for certain.
        case nil where error == .timedOut:
            fail(error, "the device is not claimed in time")
            phase = .releasing
            service.bus.disconnect()
            over()
        default:
            fail(error, "the device cannot be claimed")
            over()
        }
    }

    private func claimed() {
        if isInUse, !isEnding { report(.inUse(false), self) }
        isInUse = false
        if isEnding { release() } else { start() }
    }

    private func start() {
        phase = .starting
        early = []
        switch enrolment() {
        case .success(let found): set = found
        case .failure(let failure):
            log.record(.sensorFailed, failure)
            verdict = .failed
            return release()
        }
        service.call("VerifyStart", of: device, [.string("any")]) { [self] result in
            guard phase == .starting else { return }
            switch result {
            case .success:
                guard !isEnding else { return stop() }
                phase = .verifying
                for (result, isDone) in early { received(result, isDone: isDone) }
            case .failure(let error):
                fail(error, "the verification does not start")
                // It may have begun if the answer is only late.
                if error == .timedOut { stop() } else { release() }
            }
        }
    }

    // MARK: - Results

    /// Receives a result from the trusted owner of fprintd's name.
    func received(_ result: String, isDone: Bool) {
        if phase == .starting, early.count < Self.mostEarly { early.append((result, isDone)) }
        // A result that follows our own VerifyStop is the cancellation, not a miss; one before our VerifyStart belongs
        // to the verification of another program, since the signal is broadcast.
        guard phase == .verifying, !isEnding else { return }
        switch VerifyStatus(result, isDone: isDone) {
        case .match:
            guard let set else { return }
            // Reported before the verification is stopped, which takes longer than everything before. It is started
            // again, unless the receiver ends the scan: a match of an outdated set proves nothing.
            report(.match(set, isVirtual: isVirtual), self)
            restart()
        case .noMatch:
            report(.noMatch, self)
            if isDone { restart() }
        case .guidance(let guidance):
            report(.guidance(guidance), self)
            if isDone { restart() }
        case .disconnected:
            verdict = .disconnected
            stop()
        case .failed:
            verdict = .failed
            stop()
        }
    }

    /// Starts the next verification; the device stays claimed.
    private func restart() {
        // `report` may have ended the scan.
        guard phase == .verifying else { return }
        phase = .restarting
        service.call("VerifyStop", of: device) { [self] result in
            guard phase == .restarting else { return }
            if isEnding { return release() }
            if case .failure(let error) = result, FprintName.Refusal(error) != .noActionInProgress {
                fail(error, "the verification does not end")
                return release()
            }
            start()
        }
    }

    private func fail(_ error: BusError, _ what: String) {
        verdict = .failed
        guard !isEnding else { return }
        if FprintName.Refusal(error) == .noSuchDevice {
            verdict = .disconnected
            return
        }
        let hint: Phrase =
            FprintName.Refusal(error) == .permissionDenied
            ? "polkit refuses it; see the action net.reactivated.fprint.device.verify: pkaction --verbose"
            : "See: systemctl status fprintd"
        log.record(
            .sensorFailed,
            Failure(.biometryNotAvailable, "Fingerprint reader \(device): \(what) (\(error.description)).", hint: hint))
    }

    // MARK: - The end

    /// Ends the scan, from outside.
    func end() {
        guard !isEnding else { return }
        isEnding = true
        switch phase {
        case .waiting: over()
        case .verifying: stop()
        case .releasing where timer != nil: over()
        // The answer of the call that is under way continues.
        case .claiming, .starting, .restarting, .stopping, .releasing, .ended: break
        }
    }

    /// Ends the scan because the device or fprintd is gone; there is nothing left to release.
    func lost(_ event: SensorEvent) {
        guard phase != .ended else { return }
        verdict = event
        over()
    }

    private func stop() {
        phase = .stopping
        service.call("VerifyStop", of: device) { [self] _ in
            // A failure is not important: `Release` ends a verification that still runs.
            if phase == .stopping { release() }
        }
    }

    private func release() {
        phase = .releasing
        service.whenAwake { [self] in if phase == .releasing { releaseNow() } }
    }

    private func releaseNow() {
        service.call("Release", of: device) { [self] result in
            guard phase == .releasing else { return }
            if case .failure(.timedOut) = result {
                // fprintd drops the claims of a connection that has ended.
                service.bus.disconnect()
            }
            guard verdict == .failed, !isEnding else { return over() }
            if case .failure(let error) = result, FprintName.Refusal(error) == .internal {
                // The release of an unplugged device fails before fprintd announces its removal, which calls `lost`.
                timer = service.bus.after(milliseconds: timing.unplugged) { [weak self] in self?.over() }
            } else {
                over()
            }
        }
    }

    private func over() {
        guard phase != .ended else { return }
        phase = .ended
        if let timer { service.bus.cancel(timer) }
        report(.ended(isEnding ? nil : verdict), self)
    }
}
