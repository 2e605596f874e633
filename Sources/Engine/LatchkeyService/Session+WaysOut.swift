// SPDX-License-Identifier: Apache-2.0

import LatchkeyKeychain
import LatchkeyModel
import LatchkeyPolicy

// Recovery of a store whose database and anchor do not match, or whose rows differ from those that were stored. If the
// anchor or the authority has a passcode, the daemon requests it at a prompt that names the operation. The prompt that
// accepts a store also asks for a typed word, whichever program sends the request; before the other operations the command line tool
// asks for one.

extension Session {
    /// Accepts database, anchor and rows in their present state, after the person at the daemon's own prompt has typed a
    /// word. Without a prompt that no app can answer, any app could put files back, accept them and set a passcode of its
    /// own.
    func acceptStore(_ call: Call) async throws(Failure) -> Reply {
        let (keychain, caller) = (try keychain(), caller)
        if keychain.anchor.condition == .anchorMissing { try keychain.checkReadable() }
        // The audit log may be long.
        try await service.parts.background.run { [self] () throws(Failure) in try checkPasscodeRecord(keychain) }
        let proof = try await proveOwner(call, .acceptStore, keychain)
        let incomplete: Failure? = try await service.parts.work.begin { [self] (end) throws(Failure) in
            let incomplete = try failure { () throws(Failure) in
                try keychain.acceptStore(caller: caller, proof: proof)
            }
            service.maintenance?.rowsWereAccepted()
            // Without the record that says so, the keychain counts as locked.
            if hasPasscode(keychain) { end(incomplete) } else { endLock { end(incomplete) } }
        }
        if let incomplete { throw incomplete }
        return .done
    }

    /// Refuses an anchor that may be of a time before the passcode. No passcode could be asked for, and the program that put the
    /// anchor back would choose the next one: it would open what the lost one protected.
    private func checkPasscodeRecord(_ keychain: Keychain) throws(Failure) {
        guard !hasPasscode(keychain) else { return }
        // The plan of the prompt depends on what latchkey-authd has, so nothing is decided before it has said so.
        guard service.authority.isStateKnown else { throw Self.stateUnknown }
        guard try keychain.mayOutdateAnchor, try keychain.logMayHavePasscode else { return }
        throw Failure(
            .anchorOld,
            "The file anchor is of a time without a passcode, and the audit log says that one is set, or is not complete.",
            hint: "Restore the newest anchor. Without one, discard what the passcode protects with: "
                + "latchkey reset --protected")
    }

    private static var stateUnknown: Failure {
        Failure(
            .daemonUnavailable, "latchkey-authd has not said yet whether a passcode is set.",
            hint: "Try again. If it persists, see: systemctl status latchkey-authd")
    }

    /// Deletes the passcode, the enrolment key, and all items that require a proof or are of the passcode class. Without a
    /// passcode that could be asked for, `latchkey-authd` asks for the account password.
    func discardProtected(_ call: Call) async throws(Failure) -> Reply {
        let (keychain, caller) = (try keychain(), caller)
        if !hasPasscode(keychain), !oneUserOwnsAll { return try await discardAsAccount(call, keychain) }
        let proof = try await proveOwner(call, .discardProtected, keychain)
        return try await discard { () throws(Failure) in
            try keychain.discardProtected(caller: caller, proof: proof)
        }
    }

    /// Does the same as `discardProtected` for a forgotten passcode: without authentication in tiers in which any
    /// program of the user could delete the store's folder as well, otherwise with the account password, for
    /// which `latchkey-authd` asks.
    func discardForgotten(_ call: Call) async throws(Failure) -> Reply {
        let (keychain, caller) = (try keychain(), caller)
        guard !oneUserOwnsAll else {
            return try await discard { () throws(Failure) in try keychain.discardForgotten(caller: caller) }
        }
        guard hasPasscode(keychain) else { throw Failure(.passcodeNotSet, "No passcode is set.") }
        return try await discardAsAccount(call, keychain)
    }

