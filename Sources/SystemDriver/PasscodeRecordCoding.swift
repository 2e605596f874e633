// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import LatchkeyWire

// The contents of the file `passcodes`: `[current, prepared]`, and what a chip must still remove as a third item. A
// record is `[cost, salt, identifier, verifier]`, or `[cost, salt, identifier, "", 0, chip]` if a chip judges the
// passcode; an empty array is no record.

extension PasscodeRecords {
    /// Decodes the contents; nil unless they are exactly what `encoded` returns.
    init?(decoding body: [UInt8]) {
        var records: [PasscodeRecord?] = []
        var abandoned: [UInt8]?
        let isRead = AuthorityFolder.decode(body) { (reader) throws(WireError) in
            try reader.array(limit: 3) { (reader) throws(WireError) in
                if records.count < 2 {
                    records.append(try PasscodeRecord?(from: &reader))
                } else {
                    abandoned = try reader.bytes(limit: PasscodeRecord.chipBytes)
                }
            }
        }
        guard isRead, records.count == 2, abandoned?.isEmpty != true else { return nil }
        self.init(current: records[0], prepared: records[1])
        self.abandoned = abandoned ?? []
    }

    /// The contents of the file.
    var encoded: [UInt8] {
        var writer = CBORWriter()
        writer.array(abandoned.isEmpty ? 2 : 3)
        for record in [current, prepared] { record.write(to: &writer) }
        if !abandoned.isEmpty { writer.bytes(abandoned) }
        return writer.finish().copyBytes()
    }
}

extension PasscodeRecord? {
    fileprivate func write(to writer: inout CBORWriter) {
        guard let self else { return writer.array(0) }
        writer.array(self.chip.isEmpty ? 4 : 6)
        writer.unsigned(UInt64(self.cost))
        writer.bytes(self.salt)
        writer.bytes(self.passcodeID)
        writer.bytes(self.verifier)
        guard !self.chip.isEmpty else { return }
        writer.unsigned(0)
        writer.bytes(self.chip)
    }

    fileprivate init(from reader: inout CBORReader) throws(WireError) {
        var cost: UInt64?
        var count = 0
        var parts: [[UInt8]] = []
        try reader.array(limit: 6) { (reader) throws(WireError) in
            defer { count += 1 }
            switch count {
            case 0: cost = try reader.unsigned()
            case 4: guard try reader.unsigned() == 0 else { throw .invalidValue }
            default: parts.append(try reader.bytes(limit: count == 5 ? PasscodeRecord.chipBytes : 32))
            }
        }
        guard let cost else {
            self = nil
            return
        }
        guard count == 4 || count == 6, let cost = UInt8(exactly: cost),
            let record = PasscodeRecord(
                cost: cost, salt: parts[0], passcodeID: parts[1], verifier: parts[2], chip: count == 6 ? parts[3] : [])
        else { throw .invalidValue }
        self = record
    }
}
