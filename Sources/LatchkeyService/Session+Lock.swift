// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel

// Locking and unlocking the keychain from a shell; a desktop's own lock reports through `SessionMonitor`.

extension Session {
    func lock(_ answer: @escaping Answer) throws(Failure) {
        guard service.authenticator.state.isPasscodeSet else {
            throw Failure(
                .passcodeNotSet, "No passcode is set that could unlock the keychain again.",
                hint: "Set one with: latchkey passcode set")
        }
        service.lock { answer(.done) }
    }

    /// A finger, a face or the passcode unlocks; what is unlocked already asks nobody.
    func unlock(_ id: UInt64, _ prompting: Prompting, _ answer: @escaping Answer) throws(Failure) {
        guard service.authenticator.state.isLocked else { return answer(.done) }
        let epoch = proofEpoch
        askOwner(
            id, Policy.deviceOwnerAuthentication.plan, for: .unlock, interactionAllowed: prompting.interactionAllowed
        ) { [self] asked, _ in
            switch asked {
            case .granted(let proof):
                // Whoever locks while the person answers has the last word.
                guard epoch == proofEpoch else { return answer(.failure(Refusal.failure(.systemCancel, nil))) }
                service.unlock(byBiometry: !proof.methods.contains(.passcode)) { isOpen in
                    answer(isOpen ? .done : .failure(Refusal.failure(.authenticationFailed, nil)))
                }
            case .denied(let failure): answer(.failure(failure))
            }
        }
    }
}
