// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel

// A passcode that is typed: counted, made durable, looked at; and the time in which none is taken.

extension PolicyState {
    /// Counts the try before anything looks at it: a process that is killed, or a disk that is full, gives no tries away.
    mutating func passcodeEntered(_ id: UInt64, at time: Int64) -> [PolicyEffect] {
        guard var evaluation = visible(id, asking: .passcode), !evaluation.isChecking, evaluation.keeping == nil
        else { return [] }
        now = time
        // Behaviour LA-30: while entry is delayed nothing is looked at, and no try is used.
        guard !isDelayed(evaluation) else { return [.update(id, content(evaluation))] }
        evaluation.keeping = .passcode(counters)
        countWrongPasscode()
        active = evaluation
        return [.keepFirst(id, counters)]
    }

    /// The same wrong passcode again is no further try.
    mutating func passcodeRepeated(_ id: UInt64) -> [PolicyEffect] {
        guard var evaluation = visible(id, asking: .passcode), !evaluation.isChecking, evaluation.keeping == nil
        else { return [] }
        evaluation.notice = .sameWrongPasscode
        active = evaluation
        return [.update(id, content(evaluation))]
    }

    mutating func countersKept(_ id: UInt64) -> [PolicyEffect] {
        guard var evaluation = active, evaluation.request.id == id, let kept = evaluation.keeping else { return [] }
        evaluation.keeping = nil
        switch kept {
        case .miss: return missed(evaluation)
        case .passcode:
            evaluation.isChecking = true
            active = evaluation
            return [.checkPasscode(id)]
        }
    }

    /// Ends with the disk's error. A passcode has not been looked at and does not count; a finger has, and does.
    mutating func countersNotKept(_ id: UInt64, _ status: Status) -> [PolicyEffect] {
        guard let evaluation = active, evaluation.request.id == id, let kept = evaluation.keeping else { return [] }
        if case .passcode(let before) = kept { takeBack(before) }
        return end(id, .denied(status))
    }

    mutating func passcodeChecked(_ id: UInt64, isRight: Bool) -> [PolicyEffect] {
        guard var evaluation = visible(id, asking: .passcode), evaluation.isChecking else { return [] }
        evaluation.isChecking = false
        if isRight {
            active = evaluation
            return countRightPasscode() + proven(evaluation, proof(.passcode, nil, evaluation.request))
        }
        evaluation.failedTries += 1
        evaluation.notice = .wrongPasscode
        active = evaluation
        if evaluation.failedTries >= Self.passcodeTriesPerEvaluation { return end(id, .denied(.authenticationFailed)) }
        return [.update(id, content(evaluation))] + delay(evaluation)
    }

    /// The store could not say whether the passcode is right. The try stays counted: it may have been looked at.
    mutating func passcodeNotChecked(_ id: UInt64, _ status: Status) -> [PolicyEffect] {
        guard let evaluation = visible(id, asking: .passcode), evaluation.isChecking else { return [] }
        return end(id, .denied(status))
    }

    // MARK: - Delay

    /// Whether the prompt asks for a passcode that is not taken now.
    func isDelayed(_ evaluation: ActiveEvaluation) -> Bool {
        evaluation.step == .proof && evaluation.method == .passcode && !evaluation.isChecking
            && evaluation.keeping == nil && now < passcodeBlockedUntil
    }

    /// The call that enables entry again.
    func delay(_ evaluation: ActiveEvaluation) -> [PolicyEffect] {
        isDelayed(evaluation) ? [.startDelay(evaluation.request.id, seconds: delaySeconds)] : []
    }

    mutating func delayPassed(_ id: UInt64, at time: Int64) -> [PolicyEffect] {
        // Also before the prompt is visible: it may come up slowly.
        guard let evaluation = active, evaluation.request.id == id, evaluation.step == .proof,
            evaluation.method == .passcode, !evaluation.isChecking, evaluation.keeping == nil
        else { return [] }
        now = time
        return [.update(id, content(evaluation))] + delay(evaluation)
    }

    /// A delay that lasts longer than the prompt is what it ends with: the passcode was not wrong.
    mutating func deadlinePassed(_ id: UInt64) -> [PolicyEffect] {
        let isDelay = active.map { $0.request.id == id && isDelayed($0) } ?? false
        return end(id, .denied(isDelay ? .passcodeDelayed : .systemCancel))
    }
}
