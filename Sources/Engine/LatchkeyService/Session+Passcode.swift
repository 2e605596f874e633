// SPDX-License-Identifier: Apache-2.0

import LatchkeyKeychain
import LatchkeyModel
import LatchkeyPolicy
import LatchkeySeams

extension Session {
    /// Sets, changes or removes the passcode.
    ///
    /// The daemon requests the current passcode at its own prompt, which names the caller, so that a program can
    /// neither try passcodes without the user nor use up the user's tries.
    func change(_ id: UInt64, _ change: Request.PasscodeChange, _ answer: @escaping Answer) throws(Failure) {
        // The code opens a keychain that cannot be opened otherwise.
        if case .recoverAtPrompt = change { return try recover(id, answer) }
        let keychain = try keychain()
        switch change {
        case .set, .change, .setAtPrompt, .changeAtPrompt: try checkIsSettled(keychain)
        case .remove, .recoverAtPrompt: break
        }
        switch change {
        case .recoverAtPrompt: break
        case .set(let new):
            try checkMayCarry(new)
            try checkIsFirst(hasPasscode(keychain))
            set(.text(new), keychain, answer)
        case .change(let new):
            try checkMayCarry(new)
            askForPasscode(id, for: .changePasscode, answer) { [self] proven, _ in
                replace(.text(new), keychain, proven, answer)
            }
        case .setAtPrompt:
            try checkIsFirst(hasPasscode(keychain))
            askOwnerToEnter(id, AuthenticationPlan([]), for: .setPasscode, lastStep: .asksNewPasscode) {
                [self] asked, entered in
                switch (asked, entered) {
                case (.denied(let failure), _): answer(.failure(failure))
                case (.granted, let entered?): set(entered, keychain, answer)
                case (.granted, nil): answer(.failure(Self.nothingEntered))
                }
            }
        case .changeAtPrompt:
            askForPasscode(id, for: .changePasscode, lastStep: .asksNewPasscode, answer) { [self] proven, entered in
                guard let entered else { return answer(.failure(Self.nothingEntered)) }
                replace(entered, keychain, proven, answer)
            }
        case .remove:
            askForPasscode(id, for: .removePasscode, answer) { [self] proven, _ in
                submit(proven, answer) { [self] () throws(Failure) in
                    try remove(keychain, proven, answer)
                }
            }
        }
    }

    private static let nothingEntered = Failure(.internalFailure, "The prompt returned no new passcode.")

    private func set(_ new: AuthenticationGrant.Entered, _ keychain: Keychain, _ answer: @escaping Answer) {
        let caller = caller
        key(of: new, keychain, answer) { [self] key in
            submit(answer) { [self] () throws(Failure) in
                // Another request may have set a passcode while this one waited.
                try checkIsFirst(keychain.isPasscodeSet)
                try keepRecovery(new)
                // Counters are stored first: a passcode without counters means that they were removed
                // (`LocalAuthority.restore`).
                try service.authority.keepCounters()
                let incomplete = try failure { () throws(Failure) in
                    try keychain.setPasscode(key, caller: caller)
                }
                service.sealForPasscode()
                service.authority.report(.passcodeExists(true)) {
                    answer((incomplete ?? $0).map { .failure($0) } ?? .done)
                }
            }
        }
    }

    private func replace(
        _ new: AuthenticationGrant.Entered, _ keychain: Keychain, _ proven: Proven, _ answer: @escaping Answer
    ) {
        key(of: new, keychain, answer) { [self] key in
            submit(proven, answer) { [self] () throws(Failure) in
                try keepRecovery(new)
                let incomplete = try failure { () throws(Failure) in
                    try keychain.changePasscode(to: key, caller: proven.caller, proof: proven.proof)
                }
                service.authority.report(.passcodeChanged) { [self] in complete(incomplete ?? $0, keychain, answer) }
            }
        }
    }

    /// Ends a change of the passcode when the authority has followed it.
    private func complete(_ failure: Failure?, _ keychain: Keychain, _ answer: @escaping Answer) {
        if let failure { return answer(.failure(failure)) }
        submit(answer) { () throws(Failure) in
            try keychain.completePasscodeChange()
            answer(.done)
        }
    }

    private func remove(_ keychain: Keychain, _ proven: Proven, _ answer: @escaping Answer) throws(Failure) {
        let incomplete = try failure { () throws(Failure) in
            try keychain.removePasscode(caller: proven.caller, proof: proven.proof)
        }
        // Another connection may have locked the keychain meanwhile.
        passcodeWasRemoved { [self] in endLock(incomplete.map { .failure($0) } ?? $0, answer) }
    }

    /// Carries out an event that the authority follows. Its last write can fail when the event has happened already: then
    /// the authority has to follow it nevertheless, and the request fails.
    ///
    /// - Returns: the failure of an event that has happened; throws that of one that has not.
    func failure(of event: () throws(Failure) -> Void) throws(Failure) -> Failure? {
        do throws(Failure) {
            try event()
            return nil
        } catch {
            guard error.isOfIncompleteEvent else { throw error }
            return error
        }
    }

