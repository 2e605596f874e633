// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel

extension PolicyState {
    /// Applies an event to the state and returns the effects to execute, in order. Deterministic and defined for every
    /// event.
    ///
    /// - Parameter now: the time of the event, in nanoseconds of the boot-time clock.
    package mutating func reduce(_ event: PolicyEvent, at now: Int64 = 0) -> [PolicyEffect] {
        self.now = now
        let before = sharedContents(before: event)
        let effects = apply(event, at: now)
        return effects + continueOthers(effects, from: before)
    }

    private mutating func apply(_ event: PolicyEvent, at now: Int64) -> [PolicyEffect] {
        switch event {
        case .evaluate(let request): begin(request, at: now)
        case .promptVisible(let id): promptVisible(id)
        case .promptUnavailable(let id): end(id, .failure(.notInteractive))
        case .promptLost(let id): end(id, .failure(.systemCancel))
        case .matched(let id, let set, let isVirtual): matched(id, set, isVirtual: isVirtual)
        case .notMatched(let id): notMatched(id)
        case .sensorFailed(let id): sensorFailed(id)
        case .guided(let id, let guidance): guided(id, guidance)
        case .sensorInUse(let id, let isInUse): sensorInUse(id, isInUse)
        case .sensorDisconnected(let id): sensorDisconnected(id)
        case .fallbackChosen(let id): fallbackChosen(id)
        case .cancelChosen(let id): end(id, .failure(.userCancel))
        case .passcodeEntered(let id, let time): passcodeEntered(id, at: time)
        case .passcodeRepeated(let id): passcodeRepeated(id)
        case .countersStored(let id): countersStored(id)
        case .countersNotStored(let id, let status): countersNotStored(id, status)
        case .delayPassed(let id, let time): delayPassed(id, at: time)
        case .passcodeChecked(let id, let isRight): passcodeChecked(id, isRight: isRight)
        case .passcodeNotChecked(let id, let status): passcodeNotChecked(id, status)
        case .passcodeNotVerified(let id, let status): passcodeNotVerified(id, status)
        case .accountProven(let id): accountProven(id)
        case .accountNotProven(let id, let fault): accountNotProven(id, fault)
        case .passcodeOutdated(let id): passcodeOutdated(id)
        case .accountMessage(let id): accountMessage(id)
        case .accountExpired(let id): accountExpired(id)
        case .codeAcknowledged(let id): endLastStep(id, .recoveryCodeShown, .accountExpired)
        case .codeEntered(let id): endLastStep(id, .recoveryCodeAsked, .recoveryCodeRepeated, .answerAsked, .onceAsked)
        case .codeMistyped(let id): codeMistyped(id)
        case .newPasscodeEntered(let id, let isLongEnough): newPasscodeEntered(id, isLongEnough: isLongEnough)
        case .newPasscodeRepeated(let id, let isEqual): newPasscodeRepeated(id, isEqual: isEqual)
        case .withdrawn(let id, let status): end(id, .failure(status))
        case .deadlinePassed(let id): deadlinePassed(id)
        case .sensorChanged(let sensor): sensorChanged(sensor)
        case .locked: locked()
        case .unlocked(let byBiometry): unlocked(byBiometry: byBiometry, at: now)
        case .sessionLocked: sessionLocked()
        case .sessionUnlocked: sessionUnlocked()
        case .biometrySessionsChanged(let sessions): biometrySessionsChanged(sessions)
        case .background(let isBehind): background(isBehind)
        case .permissionAnswered(let id, let isAllowed): permissionAnswered(id, isAllowed)
        case .permissionChanged(let app, let isAllowed): permissionChanged(app, isAllowed)
        case .passcodeExists(let exists): passcodeExists(exists)
        case .passcodeWasRight: countRightPasscode()
        }
    }

    // MARK: - Beginning and ending

    mutating func begin(_ request: EvaluationRequest, at now: Int64) -> [PolicyEffect] {
        // Without stages and without a last step there is nothing to request.
        if request.plan.stages.isEmpty, request.lastStep == .none, !request.startsWithAccount {
            return [.reply(request.id, .success(.none))]
        }
        if let refusal = refusal(of: request) {
            return [.reply(request.id, .failure(refusal))]
        }
        if let unlock = reusableUnlock(request, at: now) { return [.reply(request.id, .success(unlock))] }
        guard request.interactionAllowed, !isLocked || request.purpose.mayAskWhileLocked, !isInBackground else {
            return [.reply(request.id, .failure(.notInteractive))]
        }
        return isFree(request) ? activate(request) : wait(request)
    }

