// SPDX-License-Identifier: Apache-2.0

import LatchkeyAuthority
import LatchkeyCrypto
import LatchkeyModel
import LatchkeySeams

// The recovery code of a keychain on a TPM. Only this process and the prompt have it; latchkeyd gets keys that are derived
// from it (docs/design/decisions/027-recovery-code.md).

extension UserAuthority {
    /// What a request has to do with recovery codes.
    enum CodePart: Sendable {
        case none
        /// A code is made and shown, after the first passcode was chosen, or before a passcode without code is changed.
        case shown(first: Bool)
        /// The code is asked for in place of the passcode.
        case asked
    }

    /// A code that was entered, with what its record has.
    struct EnteredCode: Sendable {
        let keys: RecoveryKeys
        let record: RecoveryRecord
        /// The keys of the passcode's slots; one of them opens the present slot.
        let slotKeys: [SecretBytes]
        let approvalKey: SecretBytes
    }

    /// Maximum entries of a request. The limit is not for guesses, which cannot succeed: without it, a program could keep
    /// asking until the user types the passcode by mistake.
    private static let entries = 5

    /// Determines from the records, not from what latchkeyd asks for, how a request uses recovery codes.
    func codePart(_ request: AuthenticationRequest) throws(Failure) -> CodePart {
        guard request.purpose != .recoverPasscode else {
            guard request.lastStep == .asksNewPasscode, request.plan.stages.isEmpty, verification.hasChip else {
                throw Failure(.notPermitted, "A recovery code replaces the passcode, in tier tpm only.")
            }
            guard try !codes().records.isEmpty else {
                throw Failure(
                    .passcodeNotSet, "There is no recovery code: it is shown when a passcode is set.",
                    hint: "Set a passcode with: latchkey passcode set")
            }
            return .asked
        }
        guard request.lastStep == .asksNewPasscode, verification.hasChip else { return .none }
        guard hasRecord else { return .shown(first: true) }
        let records = try passcodes.passcodeRecords()
        return records.recovery == nil && records.preparedRecovery == nil ? .shown(first: false) : .none
    }

    /// The records of the codes, the one that was shown last first. If there is no record of a passcode either, the files
    /// were lost, and latchkeyd's copy has the records.
    private func codes() throws(Failure) -> (records: [RecoveryRecord], areCopied: Bool) {
        let records = try passcodes.passcodeRecords()
        let known = [records.preparedRecovery, records.recovery].compactMap(\.self)
        guard known.isEmpty, records.current == nil, records.prepared == nil else { return (known, false) }
        return (try passcodes.copied()?.records.reversed() ?? [], true)
    }

    func codeRecord(
        of code: RecoveryKeys, _ slotKeys: [SecretBytes], passcodeID: [UInt8]
    ) throws(Failure) -> RecoveryRecord {
        try code.record(
            of: slotKeys, approvalKey: approvals.key(), userID: userID, passcodeID: passcodeID, shared.random)
    }

    // MARK: - A new code

    /// Shows the code of a first passcode, if the TPM has room for that.
    func showFirstCode(
        _ prompts: PromptSequence, _ then: @escaping @Sendable (Result<(RecoveryKeys, AuthToken), Failure>) -> Void
    ) {
        stretch(.passcodeNotChecked) { [self] () throws(Failure) in
            try checkRoomForFirst()
        } then: { [self] result in
            switch result {
            case .failure(let failure): then(.failure(failure))
            case .success: showCode(prompts, then)
            }
        }
    }

    /// Makes a code and shows it until the user has typed its last characters.
    func showCode(
        _ prompts: PromptSequence, _ then: @escaping @Sendable (Result<(RecoveryKeys, AuthToken), Failure>) -> Void
    ) {
        do throws(Failure) {
            var code = try RecoveryCode.make()
            var keys = try RecoveryKeys(code)
            if keys == nil {
                code = try RecoveryCode.make()
                keys = try RecoveryKeys(code)
            }
            guard let keys else {
                throw Failure(.internalFailure, "No recovery code could be made.", hint: "Try again.")
            }
            showCode(code, keys, prompts, entriesLeft: Self.entries, .none, then)
        } catch {
            shared.log.record(.passcodeNotChecked, error)
            then(.failure(error))
        }
    }

