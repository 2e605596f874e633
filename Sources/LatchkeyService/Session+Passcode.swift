// SPDX-License-Identifier: Apache-2.0

import LatchkeyKeychain
import LatchkeyModel
import LatchkeyPolicy

extension Session {
    /// Sets, changes or removes the passcode. Wrong tries count as at a prompt, so that this is no way to guess.
    func change(_ change: Request.PasscodeChange, _ answer: @escaping Answer) throws(Failure) {
        let keychain = try keychain()
        let isSet = service.authenticator.state.isPasscodeSet
        switch change {
        case .set: try checkIsFirst(isSet)
        case .change, .remove:
            guard isSet else { throw Refusal.failure(.passcodeNotSet, nil) }
            try checkDelay()
        }
        let caller = caller
        service.parts.work.submit(.any) { [self] in
            do throws(Failure) {
                try carryOut(change, keychain, caller, answer)
            } catch {
                answer(.failure(error))
            }
        }
    }

    private func carryOut(
        _ change: Request.PasscodeChange, _ keychain: Keychain, _ caller: Caller, _ answer: @escaping Answer
    ) throws(Failure) {
        switch change {
        case .set(let new):
            try check(new)
            // Another one may have been set while this waited for its turn.
            try checkIsFirst(keychain.isPasscodeSet)
            // First the counters: a store with a passcode and without them is one that somebody took them out of.
            try keychain.keep(service.authenticator.state.counters)
            try keychain.setPasscode(new, caller: caller)
            service.parts.controls?.learn(new)
            service.authenticator.post(.passcodeExists(true)) { answer(.done) }
        case .change(let old, let new):
            try check(new)
            try prove(old, keychain, answer) { [self] (proof) throws(Failure) in
                try keychain.changePasscode(to: new, caller: caller, proof: proof)
                service.parts.controls?.learn(new)
                answer(.done)
            }
        case .remove(let old):
            guard !service.authenticator.state.isLocked else {
                throw Failure(
                    .interactionNotAllowed, "The keychain is locked, and nothing else could unlock it.",
                    hint: "Unlock it first with: latchkey unlock")
            }
            try prove(old, keychain, answer) { [self] (proof) throws(Failure) in
                try keychain.removePasscode(caller: caller, proof: proof)
                service.parts.controls?.learn(nil)
                // What was proven with it is proven no more.
                service.forgetProofs()
                service.authenticator.post(.passcodeExists(false)) { [service] in
                    // Nor what was on its way to a context until then.
                    service.forgetProofs()
                    answer(.done)
                }
            }
        }
    }

    private func check(_ new: SecretBytes) throws(Failure) {
        guard new.count > 0 else {
            throw Failure(.invalidParameter, "A passcode cannot be empty.", hint: "Enter at least one character.")
        }
    }

    private func checkIsFirst(_ isSet: Bool) throws(Failure) {
        guard !isSet else {
            throw Failure(
                .notPermitted, "A passcode is set already.", hint: "Change it with: latchkey passcode change")
        }
    }

    private func checkDelay() throws(Failure) {
        let delay = service.authenticator.passcodeDelay()
        guard delay == 0 else {
            throw Failure(
                .passcodeDelayed, "The passcode was wrong too often.", hint: "Try again in \(delay) seconds.")
        }
    }

    /// Goes on with what the passcode proved, or answers why it proved nothing.
    private func prove(
        _ old: SecretBytes, _ keychain: Keychain, _ answer: @escaping Answer,
        then: @escaping @Sendable (Authorisation) throws(Failure) -> Void
    ) throws(Failure) {
        // The tries that stood in line before this one have been counted by now.
        try checkDelay()
        let isRight = try keychain.unlock(old)
        service.authenticator.give(passcodeIsRight: isRight, asker: asker) { [service] outcome in
            switch outcome {
            case .denied(.authenticationFailed):
                answer(.failure(Failure(.authenticationFailed, "The passcode is wrong.", hint: "Try again.")))
            case .denied(let status): answer(.failure(Refusal.failure(status, service.authenticator.state)))
            case .granted(let proof):
                service.parts.work.submit(.any) {
                    do throws(Failure) {
                        try then(proof)
                    } catch {
                        answer(.failure(error))
                    }
                }
            }
        }
    }
}
