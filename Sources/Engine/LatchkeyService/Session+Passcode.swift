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
    func change(_ change: Request.PasscodeChange, _ call: Call) async throws(Failure) -> Reply {
        switch change {
        // The code opens a keychain that cannot be opened otherwise.
        case .recoverAtPrompt: return try await recover(call)
        case .set(let new):
            let keychain = try completeKeychain()
            try checkMayCarry(new)
            try checkIsFirst(hasPasscode(keychain))
            return try await set(.text(new), keychain)
        case .change(let new):
            let keychain = try completeKeychain()
            try checkMayCarry(new)
            let agreement = try await askForPasscode(call, for: .changePasscode)
            return try await replace(.text(new), keychain, agreement)
        case .setAtPrompt:
            let keychain = try completeKeychain()
            try checkIsFirst(hasPasscode(keychain))
            let agreement = try await ask(
                call, Question(plan: AuthenticationPlan([]), purpose: .setPasscode, lastStep: .asksNewPasscode))
            return try await set(try entered(agreement), keychain)
        case .changeAtPrompt:
            let keychain = try completeKeychain()
            let agreement = try await askForPasscode(call, for: .changePasscode, lastStep: .asksNewPasscode)
            return try await replace(try entered(agreement), keychain, agreement)
        case .remove:
            let keychain = try keychain()
            return try await remove(keychain, try await askForPasscode(call, for: .removePasscode))
        }
    }

    private func entered(_ agreement: Agreement) throws(Failure) -> AuthenticationGrant.Entered {
        guard let entered = agreement.entered else {
            throw Failure(.internalFailure, "The prompt returned no new passcode.")
        }
        return entered
    }

    private func set(_ new: AuthenticationGrant.Entered, _ keychain: Keychain) async throws(Failure) -> Reply {
        let caller = caller
        let key = try await key(of: new, keychain)
        try await service.carryOut(.passcodeExists(true)) { [self] () throws(Failure) in
            // Another request may have set a passcode while this one waited.
            try checkIsFirst(keychain.isPasscodeSet)
            try adoptRecovery(new)
            // Counters are stored first: a passcode without counters means that they were removed
            // (`LocalAuthority.restore`).
            try service.authority.persistCounters()
            let incomplete = try failure { () throws(Failure) in try keychain.setPasscode(key, caller: caller) }
            service.sealForPasscode()
            return incomplete
        }
        return .done
    }

    private func replace(
        _ new: AuthenticationGrant.Entered, _ keychain: Keychain, _ agreement: Agreement
    ) async throws(Failure) -> Reply {
        let caller = caller
        let key = try await key(of: new, keychain)
        try await service.carryOut(.passcodeChanged) { [self] () throws(Failure) in
            try checkPasscode(agreement)
            try adoptRecovery(new)
            return try failure { () throws(Failure) in
                try keychain.changePasscode(to: key, caller: caller, proof: agreement.proof)
            }
        }
        try await service.parts.work.run { () throws(Failure) in try keychain.completePasscodeChange() }
        return .done
    }

    private func remove(_ keychain: Keychain, _ agreement: Agreement) async throws(Failure) -> Reply {
        let caller = caller
        return try await removingPasscode { [self] () throws(Failure) in
            try checkPasscode(agreement)
            return try failure { () throws(Failure) in
                try keychain.removePasscode(caller: caller, proof: agreement.proof)
            }
        }
    }

    /// Carries out an event that the authority applies too. Its last write can fail when the event has happened
    /// already: then the authority has to apply it nevertheless, and the request fails.
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

    /// Carries out an event that removes the passcode from the keychain. The reply follows when the authority has
    /// applied it too: before that, the status could still say that a passcode is set.
    func removingPasscode(_ event: @escaping @Sendable () throws(Failure) -> Failure?) async throws(Failure) -> Reply {
        try await service.carryOut(.passcodeExists(false)) { [service] () throws(Failure) in
            let incomplete = try event()
            // Proofs of the removed passcode are no longer valid.
            service.forgetProofs()
            return incomplete
        } then: { [self] done in
            // Events queued before this one may have added proofs meanwhile.
            service.forgetProofs()
            service.forgetRecovery()
            // Another connection may have locked the keychain meanwhile.
            endLock(then: done)
        }
        return .done
    }

    /// Adopts the recovery code that was shown with a new passcode, before the passcode: so no passcode is in use whose
    /// code does not open the store.
    private func adoptRecovery(_ new: AuthenticationGrant.Entered) throws(Failure) {
        guard case .slotKey(_, _, let granted?) = new, let recovery = service.parts.recovery else { return }
        try recovery.persist(granted.replacement)
    }

    /// Requests the passcode at a prompt, without accepting any other method or earlier proof.
    private func askForPasscode(
        _ call: Call, for purpose: PromptPurpose, lastStep: LastStep = .none
    ) async throws(Failure) -> Agreement {
        guard !service.authority.state.isLocked else { throw Refusal.locked }
        return try await ask(
            call, Question(plan: AuthenticationPlan([[.passcode]]), purpose: purpose, lastStep: lastStep))
    }

    /// Returns the key of a new passcode. A passcode in text is stretched in the program's turn first.
    private func key(of new: AuthenticationGrant.Entered, _ keychain: Keychain) async throws(Failure) -> NewPasscodeKey
    {
        switch new {
        case .slotKey(let key, let passcodeID, _): return .slotKey(key, passcodeID: passcodeID)
        case .text(let text):
            let parameters = try keychain.newPasscodeStretching()
            return .stretched(try await stretch { () throws(Failure) in try StretchedPassword(text, parameters) })
        }
    }

    /// Throws if the proof of the passcode is no longer valid: a lock or another change of the passcode meanwhile takes
    /// precedence.
    private func checkPasscode(_ agreement: Agreement) throws(Failure) {
        try check(agreement)
        guard service.authority.state.isPasscodeSet else { throw Refusal.failure(.systemCancel, nil) }
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

    /// Returns the keychain; throws if the authority has a passcode that it does not have: setting or removing one was
    /// interrupted.
    private func completeKeychain() throws(Failure) -> Keychain {
        let keychain = try keychain()
        guard service.authority.state.isPasscodeSet, !keychain.isPasscodeSet else { return keychain }
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
