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
            stretch(new, keychain, answer) { [self] stretched in
                submit(answer) { [self] () throws(Failure) in
                    try set(stretched, keychain, caller)
                    service.parts.controls?.learn(new)
                    service.authenticator.post(.passcodeExists(true)) { answer(.done) }
                }
            }
        case .change(let new):
            try check(new)
            askForPasscode(id, for: .changePasscode, answer) { [self] proven in
                stretch(new, keychain, answer) { [self] stretched in
                    submit(proven, answer) { [self] () throws(Failure) in
                        try keychain.changePasscode(to: stretched, caller: proven.caller, proof: proven.proof)
                        service.parts.controls?.learn(new)
                        answer(.done)
                    }
                }
            }
        case .remove:
            askForPasscode(id, for: .removePasscode, answer) { [self] proven in
                submit(proven, answer) { [self] () throws(Failure) in
                    try remove(keychain, proven, answer)
                }
            }
        }
    }

    private func remove(_ keychain: Keychain, _ proven: Proven, _ answer: @escaping Answer) throws(Failure) {
        try keychain.removePasscode(caller: proven.caller, proof: proven.proof)
        service.parts.controls?.learn(nil)
        // What was proven with it is proven no more.
        service.forgetProofs()
        service.authenticator.post(.passcodeExists(false)) { [service] in
            // Nor what was on its way to a context until then.
            service.forgetProofs()
            answer(.done)
        }
    }

    /// The old passcode, as it was proven for one request.
    private struct Proven: Sendable {
        let proof: Authorisation
        let caller: Caller
        let epoch: UInt64
    }

    /// Asks for the passcode, and for nothing that stands for it, then goes on with what was proven.
    private func askForPasscode(
        _ id: UInt64, for purpose: PromptPurpose, _ answer: @escaping Answer,
        then: @escaping @Sendable (Proven) -> Void
    ) {
        guard !service.authenticator.state.isLocked else {
            return answer(
                .failure(
                    Failure(
                        .interactionNotAllowed, "The keychain is locked, and nothing is asked but what unlocks it.",
                        hint: "Unlock it first with: latchkey unlock")))
        }
        let (caller, epoch) = (caller, proofEpoch)
        askOwner(id, AuthenticationPlan([[.passcode]]), for: purpose) { asked, _ in
            switch asked {
            case .granted(let proof): then(Proven(proof: proof, caller: caller, epoch: epoch))
            case .denied(let failure): answer(.failure(failure))
            }
        }
    }

    /// Stretches a new passcode in the program's turn, then goes on where that was done.
    private func stretch(
        _ new: SecretBytes, _ keychain: Keychain, _ answer: @escaping Answer,
        next: @escaping @Sendable (StretchedPassword) -> Void
    ) {
        do throws(Failure) {
            let parameters = try keychain.newPasscodeStretching()
            try service.parts.stretching.submit(stretchClient) { [self] in
                // The connection ended while this waited: the answer would go nowhere.
                guard !isClosed else { return }
                do throws(Failure) {
                    next(try StretchedPassword(new, parameters))
                } catch {
                    answer(.failure(error))
                }
            }
        } catch {
            answer(.failure(error))
        }
    }

    /// Does the work of a request whose passcode was proven.
    private func submit(
        _ proven: Proven, _ answer: @escaping Answer, _ body: @escaping @Sendable () throws(Failure) -> Void
    ) {
        submit(answer) { [self] () throws(Failure) in
            // A lock, or another change, that came meanwhile has the last word.
            guard proven.epoch == proofEpoch, service.authenticator.state.isPasscodeSet else {
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

    private func set(_ new: StretchedPassword, _ keychain: Keychain, _ caller: Caller) throws(Failure) {
        // Another one may have been set while this waited for its turn.
        try checkIsFirst(keychain.isPasscodeSet)
        // First the counters: a store with a passcode and without them is one that somebody took them out of.
        try keychain.keep(service.authenticator.state.counters)
        try keychain.setPasscode(new, caller: caller)
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