    mutating func activate(_ request: EvaluationRequest) -> [PolicyEffect] {
        recordTurn(of: request.program)
        var evaluation = ActiveEvaluation(request: request, phase: .lastStep)
        if request.startsWithAccount {
            evaluation.phase = .passcode(.accountPassword, .typing(awaitsSensor: false))
        } else if let first = request.plan.stages.first {
            evaluation.notice = firstNotice(request)
            beginStage(first, &evaluation)
        } else {
            evaluation.notice = request.notice
        }
        active.append(evaluation)
        let delay = delay(evaluation)
        let deadline: [PolicyEffect] = [.startDeadline(request.id, seconds: evaluation.step.seconds)]
        return [.show(request, content(evaluation))] + (delay.isEmpty ? deadline : delay)
    }

    /// Returns the notice that explains why the passcode is requested although the stage accepts biometry.
    private func firstNotice(_ request: EvaluationRequest) -> PromptContent.Notice {
        guard request.plan.stages[0].contains(.biometry), biometryRefusal == .biometryLockout else { return .none }
        if isBiometryLocked { return .biometryLocked }
        return passcodeDue == .afterRestart ? .passcodeDueAfterRestart : .passcodeDueByTime
    }

    /// Returns a proof from the unlock by biometry if the app accepts it and it is recent enough (behaviour LA-33).
    private func reusableUnlock(_ request: EvaluationRequest, at now: Int64) -> Authorisation? {
        let seconds = min(request.reuseSeconds, Self.maximumReuseSeconds)
        guard request.purpose == .app, request.lastStep == .none, seconds > 0, request.plan.stages.count == 1,
            !request.startsWithAccount, request.plan.stages[0].contains(.biometry),
            biometryRefusal(of: request) == nil, question(request.faceUser) == .none, !isLocked,
            let biometricUnlock, now >= biometricUnlock,
            now - biometricUnlock <= Int64(seconds) * 1_000_000_000
        else { return nil }
        // The session does not say which sensor matched. The state says whether any is virtual, and the unlock ends when
        // that changes.
        return proof(.biometry, sensor.enrolment, request, isVirtual: sensor.isVirtual)
    }

    /// Ends an active or waiting evaluation with exactly one reply; any other number is ignored.
    mutating func end(_ id: UInt64, _ result: Result<Authorisation, Status>) -> [PolicyEffect] {
        if let index = waiting.firstIndex(where: { $0.id == id }) {
            waiting.remove(at: index)
            return [.reply(id, result)]
        }
        guard let index = active.firstIndex(where: { $0.request.id == id }) else { return [] }
        return close(active.remove(at: index), result) + next()
    }

    /// Returns the effects that end an evaluation which was removed.
    mutating func close(_ evaluation: ActiveEvaluation, _ result: Result<Authorisation, Status>) -> [PolicyEffect] {
        let id = evaluation.request.id
        heldEntries.removeAll { $0.id == id }
        var effects: [PolicyEffect] = evaluation.isArmed ? [.disarm(id)] : []
        effects += [.dismiss(id), .reply(id, result)]
        return effects
    }

    /// Activates the waiting evaluations whose place is free now and that can still be completed, and refuses those that
    /// cannot. An evaluation that waits for the sensor only, at a prompt that is shown, precedes them.
    mutating func next() -> [PolicyEffect] {
        var effects = passSensor()
        while let request = takeWaiting() {
            if let refusal = refusal(of: request) {
                effects.append(.reply(request.id, .failure(refusal)))
            } else {
                effects += activate(request)
            }
        }
        if active.isEmpty { served = [] }
        return effects
    }

    // MARK: - The prompt

    func content(_ evaluation: ActiveEvaluation) -> PromptContent {
        let tries: Int
        let showsFallback: Bool
        switch evaluation.method {
        case .biometry:
            // A miss whose count is being stored is not shown yet, at no prompt.
            let failures = biometryFailures - (active.contains { $0.phase == .biometry(.storingMiss) } ? 1 : 0)
            tries = min(
                sensor.kind.triesPerEvaluation - evaluation.failedTries, Self.lockoutThreshold - failures)
            let isOffered =
                evaluation.failedTries >= sensor.kind.triesBeforeFallback || offersPasscodeAtOnce(evaluation)
            showsFallback = evaluation.request.allowsFallback && isOffered
        case .passcode:
            tries = Self.passcodeTriesPerEvaluation - evaluation.failedTries
            showsFallback = false
        }
        return PromptContent(
            method: evaluation.method, notice: evaluation.notice,
            triesLeft: evaluation.step == .proof ? max(tries, 0) : 0,
            showsFallback: showsFallback, question: evaluation.question, step: evaluation.step,
            delaySeconds: isDelayed(evaluation) ? Int(delaySeconds) : 0,
            secret: evaluation.secret)
    }

