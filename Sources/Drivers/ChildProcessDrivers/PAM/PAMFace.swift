// SPDX-License-Identifier: Apache-2.0

import Glibc
package import LatchkeyModel
import LatchkeySeams
import LatchkeySystem
import LatchkeyWire
import Synchronization

/// A camera that recognises faces through PAM modules, each scan in a process of its own (`latchkey-pam`).
///
/// The sensor is weak: PAM says neither which face was recognised nor whether the enrolled faces have changed. Each
/// `arm` is one scan; scans of several users follow one another, since a machine has one camera.
package final class PAMFace: BiometricReader {
    /// Where the driver finds what it needs; other places only in tests.
    package struct Places: Sendable {
        /// The program that runs libpam.
        package var program: String
        package var service = PAMService.face.path
        /// The user to whom the service file must belong.
        package var owner: UInt32 = 0

        /// Creates the places of an installed system.
        package init(program: String) { self.program = program }
    }

    private struct Scan: Sendable {
        let evaluation: UInt64
        let user: UInt32
        let events: @Sendable (SensorEvent) -> Void
    }

    private struct Queue: Sendable {
        var waiting: [Scan] = []
        /// The scan that runs now; nil after it was disarmed.
        var current: UInt64?
        var process: PAMProcess?
        var hasWorker = false
    }

    /// Seconds that a scan may take.
    package static let seconds: Int64 = 20

    private let places: Places
    private let seconds: Int64
    private let account: @Sendable (UInt32) -> AccountName?
    private let log: any EventLog
    private let queue = Mutex(Queue())

    /// Creates a driver.
    ///
    /// - Parameters:
    ///   - seconds: after which a scan has failed and its process is killed.
    ///   - account: finds the account of a user; nil if there is none, for which every scan fails.
    package init(
        _ places: Places, seconds: Int64 = PAMFace.seconds, log: any EventLog,
        account: @escaping @Sendable (UInt32) -> AccountName?
    ) {
        (self.places, self.seconds, self.account, self.log) = (places, seconds, account, log)
    }

    // MARK: - BiometricReader

    package func state(for user: UInt32) -> SensorState {
        do throws(Failure) {
            try PAMServiceFile.check(places.service, owner: places.owner)
        } catch {
            log.record(.sensorRefused, error)
            return .absent
        }
        return SensorState(
            kind: .faceID, enrolment: Self.enrolment(of: user), reportsEnrolmentChanges: false, isWeak: true)
    }

    package func arm(_ evaluation: UInt64, user: UInt32, events: @escaping @Sendable (SensorEvent) -> Void) {
        let startsWorker = queue.withLock { queue in
            queue.waiting.append(Scan(evaluation: evaluation, user: user, events: events))
            defer { queue.hasWorker = true }
            return !queue.hasWorker
        }
        if startsWorker { Processes.detachThread { [self] in work() } }
    }

    package func disarm(_ evaluation: UInt64) {
        queue.withLock { queue in
            queue.waiting.removeAll { $0.evaluation == evaluation }
            guard queue.current == evaluation else { return }
            queue.current = nil
            queue.process?.interrupt()
        }
    }

    package func observe(_ changed: @escaping @Sendable () -> Void) {
        // PAM does not report changes of the enrolled faces.
    }

    /// PAM names no set, so the set of a user is always the same.
    private static func enrolment(of user: UInt32) -> EnrolmentSet {
        EnrolmentSet(CryptographicLabel.face.bytes + (0..<4).map { UInt8(truncatingIfNeeded: user >> (24 - 8 * $0)) })
    }

    // MARK: - Scans

    /// Runs one scan after the other until none waits.
    private func work() {
        while let scan = next() {
            let end = run(scan)
            // A scan that was disarmed reports nothing.
            let isArmed = queue.withLock { queue in
                defer { (queue.current, queue.process) = (nil, nil) }
                return queue.current == scan.evaluation
            }
            guard isArmed else { continue }
            switch end {
            case .recognised: scan.events(.match(Self.enrolment(of: scan.user), isVirtual: false))
            case .notRecognised: scan.events(.noMatch)
            case .failed: scan.events(.failed)
            }
        }
    }

    private func next() -> Scan? {
        queue.withLock { queue in
            guard !queue.waiting.isEmpty else {
                queue.hasWorker = false
                return nil
            }
            let scan = queue.waiting.removeFirst()
            queue.current = scan.evaluation
            return scan
        }
    }

    private func run(_ scan: Scan) -> FaceConversation.End {
        guard let account = account(scan.user) else { return .failed }
        do throws(Failure) {
            try PAMServiceFile.check(places.service, owner: places.owner)
            let child = try PAMProcess(places.program, until: Uptime.deadline(seconds: seconds))
            defer { child.end() }
            // From now on, `disarm` interrupts the process.
            let isArmed = queue.withLock { queue in
                guard queue.current == scan.evaluation else { return false }
                queue.process = child
                return true
            }
            guard isArmed else { return .failed }
            try child.send(.begin(account, .face))
            var conversation = FaceConversation()
            while true {
                if let end = conversation.received(try child.receive()) { return end }
            }
        } catch {
            log.record(error.status == .peerNotTrusted ? .sensorRefused : .sensorFailed, error)
            return .failed
        }
    }
}
