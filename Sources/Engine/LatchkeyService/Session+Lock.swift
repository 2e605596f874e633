// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel

// Requests that lock and unlock the keychain, sent by the command line tool. A desktop's lock is reported by
// `SessionMonitor`.

extension Session {
    func lock(_ answer: @escaping Answer) throws(Failure) {
        guard service.authority.state.isPasscodeSet else {
            throw Failure(
                .passcodeNotSet, "No passcode is set that could unlock the keychain again.",
                hint: "Set one with: latchkey passcode set")
        }
        service.lock { answer(.done) }
    }

    /// Unlocks the keychain after authentication by biometry or passcode; without a prompt if it is not locked.
    func unlock(_ id: UInt64, _ prompting: Prompting, _ answer: @escaping Answer) throws(Failure) {
        guard service.authority.state.isLocked else { return answer(.done) }
        let epoch = proofEpoch
        askOwner(
            id, Policy.deviceOwnerAuthentication.plan, for: .unlock, interactionAllowed: prompting.interactionAllowed
        ) { [self] asked, _ in
            switch asked {
            case .granted(let proof):
                // A lock that was requested while the user answered takes precedence.
                guard epoch == proofEpoch else { return answer(.failure(Refusal.failure(.systemCancel, nil))) }
                service.unlock(byBiometry: !proof.methods.contains(.passcode)) { isOpen in
                    answer(isOpen ? .done : .failure(Refusal.failure(.authenticationFailed, nil)))
                }
            case .denied(let failure): answer(.failure(failure))
            }
        }
    }
}
