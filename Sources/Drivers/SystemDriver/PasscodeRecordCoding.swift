// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import LatchkeyWire

// The contents of the file `passcodes`: `[current, prepared]`, whether a rekey is needed as a third item, what a chip must
// still remove as a fourth, and the recovery code and the prepared one as a fifth and a sixth, each `[public key,
// passcode identifier, sealed, approval]`.
// A record is `[cost, salt, identifier, verifier]`, its kind as a fifth item, and what a chip needs to verify it as a sixth;
// an empty array is no record. Items at the end that have their default are left out, so the file of a user with an own
// passcode is the same as that of versions without kinds, which refuse every other one.

extension PasscodeRecords {
    /// Decodes the contents; nil unless they are exactly what `encoded` returns.
    init?(decoding body: [UInt8]) {
        var records: [PasscodeRecord?] = []
        var needsRekey: Bool?
        var abandoned: [UInt8]?
        var recoveries: [RecoveryRecord?] = []
        let isRead = AuthorityFolder.decode(body) { (reader) throws(WireError) in
            try reader.array(limit: 6) { (reader) throws(WireError) in
                if records.count < 2 {
                    records.append(try PasscodeRecord?(from: &reader))
                } else if needsRekey == nil {
                    needsRekey = try reader.boolean()
                } else if abandoned == nil {
                    abandoned = try reader.bytes(limit: PasscodeRecord.chipBytes)
                } else {
                    recoveries.append(try RecoveryRecord?(from: &reader))
                }
            }
        }
        guard isRead, records.count == 2 else { return nil }
        self.init(current: records[0], prepared: records[1], needsRekey: needsRekey ?? false)
        self.abandoned = abandoned ?? []
        if let first = recoveries.first { recovery = first }
        if recoveries.count > 1 { preparedRecovery = recoveries[1] }
        guard encoded == body else { return nil }
    }

    var encoded: [UInt8] {
        let count = preparedRecovery != nil ? 6 : recovery != nil ? 5 : !abandoned.isEmpty ? 4 : needsRekey ? 3 : 2
        var writer = CBORWriter()
        writer.array(count)
        for record in [current, prepared] { record.write(to: &writer) }
        if count > 2 { writer.boolean(needsRekey) }
        if count > 3 { writer.bytes(abandoned) }
        if count > 4 { recovery.write(to: &writer) }
        if count > 5 { preparedRecovery.write(to: &writer) }
        return writer.finish().copyBytes()
    }
}

extension RecoveryRecord? {
    fileprivate func write(to writer: inout CBORWriter) {
        guard let self else { return writer.array(0) }
        writer.array(4)
        for part in [self.publicKey, self.passcodeID, self.sealed, self.approval] { writer.bytes(part) }
    }

    fileprivate init(from reader: inout CBORReader) throws(WireError) {
        var parts: [[UInt8]] = []
        try reader.array(limit: 4) { (reader) throws(WireError) in
            parts.append(try reader.bytes(limit: RecoveryRecord.sealedBytes))
        }
        guard !parts.isEmpty else {
            self = nil
            return
        }
        guard parts.count == 4,
            let record = RecoveryRecord(publicKey: parts[0], passcodeID: parts[1], sealed: parts[2], approval: parts[3])
        else { throw .invalidValue }
        self = record
    }
}

extension PasscodeRecord? {
    fileprivate func write(to writer: inout CBORWriter) {
        guard let self else { return writer.array(0) }
        writer.array(!self.chip.isEmpty ? 6 : self.kind != .own ? 5 : 4)
        writer.unsigned(UInt64(self.cost))
        writer.bytes(self.salt)
        writer.bytes(self.passcodeID)
        writer.bytes(self.verifier)
        if self.kind != .own || !self.chip.isEmpty { writer.unsigned(UInt64(self.kind.rawValue)) }
        if !self.chip.isEmpty { writer.bytes(self.chip) }
    }

    fileprivate init(from reader: inout CBORReader) throws(WireError) {
        var cost: UInt64?
        var kind: PasscodeKind?
        var chip: [UInt8] = []
        var parts: [[UInt8]] = []
        try reader.array(limit: 6) { (reader) throws(WireError) in
            if cost == nil {
                cost = try reader.unsigned()
            } else if parts.count < 3 {
                parts.append(try reader.bytes(limit: 32))
            } else if kind == nil {
                kind = UInt8(exactly: try reader.unsigned()).flatMap { PasscodeKind(rawValue: $0) }
                guard kind != nil else { throw .invalidValue }
            } else {
                chip = try reader.bytes(limit: PasscodeRecord.chipBytes)
            }
        }
        guard let cost else {
            self = nil
            return
        }
        guard parts.count == 3, let cost = UInt8(exactly: cost),
            let record = PasscodeRecord(
                cost: cost, salt: parts[0], passcodeID: parts[1], verifier: parts[2], kind: kind ?? .own, chip: chip)
        else { throw .invalidValue }
        self = record
    }
}
