// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel

// What happens around an evaluation: paired devices, the lock, the sensor and the passcode themselves.

extension PolicyState {
    // MARK: - Companion

    mutating func companionConfirmed(_ id: UInt64) -> [PolicyEffect] {
        guard let evaluation = active, evaluation.request.id == id, evaluation.isVisible, offersCompanion(evaluation)
        else { return [] }
        return proven(evaluation, proof(.companion, nil, evaluation.request))
    }

    mutating func companionsChanged(_ companions: CompanionState) -> [PolicyEffect] {
        self.companions = companions
        guard let evaluation = active,
            evaluation.accepted.contains(.companion)
        else { return [] }
        if evaluation.method == .companion, !companions.isReachable {
            return leaveMethod(evaluation, notice: .none, status: .companionNotAvailable)
        }
        return [.update(evaluation.request.id, content(evaluation))]
    }

    // MARK: - Lock and background

    mutating func locked() -> [PolicyEffect] {
        isLocked = true
        biometricUnlock = nil
        return endAll(.systemCancel)
    }

    mutating func unlocked(byBiometry: Bool, at now: Int64) -> [PolicyEffect] {
        // A sensor that is locked or has nothing enrolled cannot have unlocked anything.
        guard !byBiometry || biometryRefusal == nil else { return [] }
        isLocked = false
        biometricUnlock = byBiometry ? now : nil
        return []
    }

    /// Behaviours LA-31 and LA-32: an app that leaves the front loses its prompt and gets no new one.
    mutating func background(_ isBehind: Bool) -> [PolicyEffect] {
        isInBackground = isBehind
        return isBehind ? endAll(.systemCancel) : []
    }

    mutating func endAll(_ status: Status) -> [PolicyEffect] {
        let ids = waiting.map(\.id) + (active.map { [$0.request.id] } ?? [])
        return ids.flatMap { end($0, .denied(status)) }
    }

    // MARK: - Changes around an evaluation

    mutating func sensorChanged(_ sensor: SensorState) -> [PolicyEffect] {
        let isAnotherKind = sensor.kind != self.sensor.kind
        // Whoever unlocked the device is perhaps enrolled no more.
        if sensor.enrolment != self.sensor.enrolment { biometricUnlock = nil }
        self.sensor = sensor
        guard let evaluation = active else { return [] }
        // A finger that was proven before the set changed is not carried into the next stage (abuse case 32).
        if let proven = evaluation.proven.enrolment, proven != sensor.enrolment {
            return end(evaluation.request.id, .denied(.authenticationFailed))
        }
        if evaluation.method == .companion { return [.update(evaluation.request.id, content(evaluation))] }
        guard evaluation.method == .biometry else { return [] }
        if let refusal = biometryRefusal(for: evaluation.request.faceUser) {
            return leaveMethod(evaluation, notice: .none, status: refusal)
        }
        // The prompt names a sensor, its tries and its button: for another one it is no longer true.
        return isAnotherKind ? leaveMethod(evaluation, notice: .none, status: .biometryNotAvailable) : []
    }

    mutating func passcodeExists(_ exists: Bool) -> [PolicyEffect] {
        isPasscodeSet = exists
        if exists {
            // Whoever sets a passcode knows it.
            let before = counters
            lastPasscode = now
            return counters == before ? [] : [.keep(counters)]
        }
        let hadCounters = passcodeFailures != 0 || passcodeBlockedUntil != 0
        passcodeFailures = 0
        passcodeBlockedUntil = 0
        let keep: [PolicyEffect] = hadCounters ? [.keep(counters)] : []
        guard let evaluation = active else { return keep }
        if let refusal = refusal(of: evaluation.request.plan, for: evaluation.request.faceUser) {
            return keep + end(evaluation.request.id, .denied(refusal))
        }
        // A companion does without the passcode, biometry does not.
        guard evaluation.method == .biometry else { return keep }
        return keep + leaveMethod(evaluation, notice: .none, status: .passcodeNotSet)
    }
}