    /// Returns whether the person may choose the passcode before a finger or a face has failed: behaviour LA-25 is that of a
    /// policy. An item, a key and an operation of the daemon accept either method from the start.
    private func offersPasscodeAtOnce(_ evaluation: ActiveEvaluation) -> Bool {
        !evaluation.request.acceptsWeak && evaluation.question == .none && passcodeIsAllowed(evaluation)
    }

    /// Returns the evaluation with that number if its prompt is visible.
    func visible(_ id: UInt64) -> ActiveEvaluation? { shown(id).flatMap { $0.isVisible ? $0 : nil } }

    /// Returns the evaluation with that number if the sensor scans for it and no count is being stored.
    private func scanning(_ id: UInt64) -> ActiveEvaluation? {
        visible(id).flatMap { $0.phase == .biometry(.scanning) ? $0 : nil }
    }

    private mutating func promptVisible(_ id: UInt64) -> [PolicyEffect] {
        guard var evaluation = shown(id), !evaluation.isVisible else { return [] }
        evaluation.isVisible = true
        // The sensor is armed only when the user can see which program requests the scan (abuse case 23).
        let arm = evaluation.arm()
        put(evaluation)
        return arm
    }

    // MARK: - Biometry

    private mutating func matched(_ id: UInt64, _ set: EnrolmentSet, isVirtual: Bool) -> [PolicyEffect] {
        guard let evaluation = scanning(id) else { return [] }
        // A match of an enrolment set that is no longer current counts as a miss (abuse case 32).
        guard sensor.enrolment == set else { return notMatched(id) }
        let isWorthStoring = countMatch()
        let effects = proven(evaluation, proof(.biometry, set, evaluation.request, isVirtual: isVirtual))
        return (isWorthStoring ? [.persist(counters)] : []) + effects
    }

    private mutating func notMatched(_ id: UInt64) -> [PolicyEffect] {
        guard var evaluation = scanning(id) else { return [] }
        biometryFailures += 1
        evaluation.phase = .biometry(.storingMiss)
        put(evaluation)
        // The evaluation continues only when the count is durable: otherwise a full disk would allow unlimited tries.
        return [.persistFirst(id, counters)]
    }

    /// Continues after a miss whose count is durable.
    mutating func missed(_ evaluation: ActiveEvaluation) -> [PolicyEffect] {
        let id = evaluation.request.id
        var evaluation = evaluation
        evaluation.failedTries += 1
        evaluation.notice = .notRecognised
        put(evaluation)
        if isBiometryLocked {
            return leaveMethod(evaluation, notice: .biometryLocked, status: .biometryLockout)
        }
        if evaluation.failedTries >= sensor.kind.triesPerEvaluation {
            // The camera stops, but the prompt stays with its fallback button (behaviour LA-27).
            if sensor.kind != .touchID, evaluation.request.allowsFallback, !passcodeIsAllowed(evaluation) {
                evaluation.phase = .biometry(.stopped)
                put(evaluation)
                return [.disarm(id), .update(id, content(evaluation))]
            }
            return leaveMethod(evaluation, notice: .biometryFinished, status: .authenticationFailed)
        }
        // Each scan of a weak sensor is started by the user.
        guard sensor.isWeak else { return [.update(id, content(evaluation))] }
        evaluation.phase = .biometry(.askingToScan)
        put(evaluation)
        return [.disarm(id), .update(id, content(evaluation))]
    }

    private mutating func sensorFailed(_ id: UInt64) -> [PolicyEffect] {
        guard let evaluation = visible(id), evaluation.isArmed else { return [] }
        return leaveMethod(evaluation, notice: .none, status: .biometryNotAvailable)
    }

    /// Shows what the user should do differently. Changes nothing else: the scan was not an attempt.
    private mutating func guided(_ id: UInt64, _ guidance: SensorGuidance) -> [PolicyEffect] {
        guard var evaluation = scanning(id) else { return [] }
        evaluation.notice = guidance.notice
        put(evaluation)
        return [.update(id, content(evaluation))]
    }

