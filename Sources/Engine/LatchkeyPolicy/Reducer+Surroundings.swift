// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel

// Events that do not come from the prompt of an evaluation: changes of lock, sensor and passcode.

extension PolicyState {
    // MARK: - Lock and background

    mutating func locked() -> [PolicyEffect] {
        isLocked = true
        isSessionLock = false
        biometricUnlock = nil
        return endAll(.systemCancel)
    }

    /// Locks the device until its sessions are unlocked. A lock that was there before stays.
    mutating func sessionLocked() -> [PolicyEffect] {
        let endsWithSession = !isLocked || isSessionLock
        let effects = locked()
        isSessionLock = endsWithSession
        return effects
    }

    mutating func sessionUnlocked() -> [PolicyEffect] {
        guard isLocked, isSessionLock else { return [] }
        (isLocked, isSessionLock) = (false, false)
        return []
    }

    /// Stops the use of the sensor for a session that is not active any more (abuse case 22).
    mutating func biometrySessionsChanged(_ sessions: BiometrySessions) -> [PolicyEffect] {
        biometrySessions = sessions
        return forEachShown { state, evaluation in
            guard evaluation.method == .biometry, !sessions.permits(evaluation.request.caller.loginSession) else {
                return []
            }
            // Behaviour LA-32: the system ended it, as on a switch to another app.
            return state.leaveMethod(evaluation, notice: .none, status: .systemCancel)
        } + next()
    }

    mutating func unlocked(byBiometry: Bool, at now: Int64) -> [PolicyEffect] {
        // A reported unlock by biometry is ignored while biometry cannot be used, since it cannot be genuine.
        guard !byBiometry || biometryRefusal == nil else { return [] }
        isLocked = false
        isSessionLock = false
        biometricUnlock = byBiometry ? now : nil
        return []
    }

    /// Ends all evaluations when the apps move to the background (behaviours LA-31 and LA-32).
    mutating func background(_ isBehind: Bool) -> [PolicyEffect] {
        isInBackground = isBehind
        return isBehind ? endAll(.systemCancel) : []
    }

    mutating func endAll(_ status: Status) -> [PolicyEffect] {
        var effects = waiting.map { PolicyEffect.reply($0.id, .failure(status)) }
        waiting = []
        let ended = active
        active = []
        for evaluation in ended { effects += close(evaluation, .failure(status)) }
        return effects + next()
    }

    // MARK: - Changes around an evaluation

    mutating func sensorChanged(_ sensor: SensorState) -> [PolicyEffect] {
        let isAnotherKind = sensor.kind != self.sensor.kind || sensor.isWeak != self.sensor.isWeak
        // The finger or face that unlocked the device may no longer be enrolled; and an unlock by a virtual sensor must
        // not count as one by the sensor that replaces it.
        if sensor.enrolment != self.sensor.enrolment || sensor.isVirtual != self.sensor.isVirtual {
            biometricUnlock = nil
        }
        self.sensor = sensor
        return forEachShown { state, evaluation in
            state.sensorChanged(around: evaluation, isAnotherKind: isAnotherKind)
        }
    }

    private mutating func sensorChanged(around evaluation: ActiveEvaluation, isAnotherKind: Bool) -> [PolicyEffect] {
        // A match of the previous enrolment set must not count in a later stage (abuse case 32).
        if let proven = evaluation.proven.enrolment, proven != sensor.enrolment {
            return end(evaluation.request.id, .failure(.authenticationFailed))
        }
        guard evaluation.method == .biometry else { return [] }
        if let refusal = biometryRefusal(of: evaluation.request) {
            return leaveMethod(evaluation, notice: .none, status: refusal)
        }
        // The prompt shows name, tries and fallback button of the sensor; for a sensor of another kind they would be
        // wrong.
        return isAnotherKind ? leaveMethod(evaluation, notice: .none, status: .biometryNotAvailable) : []
    }

    mutating func passcodeExists(_ exists: Bool) -> [PolicyEffect] {
        isPasscodeSet = exists
        if exists {
            // Setting a passcode counts as entering it, since the user knows it.
            let before = counters
            lastPasscode = now
            return counters == before ? [] : [.persist(counters)]
        }
        let hadCounters = passcodeFailures != 0 || passcodeBlockedUntil != 0
        passcodeFailures = 0
        passcodeBlockedUntil = 0
        let effects: [PolicyEffect] = hadCounters ? [.persist(counters)] : []
        return effects
            + forEachShown { state, evaluation in
                if let refusal = state.refusal(of: evaluation.request) {
                    return state.end(evaluation.request.id, .failure(refusal))
                }
                // Biometry requires that a passcode is set.
                guard evaluation.method == .biometry else { return [] }
                return state.leaveMethod(evaluation, notice: .none, status: .passcodeNotSet)
            }
    }
}
