// SPDX-License-Identifier: Apache-2.0

import LatchkeyAuthority
import LatchkeyModel
import LatchkeySeams

// When the password of the user's account is required, and when it becomes the passcode.

extension AccountStep {
    var kind: PasscodeKind {
        switch self {
        case .none, .asked: .own
        case .becomesPasscode: .account
        }
    }
}

extension UserAuthority {
    /// Decides whether an evaluation begins with the account password, whatever latchkeyd asks for.
    func accountStep(_ request: AuthenticationRequest) throws(Failure) -> AccountStep {
        if request.lastStep == .asksNewPasscode { return hasRecord ? try checkedChange() : try firstPasscode() }
        // Without a stage, a request to discard is one of a user who has forgotten the passcode.
        if request.purpose == .discardProtected, request.plan.stages.isEmpty { return try discardStep() }
        return .none
    }

    /// A first passcode needs the account password, where it has one: otherwise every program of the user sets it.
    private func firstPasscode() throws(Failure) -> AccountStep {
        guard let account = parts.account, try account.passwords.hasPassword(account.name) else { return .none }
        switch account.firstPasscode {
        case .own: return .asked
        case .account: return .becomesPasscode
        }
    }

    /// What a first passcode will be; nil if it cannot be determined whether the account has a password.
    var firstPasscodeKind: PasscodeKind? {
        do throws(Failure) {
            return try firstPasscode().kind
        } catch {
            shared.log.record(.recordNotRead, error)
            return nil
        }
    }

    /// The account password is changed by the system's means only.
    private func checkedChange() throws(Failure) -> AccountStep {
        guard let account = parts.account, try passcodes.passcodeRecords().kinds == [.account],
            account.firstPasscode == .account
        else { return .none }
        throw Failure(
            .notPermitted, "The passcode is the password of your account.",
            hint: "Change it with passwd. The next prompt asks for the new password and once for the previous one.")
    }

    private func discardStep() throws(Failure) -> AccountStep {
        guard let account = parts.account, try account.passwords.hasPassword(account.name) else {
            throw Failure(
                .notPermitted,
                "A forgotten passcode can be discarded only with a password of your account, and it has none.",
                hint: "An administrator can remove the whole keychain: latchkey admin remove-user \(userID)")
        }
        return .asked
    }
}
