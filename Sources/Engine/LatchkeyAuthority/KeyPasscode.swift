// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
package import LatchkeySeams

/// Proves the passcode of a user to the chip that has a key, so that the chip itself demands it. The records name the index
/// of the chip that verifies the passcode.
package struct KeyPasscode: Sendable {
    private let verification: PasscodeVerification
    private let records: any PasscodeRecordStore

    package init(_ verification: PasscodeVerification, _ records: any PasscodeRecordStore) {
        (self.verification, self.records) = (verification, records)
    }

    /// Returns the name of what verifies the current passcode, which new keys contain; nil if no passcode is set.
    ///
    /// - Throws: `notPermitted` while a change of the passcode is unfinished, which could replace the verifier.
    func verifier() throws(Failure) -> [UInt8]? { try verification.verifier(records.passcodeRecords()) }

    /// Proves the passcode to a session of the chip, for one command. Blocks.
    ///
    /// - Parameter value: the value of the passcode, 32 bytes.
    /// - Returns: false if the passcode was changed since the value was derived. The chip has counted a wrong passcode.
    /// - Throws: `passcodeDelayed` if the chip accepts none any more, and the errors of `PasscodeChip`.
    func prove(_ value: SecretBytes, _ proof: KeyPasscodeProof) throws(Failure) -> Bool {
        try verification.prove(value, of: records.passcodeRecords(), proof)
    }
}
