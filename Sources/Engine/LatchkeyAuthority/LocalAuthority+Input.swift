// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
import LatchkeyModel
import LatchkeyPolicy
import LatchkeySeams

// Events of the sensor and of the prompt.

extension LocalAuthority {
    func sensor(_ id: UInt64, _ event: SensorEvent) {
        switch event {
        case .match(let set, let isVirtual): matched(id, set, isVirtual: isVirtual)
        case .noMatch: post(.notMatched(id))
        case .failed: post(.sensorFailed(id))
        case .guidance(let guidance): post(.guided(id, guidance))
        case .inUse(let isInUse): post(.sensorInUse(id, isInUse))
        case .disconnected: post(.sensorDisconnected(id))
        }
    }

    /// A scan reads the enrolment set when it has claimed the reader, which can be earlier than a change of the set is
    /// announced. Then the change is applied first: its match counts for the new set, and opens nothing of the old one.
    private func matched(_ id: UInt64, _ set: EnrolmentSet, isVirtual: Bool) {
        let match = PolicyEvent.matched(id, set, isVirtual: isVirtual)
        guard core.withLock({ $0.state.sensor.enrolment }) != set else { return post(match) }
        // Not on the sensor's thread: the store adopts the set, for which this thread waits.
        parts.work.submit(.any) { [self] in
            refreshSensor()
            post(match)
        }
    }

    func prompt(_ id: UInt64, _ event: PromptEvent) {
        switch event {
        case .visible: post(.promptVisible(id))
        case .unavailable: post(.promptUnavailable(id))
        case .lost: post(.promptLost(id))
        case .cancel: post(.cancelChosen(id))
        case .interrupt: post(.withdrawn(id, .interrupted))
        case .fallback: post(.fallbackChosen(id))
        case .passcode(let passcode):
            enter(passcode, id)
        case .permission(let isAllowed): post(.permissionAnswered(id, isAllowed))
        case .codeAcknowledged: post(.codeAcknowledged(id))
        case .codeEntered(let code):
            let isWhole = RecoveryCode(typed: code) != nil
            let enter = QueuedEvent { core in
                // Only the first recovery code is used: its event ends the evaluation.
                let isAsked = core.isIn(.recoveryCodeAsked, id)
                let answers = core.answers(id)
                let isAnswer = SecretAnswer(entered: code).map(answers.contains) ?? false
                guard isAsked || isAnswer || core.isIn(.recoveryCodeRepeated, id), core.enteredCodes[id] == nil else {
                    return nil
                }
                let wantsWord = core.pending[id]?.request.purpose.confirmationWord != nil
                guard isWhole || !isAsked || wantsWord else { return .codeMistyped(id) }
                core.enteredCodes[id] = code
                return .codeEntered(id)
            }
            post(enter)
        case .newPasscodeEntered(let passcode): enterNew(passcode, id)
        case .newPasscodeRepeated(let passcode): repeatNew(passcode, id)
        case .simulatedTouch(let matching):
            // Outside the simulated tier a prompt must not operate the sensor.
            guard parts.tier == .simulated else { return }
            parts.simulatedTouch?(matching)
        }
    }

    private func enter(_ passcode: SecretBytes, _ id: UInt64) {
        let isRepeated = core.withLock { core in
            // A passcode that arrives after the evaluation ended must not be stored: nothing would ever remove it.
            guard let pending = core.pending[id] else { return false }
            // Compares with all earlier passcodes, so that the duration does not reveal which one is equal.
            let isRepeated = pending.wrongPasscodes.reduce(false) { $1 == passcode || $0 }
            if !isRepeated { core.entered[id] = passcode }
            return isRepeated
        }
        post(isRepeated ? .passcodeRepeated(id) : .passcodeEntered(id, at: parts.clock.uptime))
    }

    func checkPasscode(_ id: UInt64) {
        let (passcode, failed, question) = core.withLock { core in
            (core.entered.removeValue(forKey: id), core.pending[id]?.failed, core.passcodeQuestion(id))
        }
        guard let passcode, let failed else { return post(.passcodeNotChecked(id, .internalFailure)) }
        let entered = EnteredPasscode(evaluation: id, text: passcode, failed: failed)
        switch question {
        case .account: verifyAccount(entered) { [self] in accountWasProven(passcode, id) }
        case .previous(let password):
            stretch(id) { [self] () throws(Failure) in
                try openAccount(password, previous: passcode)
            } wrong: { [self] in
                passcodeWasWrong(entered, .accountPassword)
            }
        case .passcode: checkPasscode(entered)
        }
    }