    /// Has `latchkey-authd` ask for the account password, then deletes what is protected.
    private func discardAsAccount(_ call: Call, _ keychain: Keychain) async throws(Failure) -> Reply {
        let caller = caller
        _ = try await ask(call, Question(plan: AuthenticationPlan([]), purpose: .discardProtected))
        return try await discard { () throws(Failure) in try keychain.discardForgotten(caller: caller) }
    }

    /// Deletes what is protected, with the passcode.
    private func discard(_ event: @escaping @Sendable () throws(Failure) -> Void) async throws(Failure) -> Reply {
        try await removingPasscode { [self] () throws(Failure) in
            let incomplete = try failure(of: event)
            service.maintenance?.rowsWereAccepted()
            let unerased = service.maintenance?.eraseDeletedRows()
            return incomplete ?? unerased
        }
    }

    /// Ends a lock, then calls `then`: a locked keychain without a passcode could not be unlocked again. The lock of a
    /// login session ends with that of the session.
    func endLock(then: @escaping @Sendable () -> Void) {
        guard !service.isSessionLock.withLock({ $0 }) else { return then() }
        service.unlock(byBiometry: false) { _ in then() }
    }

    /// Whether the keychain or its authority has a passcode. The authority alone has one if setting or removing it was
    /// interrupted, or if the anchor is lost.
    func hasPasscode(_ keychain: Keychain) -> Bool {
        keychain.isPasscodeSet || service.authority.state.isPasscodeSet
    }

    /// Throws `notPermitted` in tiers that separate the programs of a user from each other.
    func checkOneUserOwnsAll() throws(Failure) {
        guard !oneUserOwnsAll else { return }
        throw Failure(.notPermitted, "In tier \(service.parts.tier.name) an app sees and deletes its own items only.")
    }

    /// Whether any program of the user could read and delete the folder of the store as well.
    var oneUserOwnsAll: Bool {
        switch service.parts.tier {
        case .user, .simulated: true
        case .file, .tpm: false
        }
    }

    private static var wrongWord: Failure {
        Failure(.userCancel, "The word that confirms it was not typed.", hint: "Nothing was changed. Try again.")
    }

    /// Requests the passcode if one is set, and the word of the operation if it has one.
    private func proveOwner(
        _ call: Call, _ purpose: PromptPurpose, _ keychain: Keychain
    ) async throws(Failure) -> Authorisation {
        let word = purpose.confirmationWord.map { SecretBytes($0.utf8) }
        let isAsked = hasPasscode(keychain)
        // An anchor of a time without a passcode does not say that none is set now.
        guard isAsked || service.authority.isStateKnown else { throw Self.stateUnknown }
        guard isAsked || word != nil else { return .none }
        let agreement = try await ask(
            call,
            Question(
                plan: AuthenticationPlan(isAsked ? [[.passcode]] : []), purpose: purpose,
                lastStep: word == nil ? .none : .asksRecoveryCode))
        guard word == nil || agreement.text == word else { throw Self.wrongWord }
        return agreement.proof
    }
}

// Requests that lock and unlock the keychain, sent by the command line tool. A desktop's lock is reported by
// `SessionMonitor`.

extension Session {
    func lock() async throws(Failure) -> Reply {
        guard service.authority.state.isPasscodeSet else {
            throw Failure(
                .passcodeNotSet, "No passcode is set that could unlock the keychain again.",
                hint: "Set one with: latchkey passcode set")
        }
        await withCheckedContinuation { continuation in service.lock { continuation.resume() } }
        return .done
    }

    /// Unlocks the keychain after authentication by biometry or passcode; without a prompt if it is not locked.
    func unlock(_ prompting: Prompting, _ call: Call) async throws(Failure) -> Reply {
        guard service.authority.state.isLocked else { return .done }
        let agreement = try await ask(
            call,
            Question(
                plan: Policy.deviceOwnerAuthentication.plan,
                prompting: Prompting(interactionAllowed: prompting.interactionAllowed), purpose: .unlock))
        // A lock that was requested while the user answered takes precedence.
        try check(agreement)
        let isOpen = await withCheckedContinuation { continuation in
            service.unlock(byBiometry: !agreement.proof.methods.contains(.passcode)) {
                continuation.resume(returning: $0)
            }
        }
        guard isOpen else { throw Refusal.failure(.authenticationFailed, nil) }
        return .done
    }
}
