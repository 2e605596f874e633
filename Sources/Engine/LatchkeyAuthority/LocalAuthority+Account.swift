// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyPolicy
package import LatchkeySeams

// The password of the user's account: as the passcode, and as a step before others.

/// What the authority of a user needs to verify the account password.
package struct AccountParts: Sendable {
    package var account: UserAccount
    package var passcodes: any PasscodeRecordStore
    /// Opens the passcode that is the account password.
    package var passcode: any AccountPasscode

    package init(account: UserAccount, passcodes: any PasscodeRecordStore, passcode: any AccountPasscode) {
        (self.account, self.passcodes, self.passcode) = (account, passcodes, passcode)
    }

    /// Returns what the passcode can be. Blocks.
    func kinds() throws(Failure) -> Set<PasscodeKind> { try passcodes.passcodeRecords().kinds }
}

/// The account password as the first step of an evaluation, which the authority decides.
package enum AccountStep: Sendable {
    case none
    /// It is verified; nothing else depends on it.
    case asked
    /// It is verified and becomes the new passcode, for which no other step asks.
    case becomesPasscode
}

extension LocalAuthority {
    /// What a passcode that was entered answers.
    enum PasscodeQuestion: Sendable {
        case passcode
        /// The account password, before the first stage.
        case account
        /// The password that the account had before this one.
        case previous(SecretBytes)
    }

    /// Adds what the reducer does not know: which secret the passcode is, and what the system says.
    func describeAccount(_ content: inout PromptContent, of id: UInt64) {
        guard let account = parts.account else { return }
        content.message = core.withLock { $0.pending[id]?.accountMessage } ?? ""
        // If the records cannot be read, no passcode is accepted either, and the wording does not matter.
        guard content.secret == .passcode, (try? account.kinds()) == [.account] else { return }
        content.secret = .accountPassword
    }

    /// Has the system verify a password, and continues with a right one.
    func verifyAccount(_ entered: EnteredPasscode, then right: @escaping @Sendable () -> Void) {
        let id = entered.evaluation
        guard let account = parts.account?.account else { return post(.accountNotProven(id, .failed)) }
        core.withLock { $0.pending[id]?.accountMessage = "" }
        account.passwords.verify(entered.text, of: account.name) { [weak self] message in
            self?.say(message, id)
        } completion: { [self] verdict in
            switch verdict {
            case .right(let mustChange):
                if mustChange { post(.accountExpired(id)) }
                right()
            case .wrong: passcodeWasWrong(entered, .accountPassword)
            case .refused(let failure): accountFailed(.refused, failure, id)
            case .notAvailable(let failure): accountFailed(.notAvailable, failure, id)
            case .failed(let failure): accountFailed(.failed, failure, id)
            }
        }
    }

    private func say(_ message: String, _ id: UInt64) {
        let shown = PromptText.clean(message, characters: Limits.reasonCharacters)
        guard !shown.isEmpty else { return }
        core.withLock { $0.pending[id]?.accountMessage = "\(shown)" }
        post(.accountMessage(id))
    }

    private func accountFailed(_ fault: AccountFault, _ failure: Failure, _ id: UInt64) {
        parts.log.record(failure.status == .peerNotTrusted ? .accountsRefused : .accountNotChecked, failure)
        core.withLock { core in
            // A module that refuses an account often said why, in the user's language.
            guard fault != .refused || core.pending[id]?.accountMessage.isEmpty == true else { return }
            let shown = PromptText.clean(failure.message.description, characters: Limits.reasonCharacters)
            core.pending[id]?.accountMessage = failure.message == "\(shown)" ? failure.message : "\(shown)"
        }
        post(.accountNotProven(id, fault))
    }

    /// Continues after the step that asks for the account password.
    func accountWasProven(_ password: SecretBytes, _ id: UInt64) {
        post(
            QueuedEvent { core in
                if core.pending[id]?.account == .becomesPasscode { core.newPasscodes[id] = .chosen(password) }
                return .accountProven(id)
            })
    }

    /// Asks for the previous password. The entered one stays in memory until the evaluation ends.
    func passcodeWasOutdated(_ id: UInt64) {
        // The previous password may have been entered before, and was wrong then.
        core.withLock { $0.pending[id]?.wrongPasscodes = [] }
        post(.passcodeOutdated(id))
    }
}

extension LocalAuthority.Core {
    /// What the passcode that was entered last answers.
    func passcodeQuestion(_ id: UInt64) -> LocalAuthority.PasscodeQuestion {
        switch state.shown(id)?.secret {
        case .passcode, nil: .passcode
        case .accountPassword: .account
        // Policy asks for the previous password only after the system has accepted the present one.
        case .previousPassword: pending[id]?.accountPassword.map { .previous($0) } ?? .passcode
        }
    }
}
