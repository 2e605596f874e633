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
    func acceptStore(_ id: UInt64, _ answer: @escaping Answer) throws(Failure) {
        let keychain = try keychain()
        if keychain.anchor.condition == .anchorMissing { try keychain.checkReadable() }
        // The audit log may be long.
        service.parts.background.submit(.any) { [self] in
            do throws(Failure) {
                try checkPasscodeRecord(keychain)
                acceptAfterPrompt(id, keychain, answer)
            } catch {
                answer(.failure(error))
            }
        }
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

    private func acceptAfterPrompt(_ id: UInt64, _ keychain: Keychain, _ answer: @escaping Answer) {
        proveOwner(id, .acceptStore, keychain, answer) { [self] (caller, proof) throws(Failure) in
            let incomplete = try failure { () throws(Failure) in
                try keychain.acceptStore(caller: caller, proof: proof)
            }
            service.keeper?.rowsWereAccepted()
            let reply = incomplete.map { Reply.failure($0) } ?? .done
            // Without the record that says so, the keychain counts as locked.
            if hasPasscode(keychain) { answer(reply) } else { endLock(reply, answer) }
        }
    }

    /// Deletes the passcode, the enrolment key, and all items that require a proof or are of the passcode class. Without a
    /// passcode that could be asked for, `latchkey-authd` asks for the password of the account.
    func discardProtected(_ id: UInt64, _ answer: @escaping Answer) throws(Failure) {
        let keychain = try keychain()
        if !hasPasscode(keychain), !oneUserOwnsAll { return discardAsAccount(id, keychain, answer) }
        proveOwner(id, .discardProtected, keychain, answer) { [self] (caller, proof) throws(Failure) in
            let incomplete = try failure { () throws(Failure) in
                try keychain.discardProtected(caller: caller, proof: proof)
            }
            wasDiscarded(incomplete, answer)
        }
    }

    /// Does the same as `discardProtected` for a forgotten passcode: without authentication in tiers in which any
    /// program of the user could delete the store's folder as well, otherwise with the password of the account, for
    /// which `latchkey-authd` asks.
    func discardForgotten(_ id: UInt64, _ answer: @escaping Answer) throws(Failure) {
        let keychain = try keychain()
        guard !oneUserOwnsAll else { return discardForgotten(keychain, caller, answer) }
        guard hasPasscode(keychain) else { throw Failure(.passcodeNotSet, "No passcode is set.") }
        discardAsAccount(id, keychain, answer)
    }

    /// Has `latchkey-authd` ask for the password of the account, then deletes what is protected.
    private func discardAsAccount(_ id: UInt64, _ keychain: Keychain, _ answer: @escaping Answer) {
        let caller = caller
        askOwner(id, AuthenticationPlan([]), for: .discardProtected) { [self] asked, _ in
            switch asked {
            case .granted: discardForgotten(keychain, caller, answer)
            case .denied(let failure): answer(.failure(failure))
            }
        }
    }

    private func discardForgotten(_ keychain: Keychain, _ caller: Caller, _ answer: @escaping Answer) {
        service.parts.work.submit(.any) { [self] in
            let incomplete: Failure?
            do throws(Failure) {
                incomplete = try failure { () throws(Failure) in
                    try keychain.discardForgotten(caller: caller)
                }
            } catch {
                return answer(.failure(error))
            }
            wasDiscarded(incomplete, answer)
        }
    }

    private func wasDiscarded(_ incomplete: Failure?, _ answer: @escaping Answer) {
        service.keeper?.rowsWereAccepted()
        let unerased = service.keeper?.eraseDeletedRows()
        let failure = incomplete ?? unerased
        passcodeWasRemoved { [self] in endLock(failure.map { .failure($0) } ?? $0, answer) }
    }

    /// Ends a lock, then answers: a locked keychain without a passcode could not be unlocked again. The lock of a login session
    /// ends with that of the session.
    func endLock(_ reply: Reply, _ answer: @escaping Answer) {
        guard !service.isSessionLock.withLock({ $0 }) else { return answer(reply) }
        service.unlock(byBiometry: false) { _ in answer(reply) }
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
    private var oneUserOwnsAll: Bool {
        switch service.parts.tier {
        case .user, .simulated: true
        case .file, .tpm: false
        }
    }

    private static var wrongWord: Failure {
        Failure(.userCancel, "The word that confirms it was not typed.", hint: "Nothing was changed. Try again.")
    }

    /// Requests the passcode if one is set, and the word of the operation if it has one; then runs `work`, which answers
    /// unless it throws, on the write queue.
    private func proveOwner(
        _ id: UInt64, _ purpose: PromptPurpose, _ keychain: Keychain, _ answer: @escaping Answer,
        then work: @escaping @Sendable (Caller, Authorisation) throws(Failure) -> Void
    ) {
        let caller = caller
        let word = purpose.confirmationWord
        let carryOut: @Sendable (Authorisation) -> Void = { [service] proof in
            service.parts.work.submit(.any) {
                do throws(Failure) {
                    try work(caller, proof)
                } catch {
                    answer(.failure(error))
                }
            }
        }
        func ask(_ plan: AuthenticationPlan) {
            askOwner(id, plan, for: purpose, lastStep: word == nil ? .none : .asksRecoveryCode) { asked, typed in
                switch asked {
                case .granted(let proof):
                    guard word == nil || typed == word.map({ SecretBytes($0.utf8) }) else {
                        return answer(.failure(Self.wrongWord))
                    }
                    carryOut(proof)
                case .denied(let failure): answer(.failure(failure))
                }
            }
        }
        guard hasPasscode(keychain) else {
            // An anchor of a time without a passcode does not say that none is set now.
            guard service.authority.isStateKnown else { return answer(.failure(Self.stateUnknown)) }
            guard word != nil else { return carryOut(.none) }
            return ask(AuthenticationPlan([]))
        }
        ask(AuthenticationPlan([[.passcode]]))
    }
}
