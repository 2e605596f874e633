// SPDX-License-Identifier: Apache-2.0

import LatchkeyKeychain
import LatchkeyModel
import LatchkeyPolicy

// Recovery of a store whose database and anchor do not match, or whose rows differ from those that were stored. If the
// anchor has a passcode, the daemon requests it at a prompt that names the operation. The command line tool also has
// the user confirm each operation by typing a word.

extension Session {
    /// Accepts database, anchor and rows in their present state.
    func acceptStore(_ id: UInt64, _ answer: @escaping Answer) throws(Failure) {
        let keychain = try keychain()
        if keychain.anchor.condition == .anchorMissing { try keychain.checkReadable() }
        proveOwner(id, .acceptStore, keychain, answer) { [self] (caller, proof) throws(Failure) in
            try keychain.acceptStore(caller: caller, proof: proof)
            service.keeper?.checkRows()
        }
    }

    /// Deletes the passcode, the enrolment key, and all items that require a proof or are of the passcode class.
    func discardProtected(_ id: UInt64, _ answer: @escaping Answer) throws(Failure) {
        let keychain = try keychain()
        proveOwner(id, .discardProtected, keychain, answer) { [self] (caller, proof) throws(Failure) in
            try keychain.discardProtected(caller: caller, proof: proof)
            service.forgetProofs()
            service.forgetRecovery()
            service.authority.report(.passcodeExists(false), then: nil)
        }
    }

    /// Does the same as `discardProtected` for a forgotten passcode: without authentication in tiers in which any
    /// program of the user could delete the store's folder as well, otherwise with the password of the account, for
    /// which `latchkey-authd` asks.
    func discardForgotten(_ id: UInt64, _ answer: @escaping Answer) throws(Failure) {
        let keychain = try keychain()
        let caller = caller
        switch service.parts.tier {
        case .user, .simulated: discardForgotten(keychain, caller, answer)
        case .file, .tpm:
            // The authority alone has one if setting or removing it was interrupted.
            guard keychain.isPasscodeSet || service.authority.state.isPasscodeSet else {
                throw Failure(.passcodeNotSet, "No passcode is set.")
            }
            askOwner(id, AuthenticationPlan([]), for: .discardProtected) { [self] asked, _ in
                switch asked {
                case .granted: discardForgotten(keychain, caller, answer)
                case .denied(let failure): answer(.failure(failure))
                }
            }
        }
    }

    private func discardForgotten(_ keychain: Keychain, _ caller: Caller, _ answer: @escaping Answer) {
        service.parts.work.submit(.any) { [service] in
            do throws(Failure) {
                try keychain.discardForgotten(caller: caller)
            } catch {
                return answer(.failure(error))
            }
            service.forgetProofs()
            service.forgetRecovery()
            service.authority.report(.passcodeExists(false), then: nil)
            // A locked keychain without a passcode could not be unlocked again.
            service.unlock(byBiometry: false) { _ in answer(.done) }
        }
    }

    /// Throws `notPermitted` in tiers that separate the programs of a user from each other.
    func checkOneUserOwnsAll() throws(Failure) {
        switch service.parts.tier {
        case .user, .simulated: return
        case .file, .tpm:
            throw Failure(
                .notPermitted, "In tier \(service.parts.tier.name) an app sees and deletes its own items only.")
        }
    }

    /// Requests the passcode if one is set, then runs `work` on the write queue.
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