    /// Says why the sensor does not react yet.
    private mutating func sensorInUse(_ id: UInt64, _ isInUse: Bool) -> [PolicyEffect] {
        guard var evaluation = scanning(id), isInUse || evaluation.notice == .sensorInUse else { return [] }
        evaluation.notice = isInUse ? .sensorInUse : .none
        put(evaluation)
        return [.update(id, content(evaluation))]
    }

    /// Continues without the sensor. The scan that was interrupted does not count as a failed match.
    private mutating func sensorDisconnected(_ id: UInt64) -> [PolicyEffect] {
        guard let evaluation = visible(id), evaluation.isArmed else { return [] }
        // Evaluations that wait must not use the sensor before the driver has reported its absence.
        sensor = .absent
        biometricUnlock = nil
        return leaveMethod(evaluation, notice: .sensorDisconnected, status: .biometryDisconnected)
    }

    func passcodeIsAllowed(_ evaluation: ActiveEvaluation) -> Bool {
        evaluation.accepted.contains(.passcode) && isPasscodeSet
    }

    /// Continues with the passcode if the stage accepts it; otherwise ends the evaluation with `status`.
    mutating func leaveMethod(
        _ evaluation: ActiveEvaluation, notice: PromptContent.Notice, status: Status
    ) -> [PolicyEffect] {
        let id = evaluation.request.id
        guard passcodeIsAllowed(evaluation) else { return end(id, .failure(status)) }
        var evaluation = evaluation
        let disarm: [PolicyEffect] = evaluation.isArmed ? [.disarm(id)] : []
        evaluation.phase = .typing
        evaluation.failedTries = 0
        evaluation.notice = notice
        put(evaluation)
        return disarm + [.update(id, content(evaluation))] + delay(evaluation)
    }

    private mutating func fallbackChosen(_ id: UInt64) -> [PolicyEffect] {
        guard let evaluation = visible(id), evaluation.method == .biometry, content(evaluation).showsFallback
        else { return [] }
        // Behaviour LA-24: the evaluation continues with the passcode, or ends with `userFallback`.
        return leaveMethod(evaluation, notice: .none, status: .userFallback)
    }

    /// Creates an authorisation with one proof; all authorisations originate here.
    ///
    /// - Parameter isVirtual: whether a program stands in for the sensor that matched; false for methods other than
    ///   biometry.
    func proof(
        _ method: AuthenticationMethod, _ enrolment: EnrolmentSet?, _ request: EvaluationRequest, isVirtual: Bool
    ) -> Authorisation {
        Authorisation([
            Authorisation.Proof(
                evaluation: request.id, caller: request.caller, method: method, enrolment: enrolment, time: now,
                token: [], isWeak: method == .biometry && sensor.isWeak, isVirtual: isVirtual)
        ])
    }

    // MARK: - Stages

    /// Adds a proof, then continues with the next stage that the proofs do not complete, or with the last step.
    mutating func proven(_ evaluation: ActiveEvaluation, _ proof: Authorisation) -> [PolicyEffect] {
        var evaluation = evaluation
        evaluation.proven = evaluation.proven.union(proof)
        // A passcode that was entered for the completed stage is not used for the next one.
        heldEntries.removeAll { $0.id == evaluation.request.id }
        return enter(evaluation.stage + 1, evaluation)
    }

    /// Continues with that stage, or with the first one after it that the proofs do not complete, or with the last step.
    mutating func enter(_ first: Int, _ evaluation: ActiveEvaluation) -> [PolicyEffect] {
        let id = evaluation.request.id
        var evaluation = evaluation
        let stages = evaluation.request.plan.stages
        var stage = first
        while stage < stages.count, !stages[stage].isDisjoint(with: evaluation.proven.methods) { stage += 1 }
        guard stage < stages.count else { return beginLastStep(evaluation) }
        let request = evaluation.request
        if let refusal = refusal(of: stages[stage], for: request) {
            put(evaluation)
            return end(id, .failure(refusal))
        }
        let disarm: [PolicyEffect] = evaluation.isArmed ? [.disarm(id)] : []
        evaluation.stage = stage
        evaluation.failedTries = 0
        evaluation.notice = .none
        beginStage(stages[stage], &evaluation)
        let arm = evaluation.arm()
        put(evaluation)
        return disarm + [.update(id, content(evaluation))] + arm + delay(evaluation)
    }
}