    /// Follows the removal of the passcode from the keychain, and answers when the authority has followed it too: before
    /// that, the status could still say that a passcode is set.
    func passcodeWasRemoved(_ answer: @escaping Answer) {
        // Proofs of the removed passcode are no longer valid.
        service.forgetProofs()
        service.authority.report(.passcodeExists(false)) { [service] failure in
            // Events queued before this one may have added proofs meanwhile.
            service.forgetProofs()
            service.forgetRecovery()
            answer(failure.map { .failure($0) } ?? .done)
        }
    }

    /// Adopts the recovery code that was shown with a new passcode, before the passcode: so no passcode is in use whose
    /// code does not open the store.
    private func keepRecovery(_ new: AuthenticationGrant.Entered) throws(Failure) {
        guard case .slotKey(_, _, let granted?) = new, let recovery = service.parts.recovery else { return }
        try recovery.keep(granted.replacement)
    }

    /// The proof of the current passcode, for one request.
    private struct Proven: Sendable {
        let proof: Authorisation
        let caller: Caller
        let epoch: UInt64
    }

    /// Requests the passcode at a prompt, without accepting any other method or earlier proof, then continues with the
    /// proof.
    private func askForPasscode(
        _ id: UInt64, for purpose: PromptPurpose, lastStep: LastStep = .none, _ answer: @escaping Answer,
        then: @escaping @Sendable (Proven, AuthenticationGrant.Entered?) -> Void
    ) {
        guard !service.authority.state.isLocked else {
            return answer(.failure(Refusal.locked))
        }
        let (caller, epoch) = (caller, proofEpoch)
        askOwnerToEnter(id, AuthenticationPlan([[.passcode]]), for: purpose, lastStep: lastStep) { asked, entered in
            switch asked {
            case .granted(let proof): then(Proven(proof: proof, caller: caller, epoch: epoch), entered)
            case .denied(let failure): answer(.failure(failure))
            }
        }
    }

    /// Continues with the key of a new passcode. A passcode in text is stretched in the program's turn first.
    private func key(
        of new: AuthenticationGrant.Entered, _ keychain: Keychain, _ answer: @escaping Answer,
        next: @escaping @Sendable (NewPasscodeKey) -> Void
    ) {
        let text: SecretBytes
        switch new {
        case .slotKey(let key, let passcodeID, _): return next(.slotKey(key, passcodeID: passcodeID))
        case .text(let entered): text = entered
        }
        do throws(Failure) {
            let parameters = try keychain.newPasscodeStretching()
            try service.parts.stretching.submit(stretchClient) { [self] in
                // If the connection ended meanwhile, no reply is needed.
                guard !isClosed else { return }
                do throws(Failure) {
                    next(.stretched(try StretchedPassword(text, parameters)))
                } catch {
                    answer(.failure(error))
                }
            }
        } catch {
            answer(.failure(error))
        }
    }

    /// Runs the work of a request on the write queue, if the proof of the passcode is still valid.
    private func submit(
        _ proven: Proven, _ answer: @escaping Answer, _ body: @escaping @Sendable () throws(Failure) -> Void
    ) {
        submit(answer) { [self] () throws(Failure) in
            // A lock or another change of the passcode meanwhile takes precedence.
            guard proven.epoch == proofEpoch, service.authority.state.isPasscodeSet else {
                throw Refusal.failure(.systemCancel, nil)
            }
            try body()
        }
    }

    private func submit(_ answer: @escaping Answer, _ body: @escaping @Sendable () throws(Failure) -> Void) {
        service.parts.work.submit(.any) {
            do throws(Failure) {
                try body()
            } catch {
                answer(.failure(error))
            }
        }
    }

    /// Throws if a request may not carry a new passcode in this tier, or if the passcode is too short.
    private func checkMayCarry(_ new: SecretBytes) throws(Failure) {
        switch service.parts.tier {
        case .user, .simulated: break
        case .file, .tpm:
            throw Failure(
                .notPermitted, "In tier \(service.parts.tier.name) a passcode is entered at the prompt only.",
                hint: "Use: latchkey passcode set")
        }
        guard new.isLongEnoughAsPasscode(in: service.parts.tier) else {
            throw Failure(
                .invalidParameter,
                "A passcode has at least \(service.parts.tier.passcodeCharacters) characters.",
                hint: "Choose 6 digits or 8 characters; each additional one makes guessing at least 10 times as long.")
        }
    }

    /// Throws if the authority has a passcode that the keychain does not have: setting or removing one was interrupted.
    private func checkIsSettled(_ keychain: Keychain) throws(Failure) {
        guard service.authority.state.isPasscodeSet, !keychain.isPasscodeSet else { return }
        throw Failure(
            .notPermitted, "The passcode is not complete: setting or removing it was interrupted.",
            hint: "Remove it, then set one: latchkey passcode remove. If it is forgotten: latchkey reset")
    }

    private func checkIsFirst(_ isSet: Bool) throws(Failure) {
        guard !isSet else {
            throw Failure(
                .notPermitted, "A passcode is set already.", hint: "Change it with: latchkey passcode change")
        }
    }
}
