// SPDX-License-Identifier: Apache-2.0

import LatchkeyKeychain
import LatchkeyModel
import LatchkeyPolicy

// The ways out of a store whose database and anchor do not fit together, or whose rows are not those that were stored. The
// daemon asks for the passcode itself and says what it is for; where no passcode is set, or none can be checked, the command
// that asks has the person confirm it in typing.

extension Session {
    /// Uses database, anchor and rows as they are.
    func acceptStore(_ id: UInt64, _ answer: @escaping Answer) throws(Failure) {
        let keychain = try keychain()
        if keychain.anchor.condition == .anchorMissing { try keychain.checkReadable() }
        proveOwner(id, .acceptStore, keychain, answer) { [self] (caller, proof) throws(Failure) in
            try keychain.acceptStore(caller: caller, proof: proof)
            service.keeper?.checkRows()
        }
    }

    /// Deletes what asks for a proof, the passcode and the enrolment key.
    func discardProtected(_ id: UInt64, _ answer: @escaping Answer) throws(Failure) {
        let keychain = try keychain()
        proveOwner(id, .discardProtected, keychain, answer) { [self] (caller, proof) throws(Failure) in
            try keychain.discardProtected(caller: caller, proof: proof)
            service.parts.controls?.learn(nil)
            service.forgetProofs()
            service.authenticator.post(.passcodeExists(false))
        }
    }

    /// The same when the passcode is forgotten: nothing is asked, and the command that asks has the person confirm it in
    /// typing. Only where a program of the user could delete the store's folder as well; elsewhere another program would
    /// gain by it.
    func discardForgotten(_ answer: @escaping Answer) throws(Failure) {
        try checkOneUserOwnsAll()
        let keychain = try keychain()
        let caller = caller
        service.parts.work.submit(.any) { [service] in
            do throws(Failure) {
                try keychain.discardForgotten(caller: caller)
            } catch {
                return answer(.failure(error))
            }
            service.parts.controls?.learn(nil)
            service.forgetProofs()
            service.authenticator.post(.passcodeExists(false))
            // Without a passcode nothing could open the lock again.
            service.unlock(byBiometry: false) { _ in answer(.done) }
        }
    }

    /// Refuses in tiers in which programs of one user are told apart.
    func checkOneUserOwnsAll() throws(Failure) {
        switch service.parts.tier {
        case .user, .simulated: return
        case .file, .tpm:
            throw Failure(
                .notPermitted, "In tier \(service.parts.tier.name) an app sees and deletes its own items only.")
        }
    }

    /// Asks for the passcode if one is set, then does the work where writes run.
    private func proveOwner(
        _ id: UInt64, _ purpose: PromptPurpose, _ keychain: Keychain, _ answer: @escaping Answer,
        then work: @escaping @Sendable (Caller, Authorisation) throws(Failure) -> Void
    ) {
        let caller = caller
        let carryOut: @Sendable (Authorisation) -> Void = { [service] proof in
            service.parts.work.submit(.any) {
                do throws(Failure) {
                    try work(caller, proof)
                    answer(.done)
                } catch {
                    answer(.failure(error))
                }
            }
        }
        guard keychain.isPasscodeSet else { return carryOut(.none) }
        askOwner(id, AuthenticationPlan([[.passcode]]), for: purpose) { asked, _ in
            switch asked {
            case .granted(let proof): carryOut(proof)
            case .denied(let failure): answer(.failure(failure))
            }
        }
    }
}
