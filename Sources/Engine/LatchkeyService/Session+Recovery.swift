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
    func recover(_ call: Call) async throws(Failure) -> Reply {
        guard let vault = service.parts.recovery else {
            throw Failure(
                .notPermitted, "In tier \(service.parts.tier.name) there is no recovery code for the keychain.",
                hint: "A forgotten passcode is discarded with: latchkey reset")
        }
        let caller = caller
        let agreement: Agreement
        do throws(Failure) {
            agreement = try await ask(
                call, Question(plan: AuthenticationPlan([]), purpose: .recoverPasscode, lastStep: .asksNewPasscode))
        } catch {
            throw await service.reason(ofRefusedRecovery: error, vault)
        }
        guard case .slotKey(let slotKey, let passcodeID, let granted?)? = agreement.entered,
            let rootKey = granted.rootKey
        else { throw Failure(.internalFailure, "The prompt returned no recovery code.") }
        let (recovery, failure): (Recovery, Failure?) = try await service.parts.work.begin {
            [service] (end) throws(Failure) in
            let recovery = try service.recover(
                vault, rootKey, granted, to: .slotKey(slotKey, passcodeID: passcodeID), caller)
            service.authority.report(.passcodeExists(true)) { end((recovery, $0)) }
        }
        switch recovery {
        case .incomplete(let failure): throw failure
        case .whole(let recovered, let keychain):
            if let failure { throw failure }
            try await service.parts.work.run { () throws(Failure) in try keychain.completePasscodeChange() }
            return .recovered(recovered)
        }
    }
}

extension Service {
    /// Opens the keychain with its root key, and its slot with the keys of the recovery code.
    fileprivate func recover(
        _ vault: any RecoverableVault, _ rootKey: SecretBytes, _ granted: RecoveryGrant, to key: NewPasscodeKey,
        _ caller: Caller
    ) throws(Failure) -> Recovery {
        let recovery: Recovery
        do throws(Failure) {
            let isOther = try vault.recover(rootKey, replacement: granted.replacement)
            reopen()
            let keychain = try keychain.get()
            let accepted = try keychain.recoverPasscode(to: key, with: granted.slotKeys, caller: caller)
            recovery = .whole(
                Reply.Recovered(accepted: accepted, lost: try lostKeys(keychain, isOther: isOther)), keychain)
            if accepted != nil { maintenance?.rowsWereAccepted() }
        } catch {
            guard error.isOfIncompleteEvent else { throw error }
            // The passcode is replaced.
            recovery = .incomplete(error)
        }
        sealForPasscode()
        // Proofs of the earlier passcode are no longer valid.
        forgetProofs()
        return recovery
    }

    /// Returns why there is no recovery. Where the authority knows no code, the files of this process show why.
    fileprivate func reason(ofRefusedRecovery failure: Failure, _ vault: any RecoverableVault) async -> Failure {
        guard failure.status == .passcodeNotSet else { return failure }
        do throws(Failure) {
            return try await parts.work.run { () throws(Failure) in
                let copy = try vault.copy()
                guard try vault.hasCode() else { return failure }
                guard copy.isEmpty else {
                    return Failure(
                        .storeUnreadable, "latchkey-authd has not received the copy of its recovery records.",
                        hint: "Restart the services, then try again: systemctl restart latchkeyd latchkey-authd")
                }
                return Failure(
                    .storeUnreadable,
                    "latchkey-authd has lost its files, and the keychain has no copy of the recovery records.",
                    hint: "Restore the newest files of latchkey-authd, or the newest file recovery of the keychain, "
                        + "from a backup.")
            }
        } catch {
            return error
        }
    }
}

/// A recovery that has happened.
private enum Recovery: Sendable {
    case whole(Reply.Recovered, Keychain)
    /// Its last write failed.
    case incomplete(Failure)
}

extension Service {
    /// The private keys that a recovery has ended.
    ///
    /// - Parameter isOther: whether the TPM is another one than before.
    fileprivate func lostKeys(_ keychain: Keychain, isOther: Bool) throws(Failure) -> SkippedItems {
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
            log.recording(.recordNotRead) { () throws(Failure) in try recovery.persist(nil) }
        }
    }
}
