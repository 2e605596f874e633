// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

/// The role that proves the passcode to the chip that has a key, so that the chip itself demands it.
///
/// All functions block.
package protocol KeyPasscode: Sendable {
    /// Returns the name of what judges the current passcode, which new keys contain; nil if no passcode is set.
    ///
    /// - Throws: `notPermitted` while a change of the passcode is not settled, which could replace the judge.
    func judge() throws(Failure) -> [UInt8]?
    /// Proves the passcode to a session of the chip, for one command.
    ///
    /// - Parameter value: the value of the passcode, 32 bytes.
    /// - Returns: false if the passcode was changed since the value was derived. The chip has counted a wrong passcode.
    /// - Throws: `passcodeDelayed` if the chip accepts none any more, and the errors of `PasscodeChip`.
    func prove(_ value: SecretBytes, _ proof: KeyPasscodeProof) throws(Failure) -> Bool
}

/// What the proof of a passcode is valid for.
package struct KeyPasscodeProof: Equatable, Sendable {
    /// The handle and the nonce of the chip's session.
    package let session: UInt32
    package let nonce: [UInt8]
    /// The digest of the command, 32 bytes.
    package let command: [UInt8]
    /// The reference of the key's policy, 32 bytes.
    package let reference: [UInt8]
    /// Seconds from the nonce until the proof expires; positive.
    package let expirySeconds: Int32

    /// Creates a value from its parts.
    package init(session: UInt32, nonce: [UInt8], command: [UInt8], reference: [UInt8], expirySeconds: Int32) {
        (self.session, self.nonce, self.command) = (session, nonce, command)
        (self.reference, self.expirySeconds) = (reference, expirySeconds)
    }
}
