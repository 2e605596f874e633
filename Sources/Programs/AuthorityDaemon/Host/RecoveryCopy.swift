// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import LatchkeyWire

/// The records of the recovery codes as latchkeyd stores them for the loss of this process's own files: an array with
/// the valid record, and one with the record of a code that was shown after it. The codes verify it, so it has no code
/// of its own (`docs/design/decisions/041-recovery-copy.md`).
struct RecoveryCopy: Equatable, Sendable {
    let records: [RecoveryRecord]

    /// The copy of these records; nil if there is no recovery code.
    init?(_ records: PasscodeRecords) {
        let codes = [records.recovery, records.preparedRecovery].compactMap(\.self)
        guard !codes.isEmpty else { return nil }
        self.records = codes
    }

    /// Decodes what latchkeyd has stored; nil unless it has this form.
    init?(decoding bytes: [UInt8]) {
        let records = bytes.withUnsafeBytes { bytes -> [RecoveryRecord]? in
            do throws(WireError) {
                var records: [RecoveryRecord] = []
                var reader = CBORReader(bytes)
                try reader.array(limit: 2) { (reader) throws(WireError) in records.append(try Self.record(&reader)) }
                try reader.finish()
                return records
            } catch {
                return nil
            }
        }
        guard let records, !records.isEmpty else { return nil }
        self.records = records
    }

    /// Why no code opens a copy that latchkeyd has stored.
    static func damaged(_ cause: Failure?) -> Failure {
        Failure(
            .storeUnreadable,
            "latchkey-authd has lost its files, and the keychain's copy of the recovery records is damaged.",
            hint: RecoveryCopy.hint, cause: cause)
    }

    /// Why the valid code does not open a copy that latchkeyd has stored.
    static var ofAnotherCode: Failure {
        Failure(
            .storeUnreadable,
            "The recovery code is right, but the keychain's copy of the recovery records belongs to another code or is "
                + "damaged.", hint: hint)
    }

    private static let hint: Phrase =
        "Restore the newest files of latchkey-authd, or the newest file recovery of the keychain, from a backup."

    private static func record(_ reader: inout CBORReader) throws(WireError) -> RecoveryRecord {
        let record = try reader.tuple(4) { (reader) throws(WireError) in
            RecoveryRecord(
                publicKey: try reader.bytes(limit: 65), passcodeID: try reader.bytes(limit: AuthToken.identifierBytes),
                sealed: try reader.bytes(limit: RecoveryRecord.sealedBytes),
                approval: try reader.bytes(limit: RecoveryRecord.approvalBytes))
        }
        guard let record else { throw .invalidValue }
        return record
    }

    /// At most `Limits.recoveryCopyBytes`.
    var encoded: [UInt8] {
        var writer = CBORWriter()
        writer.array(records.count)
        for record in records {
            writer.array(4)
            for part in [record.publicKey, record.passcodeID, record.sealed, record.approval] { writer.bytes(part) }
        }
        return writer.finishBytes()
    }
}