    private func showCode(
        _ code: RecoveryCode, _ keys: RecoveryKeys, _ prompts: PromptSequence, entriesLeft: Int,
        _ notice: PromptContent.Notice,
        _ then: @escaping @Sendable (Result<(RecoveryKeys, AuthToken), Failure>) -> Void
    ) {
        guard entriesLeft > 0 else { return then(.failure(Failure(.authenticationFailed))) }
        prompts.ask(.showsRecoveryCode, showing: code.grouped, notice) { [self] answer in
            if case .failure(let refusal) = answer { return then(.failure(refusal)) }
            prompts.ask(.repeatsRecoveryCode) { [self] answer in
                switch answer {
                case .failure(let refusal): then(.failure(refusal))
                case .success(let grant) where grant.text.map(code.ends) == true: then(.success((keys, grant.token)))
                case .success:
                    showCode(code, keys, prompts, entriesLeft: entriesLeft - 1, .recoveryCodeDiffers, then)
                }
            }
        }
    }

    // MARK: - Recovery

    /// Asks for the code, for a new passcode, and shows a new code.
    func recover(_ prompts: PromptSequence, _ answer: @escaping PromptSequence.Completion) {
        askCode(prompts, entriesLeft: Self.entries, .none) { [self] result in
            let entered: EnteredCode
            do throws(Failure) { entered = try result.get() } catch { return answer(.failure(error)) }
            prompts.ask(.asksNewPasscode) { [self] new in
                let passcode: SecretBytes
                do throws(Failure) { passcode = try Self.text(of: new) } catch { return answer(.failure(error)) }
                showCode(prompts) { [self] shown in
                    switch shown {
                    case .failure(let refusal): answer(.failure(refusal))
                    case .success(let (code, token)):
                        choose(NewPasscode(text: passcode, kind: .own, code: code, entered: entered), token, answer)
                    }
                }
            }
        }
    }

    private func askCode(
        _ prompts: PromptSequence, entriesLeft: Int, _ notice: PromptContent.Notice,
        _ then: @escaping @Sendable (Result<EnteredCode, Failure>) -> Void
    ) {
        guard entriesLeft > 0 else { return then(.failure(Failure(.authenticationFailed))) }
        prompts.ask(.asksRecoveryCode, notice) { [self] answer in
            let typed: SecretBytes
            do throws(Failure) { typed = try Self.text(of: answer) } catch { return then(.failure(error)) }
            stretch(.recoveryRefused) { [self] () throws(Failure) in
                try open(typed)
            } then: { [self] result in
                switch result {
                case .failure(let failure): then(.failure(failure))
                case .success(let entered?): then(.success(entered))
                case .success(.none):
                    shared.log.record(
                        .recoveryRefused,
                        Failure(.authenticationFailed, "A wrong recovery code was entered by user \(userID)."))
                    askCode(prompts, entriesLeft: entriesLeft - 1, .wrongRecoveryCode, then)
                }
            }
        }
    }

    /// Opens the record of an entered code; nil if the code is not valid. Two records can exist while a code is replaced:
    /// only the code that also opens the root key is valid.
    private func open(_ typed: SecretBytes) throws(Failure) -> EnteredCode? {
        guard let code = RecoveryCode(typed: typed), let keys = try RecoveryKeys(code) else { return nil }
        let (records, areCopied) = try codes()
        guard let record = records.first(where: keys.fit) else {
            // A code that opens the root key is right: then the copy is at fault.
            guard areCopied, try store.recoveryOpens(keys.rootKey) else { return nil }
            throw RecoveryCopy.ofAnotherCode
        }
        let (slotKeys, approvalKey): ([SecretBytes], SecretBytes)
        do throws(Failure) {
            (slotKeys, approvalKey) = try keys.open(record, userID: userID)
        } catch {
            throw areCopied ? RecoveryCopy.damaged(error) : error
        }
        guard try store.recoveryOpens(keys.rootKey) else { return nil }
        try requireSlot(slotKeys, record)
        return EnteredCode(keys: keys, record: record, slotKeys: slotKeys, approvalKey: approvalKey)
    }

    /// Throws if none of the keys opens the slot of the store: the copy of the records is older than the last change of the
    /// passcode. Nothing was changed so far, so the code stays valid for the right copy.
    private func requireSlot(_ slotKeys: [SecretBytes], _ record: RecoveryRecord) throws(Failure) {
        for slotKey in slotKeys {
            do throws(Failure) {
                if try store.opens(slotKey, record.passcodeID) { return }
            } catch {
                // A store that is closed is opened by the recovery itself, which then opens the slot.
                return
            }
        }
        throw Failure(
            .itemAuthenticationFailed, "The records of the recovery code are older than the keychain.",
            hint: "Restore the newest files of latchkey-authd, or the newest file recovery of the keychain, "
                + "from a backup.")
    }
}
