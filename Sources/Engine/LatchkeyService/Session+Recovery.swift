// SPDX-License-Identifier: Apache-2.0

import LatchkeyKeychain
import LatchkeyModel
import LatchkeyPolicy
import LatchkeySeams

// The recovery code of a keychain on a TPM, which `latchkey-authd` asks for. Here are only keys that are derived from it.

extension Session {
    /// Opens the keychain with its recovery code, and replaces the passcode and the code.
    ///
    /// The order is: root key, slot, records of the authority. After the first step the new code is the valid one, and it
    /// opens the slot before and after the second one. So an interrupted recovery is repeated with the code that was
    /// shown last, or, if that is refused, with the one before.
    func recover(_ id: UInt64, _ answer: @escaping Answer) throws(Failure) {
        guard let vault = service.parts.recovery else {
            throw Failure(
                .notPermitted, "In tier \(service.parts.tier.name) there is no recovery code for the keychain.",
                hint: "A forgotten passcode is discarded with: latchkey reset")
        }
        let caller = caller
        askOwnerToEnter(id, AuthenticationPlan([]), for: .recoverPasscode, lastStep: .asksNewPasscode) {
            [service] asked, entered in
            if case .denied(let failure) = asked { return service.refuseRecovery(failure, vault, answer) }
            guard case .slotKey(let slotKey, let passcodeID, let granted?)? = entered, let rootKey = granted.rootKey
            else { return answer(.failure(Failure(.internalFailure, "The prompt returned no recovery code."))) }
            service.parts.work.submit(.any) {
                service.recover(vault, rootKey, granted, to: .slotKey(slotKey, passcodeID: passcodeID), caller, answer)
            }
        }
    }
}

extension Service {
    /// Opens the keychain with its root key, and its slot with the keys of the recovery code.
    fileprivate func recover(
        _ vault: any RecoverableVault, _ rootKey: SecretBytes, _ granted: RecoveryGrant, to key: NewPasscodeKey,
        _ caller: Caller, _ answer: @escaping Session.Answer
    ) {
        do throws(Failure) {
            let isOther = try vault.recover(rootKey, replacement: granted.replacement)
            reopen()
            let keychain = try keychain.get()
            let accepted = try keychain.recoverPasscode(to: key, with: granted.slotKeys, caller: caller)
            let recovered = Reply.Recovered(accepted: accepted, lost: try lostKeys(keychain, isOther: isOther))
            if accepted != nil { keeper?.rowsWereAccepted() }
            sealForPasscode()
            // Proofs of the earlier passcode are no longer valid.
            forgetProofs()
            authority.report(.passcodeExists(true)) { [self] in complete($0, recovered, keychain, answer) }
        } catch {
            guard error.isOfIncompleteEvent else { return answer(.failure(error)) }
            // The passcode is replaced.
            sealForPasscode()
            forgetProofs()
            authority.report(.passcodeExists(true)) { _ in answer(.failure(error)) }
        }
    }

    /// Reports why there is no recovery. Where the authority knows no code, the files of this process show why.
    fileprivate func refuseRecovery(
        _ failure: Failure, _ vault: any RecoverableVault, _ answer: @escaping Session.Answer
    ) {
        guard failure.status == .passcodeNotSet else { return answer(.failure(failure)) }
        parts.work.submit(.any) {
            do throws(Failure) {
                let copy = try vault.copy()
                guard try vault.hasCode() else { throw failure }
                guard copy.isEmpty else {
                    throw Failure(
                        .storeUnreadable, "latchkey-authd has not received the copy of its recovery records.",
                        hint: "Restart the services, then try again: systemctl restart latchkeyd latchkey-authd")
                }
                throw Failure(
                    .storeUnreadable,
                    "latchkey-authd has lost its files, and the keychain has no copy of the recovery records.",
                    hint: "Restore the newest files of latchkey-authd, or the newest file recovery of the keychain, "
                        + "from a backup.")
            } catch {
                answer(.failure(error))
            }
        }
    }

    /// Ends a recovery when the authority has followed it.
    private func complete(
        _ failure: Failure?, _ recovered: Reply.Recovered, _ keychain: Keychain, _ answer: @escaping Session.Answer
    ) {
        if let failure { return answer(.failure(failure)) }
        parts.work.submit(.any) {
            do throws(Failure) {
                try keychain.completePasscodeChange()
                answer(.recovered(recovered))
            } catch {
                answer(.failure(error))
            }
        }
    }
}

extension Service {
    /// The private keys that a recovery has ended.
    ///
    /// - Parameter isOther: whether the TPM is another one than before.
    fileprivate func lostKeys(_ keychain: Keychain, isOther: Bool) throws(Failure) -> StayingItems {
        guard !isOther else { return try keychain.enclaveKeys(.otherTPM) }
        // The new passcode has another index, so the policy of such a key cannot be fulfilled.
        return try keychain.keysOfEarlierPasscode { [enclave] (blob) throws(Failure) in
            try enclave?.needsPasscode(blob) ?? false
        }
    }

    /// Makes a recovery code invalid whose passcode was removed. An earlier copy of the files still opens with it.
    func forgetRecovery() {
        guard let recovery = parts.recovery else { return }
        parts.work.submit(.any) { [log = parts.log] in
            // The next passcode replaces a code that remains.
            log.noting(.recordNotRead) { () throws(Failure) in try recovery.keep(nil) }
        }
    }
}
