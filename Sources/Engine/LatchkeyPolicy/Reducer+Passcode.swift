// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel

// Passcode entry: each try is counted, the count is stored, and only then the passcode is verified. After wrong
// passcodes entry is delayed.

extension PolicyState {
    /// Counts the try before the passcode is verified, so that killing the process or filling the disk yields no free
    /// tries.
    mutating func passcodeEntered(_ id: UInt64, at time: Int64) -> [PolicyEffect] {
        guard var evaluation = visible(id), case .passcode(let secret, .typing) = evaluation.phase else { return [] }
        // Two verifications at a time would undo each other's count.
        guard !isVerifying else { return hold(id, at: time) }
        now = time
        // Behaviour LA-30: while entry is delayed, a passcode is rejected without being verified and does not count.
        guard !isDelayed(evaluation) else { return [.update(id, content(evaluation))] }
        // From now on the prompt stays with the passcode.
        evaluation.phase = .passcode(secret, .counting(since: counters))
        countWrongPasscode()
        put(evaluation)
        return [.persistFirst(id, counters)]
    }

    /// Shows a notice for a wrong passcode that was entered before in this evaluation; it does not count again.
    mutating func passcodeRepeated(_ id: UInt64) -> [PolicyEffect] {
        guard var evaluation = visible(id), case .passcode(_, .typing) = evaluation.phase, !isHeld(id)
        else { return [] }
        evaluation.notice = .sameWrongPasscode
        put(evaluation)
        return [.update(id, content(evaluation))]
    }

    /// Continues with the try whose count is durable now: verifies the passcode, or processes the miss.
    mutating func countersStored(_ id: UInt64) -> [PolicyEffect] {
        guard var evaluation = shown(id) else { return [] }
        switch evaluation.phase {
        case .biometry(.storingMiss):
            evaluation.phase = .biometry(.scanning)
            return missed(evaluation)
        case .passcode(let secret, .counting(let before)):
            evaluation.phase = .passcode(secret, .verifying(since: before))
            put(evaluation)
            return [.checkPasscode(id)]
        case .biometry, .passcode, .lastStep, .repeatingNewPasscode: return []
        }
    }

    /// Ends the evaluation with the error of the store. A passcode was not verified and does not count; a miss stays
    /// counted.
    mutating func countersNotStored(_ id: UInt64, _ status: Status) -> [PolicyEffect] {
        guard let evaluation = shown(id), evaluation.isStoring else { return [] }
        if case .passcode(_, .counting(let before)) = evaluation.phase { takeBack(before) }
        return end(id, .failure(status))
    }

    mutating func passcodeChecked(_ id: UInt64, isRight: Bool) -> [PolicyEffect] {
        guard var (evaluation, _) = checked(id) else { return [] }
        // Only `accountProven` completes the request for the account password.
        if isRight, evaluation.secret != .accountPassword {
            put(evaluation)
            let proof = proof(.passcode, nil, evaluation.request, isVirtual: false)
            return countRightPasscode() + proven(evaluation, proof)
        }
        evaluation.failedTries += 1
        evaluation.notice = .wrongPasscode
        put(evaluation)
        return afterWrongPasscode(evaluation)
    }

    /// Asks again, or ends the evaluation after its last try. The prompt gets its last state first, with which it can say why it
    /// ends and how long the next one waits.
    mutating func afterWrongPasscode(_ evaluation: ActiveEvaluation) -> [PolicyEffect] {
        let (id, update) = (evaluation.request.id, PolicyEffect.update(evaluation.request.id, content(evaluation)))
        guard evaluation.failedTries < Self.passcodeTriesPerEvaluation else {
            return [update] + end(id, .failure(.authenticationFailed))
        }
        return [update] + delay(evaluation)
    }

    /// Ends the evaluation because nothing has verified the passcode; the try does not count.
    mutating func passcodeNotVerified(_ id: UInt64, _ status: Status) -> [PolicyEffect] {
        guard let (evaluation, before) = checked(id) else { return [] }
        put(evaluation)
        return takeBackTry(before) + end(id, .failure(status))
    }

    /// Ends the evaluation because the passcode could not be verified. The try stays counted, since verification had
    /// begun.
    mutating func passcodeNotChecked(_ id: UInt64, _ status: Status) -> [PolicyEffect] {
        guard checked(id) != nil else { return [] }
        return end(id, .failure(status))
    }

    // MARK: - Delay

    /// Returns whether the prompt requests a passcode while entry is delayed. The delay of a passcode that is being
    /// verified begins when it is found wrong.
    func isDelayed(_ evaluation: ActiveEvaluation) -> Bool {
        guard case .passcode = evaluation.phase else { return false }
        return !isVerifying && now < passcodeBlockedUntil
    }

    /// Returns the effects of a delay: its timer, and the end of the prompt, which is as long after the delay as it would be
    /// after the prompt has appeared. None if entry is not delayed.
    func delay(_ evaluation: ActiveEvaluation) -> [PolicyEffect] {
        guard isDelayed(evaluation) else { return [] }
        let id = evaluation.request.id
        return [
            .startDelay(id, seconds: delaySeconds), .startDeadline(id, seconds: content(evaluation).secondsToEnd),
        ]
    }

    mutating func delayPassed(_ id: UInt64, at time: Int64) -> [PolicyEffect] {
        // Also handled before the prompt is visible, which may take longer than the delay.
        guard let evaluation = shown(id), case .passcode(_, .typing) = evaluation.phase else { return [] }
        now = time
        return [.update(id, content(evaluation))] + delay(evaluation)
    }

    /// Ends the evaluation when its time is over; with `passcodeDelayed` if the passcode could not be entered because
    /// of the delay.
    mutating func deadlinePassed(_ id: UInt64) -> [PolicyEffect] {
        // Nothing is left to prove.
        if let evaluation = shown(id), evaluation.step == .accountExpired {
            return end(id, .success(evaluation.proven))
        }
        let isDelay = shown(id).map { isDelayed($0) } ?? false
        return end(id, .failure(isDelay ? .passcodeDelayed : .systemCancel))
    }
}
