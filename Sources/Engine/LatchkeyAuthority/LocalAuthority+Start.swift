// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
import LatchkeyPolicy
package import LatchkeySeams

// The start of an authority with the stored counters and face permissions, and changes of the sensor.

extension LocalAuthority {
    package func attach(_ client: any KeychainService, isPasscodeSet: Bool, isLocked: Bool) {
        attach(to: client, isPasscodeSet: isPasscodeSet, isLocked: isLocked)
    }

    /// Connects the authority to the store, as `attach(_:isPasscodeSet:isLocked:)`.
    package func attach(to client: any AuthorityClient, isPasscodeSet: Bool, isLocked: Bool) {
        self.client = client
        var state = PolicyState(
            AuthorityState(
                sensor: parts.reader.state(for: parts.userID), isPasscodeSet: isPasscodeSet, isLocked: isLocked))
        restore(&state)
        core.withLock { $0.state = state }
        refreshSensor()
        parts.reader.observe { [weak self] in self?.refreshSensor() }
    }

    private func restore(_ state: inout PolicyState) {
        guard let permissions = parts.permissions, case .success(let store) = parts.counters else { return }
        // Face permissions that cannot be read count as undecided, so that the user is asked again.
        state.facePermissions =
            parts.log.recording(.recordNotRead) { () throws(Failure) in try permissions.storedFacePermissions() } ?? [:]
        let now = parts.clock.uptime
        state.now = now
        // Without counters of this boot, the passcode was not entered since the machine started.
        state.lastPasscode = nil
        do throws(Failure) {
            if let (counters, isOfThisBoot) = try store.storedCounters() {
                state.counters = counters
                guard !isOfThisBoot else { return }
                (state.lastPasscode, state.lastBiometry) = (nil, nil)
                // The boot-time clock restarts with the machine, so the whole delay begins again; a restart never
                // shortens it.
                state.passcodeBlockedUntil = now + PolicyState.passcodeDelay(afterFailures: counters.passcodeFailures)
                return
            }
        } catch {
            // Unreadable counters are treated like missing ones below.
        }
        // Counters are stored before the first passcode, so only a store without a passcode may have none.
        guard state.isPasscodeSet else { return }
        // Prevents an attacker who edits the file from gaining tries by changing or deleting the counters.
        state.useUpTries(at: now)
        let counters = state.counters
        // If this cannot be stored, the maximum counts apply in memory and are assumed again at each start.
        parts.log.recording(.countersNotKept) { () throws(Failure) in
            // Recorded first: the new counters are readable, so after them nothing shows that the earlier ones were not.
            try client?.countersWereLost()
            try store.persist(counters)
        }
    }

    /// Has the service adopt the sensor's current enrolment set, and then reports it to the reducer.
    ///
    /// A new set is reported only when it is durable: while the old enrolment key may still be on the disk, a finger
    /// of the new set could open items that are bound to the old set. Until then the sensor is reported as absent.
    func refreshSensor() {
        var sensor = parts.reader.state(for: parts.userID)
        if sensor.kind != .none {
            do throws(Failure) {
                // Before the new set is used: a key of an earlier time of the same set is not approved any more.
                _ = try parts.enrolmentEpoch?(sensor.enrolment)
                try client?.adopt(sensor.enrolment)
            } catch {
                sensor = .absent
                parts.log.record(.enrolmentNotFollowed, error)
                refreshSensorLater()
            }
        }
        post(.sensorChanged(sensor))
    }

    /// Seconds between two attempts to adopt an enrolment set.
    private static let refreshSeconds: Int64 = 10

    private func refreshSensorLater() {
        let alarm = parts.clock.alarm(after: Self.refreshSeconds) { [weak self] in self?.refreshSensor() }
        sensorAlarm.withLock { old in
            old?.cancel()
            old = alarm
        }
    }

    package func setFacePermission(
        _ application: String, _ isAllowed: Bool?, _ done: @escaping @Sendable (Failure?) -> Void
    ) {
        parts.work.submit(.any) { [self] in
            do throws(Failure) {
                // Stored first: otherwise a withdrawn permission could apply again after a restart.
                var permissions = state.facePermissions
                permissions[application] = isAllowed
                guard let store = parts.permissions else { throw Failure(.storeUnreadable) }
                try store.persist(facePermissions: permissions)
            } catch {
                return done(error)
            }
            post(.permissionChanged(application, isAllowed)) { done(nil) }
        }
    }
}
