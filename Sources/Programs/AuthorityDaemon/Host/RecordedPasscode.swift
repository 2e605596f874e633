// SPDX-License-Identifier: Apache-2.0

import LatchkeyAuthority
import LatchkeyModel
import LatchkeySeams

/// The passcode of a user as keys of the TPM demand it: by the records, which name the index that judges it.
struct RecordedPasscode: KeyPasscode {
    let verification: PasscodeVerification
    let records: any PasscodeRecordStore

    func judge() throws(Failure) -> [UInt8]? { try verification.judge(records.passcodeRecords()) }

    func prove(_ value: SecretBytes, _ proof: KeyPasscodeProof) throws(Failure) -> Bool {
        try verification.prove(value, of: records.passcodeRecords(), proof)
    }
}
