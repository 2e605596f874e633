// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

/// A security chip that verifies passcodes. It counts wrong ones itself, and stops accepting any after a limit.
///
/// Every passcode has a record, which the caller stores, and a secret of 32 bytes, which the chip returns for the right
/// value only. The value is derived from the stretched passcode, and stays secret from the process that carries the
/// commands. All functions block.
package protocol PasscodeChip: Sendable {
    /// Chooses the place of a new passcode. The chip has nothing of it so far.
    ///
    /// - Throws: `vaultUnavailable` with the cause `ChipHasNoRoom` if there is none.
    func plan() throws(Failure) -> ChipPasscodePlan
    /// Checks that the chip has room for a passcode at that place, and leaves nothing there. Another program can use up the
    /// room before `create`.
    ///
    /// - Parameter plan: as for `create`.
    /// - Throws: `vaultUnavailable` with the cause `ChipHasNoRoom` if the chip is full.
    func checkRoom(for plan: ChipPasscodePlan) throws(Failure)
    /// Makes a new secret that this value opens. On a failure nothing is left in the chip, as far as it can be reached.
    ///
    /// - Parameters:
    ///   - plan: its record is stored durably before, so that what a crash leaves in the chip is removed later.
    ///   - value: 32 bytes.
    /// - Throws: `vaultUnavailable` with the cause `ChipHasNoRoom` if the chip is full.
    func create(_ plan: ChipPasscodePlan, _ value: SecretBytes) throws(Failure) -> NewChipPasscode
    /// Does for the next `open` of a record what does not depend on the value, while a prompt asks for it. Verifies and
    /// counts nothing; `open` without it only takes longer. Does nothing if it is prepared already.
    ///
    /// - Parameter forKeys: whether a `prove` is to be prepared, too.
    func prepare(_ record: [UInt8], forKeys: Bool) throws(Failure)
    /// Removes what `prepare` and `open` have left in the memory of the chip. Called when no request waits.
    func endPreparation()
    /// Checks that the chip answers, before anything of a value is sent to it. Does nothing if it is prepared.
    ///
    /// - Throws: as `open`.
    func checkAnswers(_ record: [UInt8]) throws(Failure)
    /// Returns the secret if the value is right, and nil if it is wrong.
    ///
    /// - Throws: `passcodeDelayed` if the limit is reached, `tpmReplaced` if the chip is another one or was cleared,
    ///   `vaultUnavailable` if it cannot be used now, or if its answer is not authentic.
    func open(_ record: [UInt8], _ value: SecretBytes) throws(Failure) -> SecretBytes?
    /// Replaces the value. The secret and the record stay the same.
    ///
    /// - Parameter secret: what `open` has returned.
    func change(_ record: [UInt8], secret: SecretBytes, to value: SecretBytes) throws(Failure)
    /// Returns the name of what verifies the passcode of a record, which keys contain that demand the passcode. Does not
    /// use the chip.
    func verifier(of record: [UInt8]) throws(Failure) -> [UInt8]
    /// Proves the passcode to a session of another program of the chip; returns whether the value is right.
    ///
    /// - Throws: as `open`.
    func prove(_ record: [UInt8], _ value: SecretBytes, _ proof: KeyPasscodeProof) throws(Failure) -> Bool
    /// Removes what the chip stores for a record, of a passcode or of a plan; nothing if that is gone.
    func remove(_ record: [UInt8]) throws(Failure)
}

/// The cause of a failure to make a passcode in a chip that is full.
package struct ChipHasNoRoom: Error {
    package let answer: any Error & Sendable

    package init(answer: any Error & Sendable) { self.answer = answer }
}

/// The place of a passcode that is not made so far.
package struct ChipPasscodePlan: Sendable {
    /// What the chip needs to find and remove what it made at the place; not secret.
    package let record: [UInt8]
    /// The private key that controls the place, 32 bytes.
    package let key: SecretBytes

    package init(record: [UInt8], key: SecretBytes) { (self.record, self.key) = (record, key) }
}

package struct NewChipPasscode: Sendable {
    /// What the chip needs to verify the passcode later; not secret, at most 1024 bytes.
    package let record: [UInt8]
    /// 32 bytes.
    package let secret: SecretBytes

    package init(record: [UInt8], secret: SecretBytes) { (self.record, self.secret) = (record, secret) }
}
