// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel

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