    /// A passcode that is verified, and what is told if it is wrong: its evaluation can end meanwhile.
    struct EnteredPasscode: Sendable {
        let evaluation: UInt64
        let text: SecretBytes
        let failed: @Sendable (TriedProof) -> Void
    }

    /// Verifies a passcode of one's own by the store, and the account password by the system first.
    private func checkPasscode(_ entered: EnteredPasscode) {
        let id = entered.evaluation
        let kinds: Set<PasscodeKind>
        do throws(Failure) {
            kinds = try parts.account?.kinds() ?? [.own]
        } catch {
            return passcodeWasNotChecked(id, error)
        }
        let checkAccount: @Sendable () -> Void = { [self] in
            verifyAccount(entered) { [self] in
                core.withLock { $0.pending[id]?.accountPassword = entered.text }
                stretch(id) { [self] () throws(Failure) in
                    try openAccount(entered.text, previous: nil)
                } wrong: { [self] in
                    passcodeWasWrong(entered, .accountPassword)
                }
            }
        }
        // Both kinds exist while a change from one to the other is unfinished.
        guard kinds.contains(.own) || kinds.isEmpty else { return checkAccount() }
        stretch(id) { [self] () throws(Failure) in
            guard let client else { throw Failure(.systemCancel) }
            return try client.open(entered.text)
        } wrong: { [self] in
            if kinds.contains(.account) { checkAccount() } else { passcodeWasWrong(entered, .passcode) }
        }
    }

    private func openAccount(_ password: SecretBytes, previous: SecretBytes?) throws(Failure) -> PasscodeVerdict {
        guard let account = parts.account else {
            throw Failure(.internalFailure, "The password of an account is not verified in this process.")
        }
        return try account.passcode.open(accountPassword: password, previous: previous)
    }

    func passcodeWasWrong(_ entered: EnteredPasscode, _ proof: TriedProof) {
        core.withLock { $0.pending[entered.evaluation]?.wrongPasscodes.append(entered.text) }
        entered.failed(proof)
        post(.passcodeChecked(entered.evaluation, isRight: false))
    }

    /// Remembers why the passcode of an evaluation cannot be verified, which the answer names.
    private func explain(_ id: UInt64, _ failure: Failure) { core.withLock { $0.pending[id]?.cause = failure } }

    private func passcodeWasNotChecked(_ id: UInt64, _ failure: Failure) {
        parts.log.record(.passcodeNotChecked, failure)
        explain(id, failure)
        post(.passcodeNotChecked(id, failure.status))
    }

    /// Runs a check that stretches a passcode, and reports its result.
    private func stretch(
        _ id: UInt64, _ open: @escaping @Sendable () throws(Failure) -> PasscodeVerdict,
        wrong: @escaping @Sendable () -> Void
    ) {
        let check: @Sendable () -> Void = { [self] in
            // If the evaluation has ended, its passcode is not verified.
            guard core.withLock({ $0.pending[id] != nil }) else { return }
            do throws(Failure) {
                switch try open() {
                case .right(let opened):
                    // It belongs to this evaluation only, and to none if that has ended: otherwise the passcode of one login
                    // session could be used for the answer to a program of another one.
                    core.withLock { $0.pending[id]?.opened = opened }
                    post(.passcodeChecked(id, isRight: true))
                case .wrong: wrong()
                case .outdated: passcodeWasOutdated(id)
                case .notVerified(let failure):
                    parts.log.record(.passcodeNotChecked, failure)
                    explain(id, failure)
                    post(.passcodeNotVerified(id, failure.status))
                case .rightButClosed(let failure):
                    passcodeWasNotChecked(id, failure)
                    // The try was counted before it was verified.
                    post(.passcodeWasRight)
                }
            } catch {
                passcodeWasNotChecked(id, error)
            }
        }
        do throws(Failure) {
            // Key stretching takes up to a quarter of a second, which would delay the thread that writes.
            try parts.stretching.submit(.person, check)
        } catch {
            // Does not happen: the queue has no limit for prompts, of which one is verified at a time.
            passcodeWasNotChecked(id, error)
        }
    }
}
