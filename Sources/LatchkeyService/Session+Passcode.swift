// SPDX-License-Identifier: Apache-2.0

import LatchkeyKeychain
import LatchkeyModel
import LatchkeyPolicy

extension Session {
    /// Sets, changes or removes the passcode. The passcode so far is asked for at a prompt of the daemon's own, which names
    /// the caller: a program cannot try passcodes by itself, nor use up the person's tries.
    func change(_ id: UInt64, _ change: Request.PasscodeChange, _ answer: @escaping Answer) throws(Failure) {
        let keychain = try keychain()
        switch change {
        case .set(let new):
            try check(new)
            try checkIsFirst(service.authenticator.state.isPasscodeSet)
            let caller = caller
            submit(answer) { [self] () throws(Failure) in try set(new, keychain, caller, answer) }
        case .change(let new):
            try check(new)
            askForPasscode(id, for: .changePasscode, answer) { [self] (proof, caller) throws(Failure) in
                try keychain.changePasscode(to: new, caller: caller, proof: proof)
                service.parts.controls?.learn(new)
                answer(.done)
            }
        case .remove:
            askForPasscode(id, for: .removePasscode, answer) { [self] (proof, caller) throws(Failure) in
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

    /// Asks for the passcode, and for nothing that stands for it, then goes on with what was proven.
    private func askForPasscode(
        _ id: UInt64, for purpose: PromptPurpose, _ answer: @escaping Answer,
        then: @escaping @Sendable (Authorisation, Caller) throws(Failure) -> Void
    ) {
        guard !service.authenticator.state.isLocked else {
            return answer(
                .failure(
                    Failure(
                        .interactionNotAllowed, "The keychain is locked, and nothing is asked but what unlocks it.",
                        hint: "Unlock it first with: latchkey unlock")))
        }
        let (caller, epoch) = (caller, proofEpoch)
        askOwner(id, AuthenticationPlan([[.passcode]]), for: purpose) { [self] asked, _ in
            guard case .granted(let proof) = asked else {
                if case .denied(let failure) = asked { answer(.failure(failure)) }
                return
            }
            submit(answer) { [self] () throws(Failure) in
                // A lock, or another change, that came meanwhile has the last word.
                guard epoch == proofEpoch, service.authenticator.state.isPasscodeSet else {
                    throw Refusal.failure(.systemCancel, nil)
                }
                try then(proof, caller)
            }
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

    private func set(
        _ new: SecretBytes, _ keychain: Keychain, _ caller: Caller, _ answer: @escaping Answer
    ) throws(Failure) {
        // Another one may have been set while this waited for its turn.
        try checkIsFirst(keychain.isPasscodeSet)
        // First the counters: a store with a passcode and without them is one that somebody took them out of.
        try keychain.keep(service.authenticator.state.counters)
        try keychain.setPasscode(new, caller: caller)
        service.parts.controls?.learn(new)
        service.authenticator.post(.passcodeExists(true)) { answer(.done) }
    }

    private func check(_ new: SecretBytes) throws(Failure) {
        // The bytes that begin a character in UTF-8.
        let characters = new.withBytes { $0.count { $0 & 0xc0 != 0x80 } }
        guard characters >= Limits.passcodeCharacters else {
            throw Failure(
                .invalidParameter, "A passcode has at least \(Limits.passcodeCharacters) characters.",
                hint: "Choose 6 digits or 8 characters: each one more makes guessing ten times as long or longer.")
        }
    }

    private func checkIsFirst(_ isSet: Bool) throws(Failure) {
        guard !isSet else {
            throw Failure(
                .notPermitted, "A passcode is set already.", hint: "Change it with: latchkey passcode change")
        }
    }
}
