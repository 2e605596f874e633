// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import LatchkeyWire

// The contents of the file `passcodes`: `[current, prepared]`, and true as a third item while a rekey is needed. A
// record is `[cost, salt, identifier, verifier]`, and its kind as a fifth item unless it is an own passcode; an empty
// array is no record. So the file of a user with an own passcode is the same as that of versions without kinds, which
// refuse every other one.

extension PasscodeRecords {
    /// Decodes the contents; nil unless they are exactly what `encoded` returns.
    init?(decoding body: [UInt8]) {
        var records: [PasscodeRecord?] = []
        var needsRekey: Bool?
        let isRead = AuthorityFolder.decode(body) { (reader) throws(WireError) in
            try reader.array(limit: 3) { (reader) throws(WireError) in
                if records.count < 2 {
                    records.append(try PasscodeRecord?(from: &reader))
                } else {
                    needsRekey = try reader.boolean()
                }
            }
        }
        guard isRead, records.count == 2, needsRekey != false else { return nil }
        self.init(current: records[0], prepared: records[1], needsRekey: needsRekey ?? false)
    }

    /// The contents of the file.
    var encoded: [UInt8] {
        var writer = CBORWriter()
        writer.array(needsRekey ? 3 : 2)
        for record in [current, prepared] { record.write(to: &writer) }
        if needsRekey { writer.boolean(true) }
        return writer.finish().copyBytes()
    }
}

extension PasscodeRecord? {
    fileprivate func write(to writer: inout CBORWriter) {
        guard let self else { return writer.array(0) }
        writer.array(self.kind == .own ? 4 : 5)
        writer.unsigned(UInt64(self.cost))
        writer.bytes(self.salt)
        writer.bytes(self.passcodeID)
        writer.bytes(self.verifier)
        if self.kind != .own { writer.unsigned(UInt64(self.kind.rawValue)) }
    }

    fileprivate init(from reader: inout CBORReader) throws(WireError) {
        var cost: UInt64?
        var parts: [[UInt8]] = []
        var kind: PasscodeKind?
        try reader.array(limit: 5) { (reader) throws(WireError) in
            if cost == nil {
                cost = try reader.unsigned()
            } else if parts.count < 3 {
                parts.append(try reader.bytes(limit: 32))
            } else {
                kind = UInt8(exactly: try reader.unsigned()).flatMap { PasscodeKind(rawValue: $0) }
                guard kind != nil, kind != .own else { throw .invalidValue }
            }
        }
        guard let cost else {
            self = nil
            return
        }
        guard parts.count == 3, let cost = UInt8(exactly: cost),
            let record = PasscodeRecord(
                cost: cost, salt: parts[0], passcodeID: parts[1], verifier: parts[2], kind: kind ?? .own)
        else { throw .invalidValue }
        self = record
    }
}
