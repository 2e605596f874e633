// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

/// A security chip that judges passcodes. It counts wrong ones itself, and stops accepting any after a limit.
///
/// Every passcode has a record, which the caller stores, and a secret of 32 bytes, which the chip returns for the right
/// value only. The value is derived from the stretched passcode, and stays secret from the process that carries the
/// commands. All functions block.
package protocol PasscodeChip: Sendable {
    /// Makes a new secret that this value opens. On a failure nothing is left in the chip, as far as it can be reached.
    ///
    /// - Parameter value: 32 bytes.
    func create(_ value: SecretBytes) throws(Failure) -> NewChipPasscode
    /// Returns the secret if the value is right, and nil if it is wrong.
    ///
    /// - Throws: `passcodeDelayed` if the limit is reached, `tpmReplaced` if the chip is another one or was cleared,
    ///   `vaultUnavailable` if it cannot be used now.
    func open(_ record: [UInt8], _ value: SecretBytes) throws(Failure) -> SecretBytes?
    /// Replaces the value. The secret and the record stay the same.
    ///
    /// - Parameter secret: what `open` has returned.
    func change(_ record: [UInt8], secret: SecretBytes, to value: SecretBytes) throws(Failure)
    /// Removes what the chip stores for a record; nothing if that is gone.
    func remove(_ record: [UInt8]) throws(Failure)
}

/// A new passcode of a chip.
package struct NewChipPasscode: Sendable {
    /// What the chip needs to judge the passcode later; not secret, at most 1024 bytes.
    package let record: [UInt8]
    /// 32 bytes.
    package let secret: SecretBytes

    /// Creates a value from its fields.
    package init(record: [UInt8], secret: SecretBytes) { (self.record, self.secret) = (record, secret) }
}
