// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

/// What `latchkey-authd` stores about a user's passcode: the parameters of its stretching, and a verifier.
///
/// The verifier and the key of the store's slot are derived from the stretched passcode independently of each other, so
/// the verifier does not open the slot. A reader of the record can guess the passcode at the cost of scrypt.
package struct PasscodeRecord: Equatable, Sendable {
    package static let saltBytes = 16
    /// Base-2 logarithms of scrypt's N that are accepted; 2^16 takes 64 MiB and a quarter of a second.
    package static let costs: ClosedRange<UInt8> = 10...16

    /// Base-2 logarithm of N.
    package let cost: UInt8
    /// 16 random bytes.
    package let salt: [UInt8]
    /// The identifier of the passcode's secret `U_pass`, 16 random bytes; a change of the passcode retains it.
    package let passcodeID: [UInt8]
    /// 32 bytes; empty if a chip verifies the passcode.
    package let verifier: [UInt8]
    /// What the chip needs to verify the passcode (`PasscodeChip`); empty if the verifier does.
    package let chip: [UInt8]
    package let kind: PasscodeKind

    /// Maximum bytes of `chip`.
    package static let chipBytes = 1024

    /// Decodes a stored record; nil if a field has a length or value that is not accepted.
    package init?(
        cost: UInt8, salt: [UInt8], passcodeID: [UInt8], verifier: [UInt8] = [], kind: PasscodeKind = .own,
        chip: [UInt8] = []
    ) {
        // Exactly one of the two verifies.
        let isVerifiable =
            verifier.isEmpty ? (1...Self.chipBytes).contains(chip.count) : verifier.count == 32 && chip.isEmpty
        guard Self.costs.contains(cost), salt.count == Self.saltBytes,
            passcodeID.count == AuthToken.identifierBytes, isVerifiable
        else { return nil }
        (self.cost, self.salt, self.passcodeID, self.verifier) = (cost, salt, passcodeID, verifier)
        (self.kind, self.chip) = (kind, chip)
    }

    /// The record after a chip has changed the passcode in place to one that the user has chosen: everything else that is
    /// stored of a passcode in a chip stays the same.
    package var asOwn: PasscodeRecord? {
        PasscodeRecord(cost: cost, salt: salt, passcodeID: passcodeID, verifier: verifier, kind: .own, chip: chip)
    }
}

/// What `latchkey-authd` stores about a recovery code: the public key that belongs to it, and the keys of the passcode's
/// slot, encrypted for that key. So a new slot is encrypted for a code that nothing on this machine knows. The key that
/// approves uses of a TPM's keys never changes, so it is sealed once, under a key that only the code gives
/// (`docs/design/decisions/041-recovery-copy.md`).
package struct RecoveryRecord: Equatable, Sendable {
    /// Maximum bytes of `sealed`.
    package static let sealedBytes = 256
    /// Bytes of `approval`: nonce, key and tag.
    package static let approvalBytes = 12 + 32 + 16
    /// 65 bytes in X9.63 format.
    package let publicKey: [UInt8]
    /// The identifier of the passcode's secret, whose slots the keys open; 16 bytes.
    package let passcodeID: [UInt8]
    package let sealed: [UInt8]
    package let approval: [UInt8]

    /// Decodes a stored record; nil if a field has another length.
    package init?(publicKey: [UInt8], passcodeID: [UInt8], sealed: [UInt8], approval: [UInt8]) {
        guard publicKey.count == 65, passcodeID.count == AuthToken.identifierBytes,
            (1...Self.sealedBytes).contains(sealed.count), approval.count == Self.approvalBytes
        else { return nil }
        (self.publicKey, self.passcodeID, self.sealed, self.approval) = (publicKey, passcodeID, sealed, approval)
    }
}

/// The records of a user's passcode: the current one, and a new one while the store has not confirmed it.
package struct PasscodeRecords: Equatable, Sendable {
    package var current: PasscodeRecord?
    /// The record of a passcode that the user chose last. It replaces `current` when the store has adopted it, or when
    /// a later right passcode shows that it had.
    package var prepared: PasscodeRecord?
    /// *Rekey needed*: the account password was changed, and the previous one is needed to open the slot.
    package var needsRekey: Bool
    /// What a chip still stores for a record that is not used any more (`PasscodeRecord.chip`); empty for nothing.
    package var abandoned: [UInt8] = []
    /// The recovery code; nil in tiers without one.
    package var recovery: RecoveryRecord?
    /// A recovery code that was shown after `recovery`. The root key of the store, which opens with one of the two, says
    /// which one is valid.
    package var preparedRecovery: RecoveryRecord?

    package init(current: PasscodeRecord? = nil, prepared: PasscodeRecord? = nil, needsRekey: Bool = false) {
        (self.current, self.prepared, self.needsRekey) = (current, prepared, needsRekey)
    }

    /// Makes the prepared recovery code the only one; does nothing without one.
    package mutating func adoptRecovery() {
        guard let preparedRecovery else { return }
        (recovery, self.preparedRecovery) = (preparedRecovery, nil)
    }

    /// What the current passcode can be; more than one kind while a change of the kind is unfinished.
    package var kinds: Set<PasscodeKind> { Set([current, prepared].compactMap { $0?.kind }) }
}

/// The role that stores the records of one user's passcode durably.
package protocol PasscodeRecordStore: AnyObject, Sendable {
    /// Returns the stored records; throws `storeUnreadable` for a changed file.
    func passcodeRecords() throws(Failure) -> PasscodeRecords
    /// Replaces the records; durable on return, and the replaced ones are erased. Blocks.
    func persist(_ records: PasscodeRecords) throws(Failure)
}

/// The result of verifying the password of an account through the system.
package enum AccountVerdict: Equatable, Sendable {
    /// The password is right and the account may be used. `mustChange` if the system demands a new password.
    case right(mustChange: Bool)
    case wrong
    /// The account may not be used, whatever its password is: it has expired, for example.
    case refused(Failure)
    /// The system cannot verify passwords now, and said so itself. No try.
    case notAvailable(Failure)
    /// Nothing was verified: a module failed, asked for something else, or did not answer in time.
    case failed(Failure)
}

/// The role that verifies account passwords on this system.
package protocol AccountPasswords: AnyObject, Sendable {
    /// Whether the account has a password that this system verifies itself. Blocks.
    ///
    /// - Throws: if that cannot be determined; nothing may depend on the absence of a password then.
    func hasPassword(_ account: AccountName) throws(Failure) -> Bool
    /// Verifies a password; at most one of each account at a time.
    ///
    /// - Parameters:
    ///   - show: called with each message for the user, on any thread, before `completion`.
    ///   - completion: called exactly once, on any thread, at the latest when the driver's deadline has passed.
    func verify(
        _ password: SecretBytes, of account: AccountName, show: @escaping @Sendable (String) -> Void,
        completion: @escaping @Sendable (AccountVerdict) -> Void)
}

/// The account of a user, as the authority of this user needs it.
package struct UserAccount: Sendable {
    package var name: AccountName
    package var passwords: any AccountPasswords
    /// What a first passcode is, where the account has a password.
    package var firstPasscode: PasscodeKind

    package init(name: AccountName, passwords: any AccountPasswords, firstPasscode: PasscodeKind) {
        (self.name, self.passwords, self.firstPasscode) = (name, passwords, firstPasscode)
    }
}
