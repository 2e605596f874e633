// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
import LatchkeySeams
import LatchkeySystem
import Synchronization

/// Fingerprint readers that fprintd serves, with libfprint's drivers.
///
/// A scan uses every reader on which the user has an enrolled finger. The claim of a reader is given up on every path;
/// if fprintd does not answer, the connection to the bus ends, with which fprintd drops the claim.
package final class FprintReader: BiometricReader, @unchecked Sendable {
    // Sendable: `sensor` is used on the bus's thread only; the rest has locks.

    /// The limits of waiting, in milliseconds.
    package struct Timing: Sendable {
        /// For an answer of fprintd or of the bus. Opening a reader takes up to about two seconds.
        package var call: Int64 = 5_000
        /// For the start of fprintd by the bus.
        package var start: Int64 = 10_000
        /// For a finger: fprintd has no limit, and a prompt ends after 60 seconds.
        package var scan: Int64 = 60_000
        /// Between two attempts to claim a reader that another program uses.
        package var busy: Int64 = 500
        /// From an error of a reader until it counts as connected.
        package var unplugged: Int64 = 1_000
        /// Between two questions whether the machine sleeps, of which there are at most 120.
        package var sleep: Int64 = 250
        /// For the first state of a user, during which the caller waits.
        package var state: Int64 = 3_000
        /// Between a change of the enrolled fingers and the new state, so that several changes are one.
        package var settle: Int64 = 50

        package init() {}
    }

    private let bus: SystemBus
    private let sensor: FprintSensor
    private let timing: Timing
    private let states = Mutex<[UInt32: SensorState]>([:])
    private let observers = Mutex<[@Sendable () -> Void]>([])
    /// Notifies the observers on a thread of its own: they call `latchkeyd` and wait for it.
    private let notifying = Mutex((isRunning: false, isDue: false))
    private let isRefreshDue = Mutex(false)

    /// Makes the reader; fprintd is asked when a state is needed first.
    ///
    /// - Parameters:
    ///   - templates: the folder of the enrolled fingers (`/var/lib/fprint`), of which the enrolment set is made; nil if
    ///     it cannot be read, since it belongs to root. Then changes of the set cannot be detected.
    ///   - allowsVirtual: whether readers are used that are programs of libfprint.
    ///   - configuration: the file in which root can allow that.
    ///   - trustedUser: the user to which the name of fprintd must belong; another one than root in tests only.
    package init(
        _ bus: SystemBus, templates: String?, allowsVirtual: Bool, configuration: String, trustedUser: UInt32 = 0,
        timing: Timing = Timing(), log: any EventLog
    ) {
        self.bus = bus
        self.timing = timing
        let files = templates.map { EnrolmentFiles($0) }
        let service = FprintService(bus, timing, trustedUser: trustedUser, log: log)
        let devices = FprintDevices(service, allowsVirtual: allowsVirtual, configuration: configuration, log: log)
        sensor = FprintSensor(service, devices, timing, templates: files, log: log)
        let sensor = Confined(sensor)
        bus.run { [weak self] in
            sensor.value.start()
            sensor.value.changed = { self?.refreshLater() }
            sensor.value.found = { self?.store($0, for: $1) }
            if let files { files.watch(bus) { self?.refreshLater() } }
        }
    }

    // MARK: - BiometricReader

    package func state(for user: UInt32) -> SensorState {
        // A reader that was absent is looked for again: it may have been plugged in while fprintd did not run, which
        // nothing announces, or fprintd may have failed. This is asked when a user's first program connects.
        if let state = states.withLock({ $0[user] }), state != .absent { return state }
        // The bus's thread must not wait for itself; it is notified when the state is known.
        let isWaiting = !bus.isCurrent
        let answer = Answer<SensorState>()
        bus.run { [self] in
            let timer = isWaiting ? bus.after(milliseconds: timing.state) { answer.set(.absent) } : nil
            sensor.state(of: user) { [self] state in
                if let timer { bus.cancel(timer) }
                // The first state is an answer, which is not announced, unless the caller has not waited for it.
                let isAnswered = answer.set(state)
                store(state, for: user, isReported: isWaiting && isAnswered)
            }
        }
        return isWaiting ? answer.wait() ?? .absent : .absent
    }

    package func arm(_ evaluation: UInt64, user: UInt32, events: @escaping @Sendable (SensorEvent) -> Void) {
        bus.run { [self] in sensor.arm(evaluation, user: user, events: events) }
    }

    package func disarm(_ evaluation: UInt64) { bus.run { [self] in sensor.disarm(evaluation) } }

    package func observe(_ changed: @escaping @Sendable () -> Void) { observers.withLock { $0.append(changed) } }

    // MARK: - Changes

    /// Reads the states of all known users again, soon. On the bus's thread.
    private func refreshLater() {
        guard
            isRefreshDue.withLock({ isDue in
                defer { isDue = true }
                return !isDue
            })
        else { return }
        bus.after(milliseconds: timing.settle) { [weak self] in
            guard let self else { return }
            isRefreshDue.withLock { $0 = false }
            for user in states.withLock({ $0.keys.sorted() }) {
                sensor.state(of: user) { [weak self] in self?.store($0, for: user) }
            }
        }
    }

    private func store(_ state: SensorState, for user: UInt32, isReported: Bool = false) {
        let before = states.withLock { states in
            defer { states[user] = state }
            return states[user]
        }
        if before != state, !isReported { notify() }
    }

    private func notify() {
        let starts = notifying.withLock { notifying in
            defer { (notifying.isRunning, notifying.isDue) = (true, true) }
            return !notifying.isRunning
        }
        guard starts else { return }
        Processes.detachThread { [self] in
            while notifying.withLock({ notifying in
                defer { (notifying.isRunning, notifying.isDue) = (notifying.isDue, false) }
                return notifying.isDue
            }) {
                for changed in observers.withLock({ $0 }) { changed() }
            }
        }
    }
}
