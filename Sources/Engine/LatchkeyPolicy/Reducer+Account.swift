// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel

// The password of the user's account, where it is the passcode or is required before the first stage. Entry, counting
// and delays are those of the passcode (`Reducer+Passcode.swift`).

extension PolicyState {
    /// Continues after the account password was found right. It is no proof of the passcode, so it resets no
    /// counter: only its own try is taken back.
    mutating func accountProven(_ id: UInt64) -> [PolicyEffect] {
        guard case (var evaluation, let before)? = checked(id), evaluation.secret == .accountPassword else { return [] }
        evaluation.failedTries = 0
        return takeBackTry(before) + enter(0, evaluation)
    }

    /// Asks for the previous account password: the entered one is right, but does not open the keychain.
    mutating func passcodeOutdated(_ id: UInt64) -> [PolicyEffect] {
        guard case (var evaluation, let before)? = checked(id), evaluation.secret == .passcode else { return [] }
        // Tries that were wrong before stay counted: a user who knows the new password may be guessing the previous
        // one.
        let effects = takeBackTry(before)
        evaluation.phase = .passcode(.previousPassword, .typing(awaitsSensor: false))
        evaluation.failedTries = 0
        evaluation.notice = .accountPasswordChanged
        put(evaluation)
        return effects + [.update(id, content(evaluation))] + delay(evaluation)
    }

    /// Shows why the password was not verified, and asks again while the evaluation has tries left.
    mutating func accountNotProven(_ id: UInt64, _ fault: AccountFault) -> [PolicyEffect] {
        guard case (var evaluation, let before)? = checked(id) else { return [] }
        var effects: [PolicyEffect] = []
        switch fault {
        case .notAvailable:
            effects = takeBackTry(before)
            evaluation.notice = .accountNotChecked
        case .refused, .failed:
            evaluation.failedTries += 1
            evaluation.notice = fault == .refused ? .accountRefused : .accountNotChecked
        }
        put(evaluation)
        if evaluation.failedTries >= Self.passcodeTriesPerEvaluation { return end(id, .failure(.authenticationFailed)) }
        return effects + [.update(id, content(evaluation))] + delay(evaluation)
    }

    /// Remembers that the password has expired. The prompt says so after all stages, because a right password can end
    /// it at once.
    mutating func accountExpired(_ id: UInt64) -> [PolicyEffect] {
        guard var evaluation = visible(id), case .passcode(_, .verifying) = evaluation.phase else { return [] }
        evaluation.accountHasExpired = true
        put(evaluation)
        return []
    }

    /// Sends the content again, to which the authority adds the message.
    func accountMessage(_ id: UInt64) -> [PolicyEffect] {
        guard let evaluation = visible(id), case .passcode(_, .verifying) = evaluation.phase else { return [] }
        return [.update(id, content(evaluation))]
    }

    /// Returns the evaluation whose entered passcode was being verified, with the verification ended, and the counters
    /// before the try was counted.
    func checked(_ id: UInt64) -> (ActiveEvaluation, before: PolicyCounters)? {
        guard var evaluation = visible(id), case .passcode(let secret, .verifying(let before)) = evaluation.phase
        else { return nil }
        evaluation.phase = .passcode(secret, .typing(awaitsSensor: false))
        return (evaluation, before)
    }

    /// Takes back the try that was counted before it was verified.
    mutating func takeBackTry(_ before: PolicyCounters) -> [PolicyEffect] {
        let counted = counters
        takeBack(before)
        return counters == counted ? [] : [.persist(counters)]
    }
}
