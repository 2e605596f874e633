// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyWire

/// The contents of a counter slot of `latchkey-authd`.
struct StoredTries {
    /// Incremented by each write; the slot with the larger number counts.
    var serial: UInt64
    var counters: PolicyCounters
    var bootID: [UInt8]

    init(serial: UInt64, counters: PolicyCounters, bootID: [UInt8]) {
        (self.serial, self.counters, self.bootID) = (serial, counters, bootID)
    }

    var encoded: [UInt8] {
        var writer = CBORWriter()
        writer.array(7)
        writer.unsigned(serial)
        writer.unsigned(UInt64(clamping: counters.biometryFailures))
        writer.unsigned(UInt64(clamping: counters.passcodeFailures))
        writer.integer(counters.passcodeBlockedUntil)
        writer.bytes(bootID)
        writer.integer(counters.lastPasscode ?? -1)
        writer.integer(counters.lastBiometry ?? -1)
        return writer.finish().copyBytes()
    }

    /// Decodes a slot; nil if it is malformed. Numbers are clamped, so that no computation with them can overflow.
    init?(decoding bytes: [UInt8]) {
        let stored: StoredTries? = bytes.withUnsafeBytes { bytes in
            do throws(WireError) {
                var reader = CBORReader(bytes)
                let stored = try reader.tuple(7) { (reader) throws(WireError) in
                    let serial = try reader.unsigned()
                    let biometry = Int(min(try reader.unsigned(), 1_000_000))
                    let passcode = Int(min(try reader.unsigned(), 1_000_000))
                    let blocked = min(max(try reader.integer(), 0), .max / 4)
                    let bootID = try reader.bytes(limit: 64)
                    let lastPasscode = min(try reader.integer(), .max / 4)
                    let lastBiometry = min(try reader.integer(), .max / 4)
                    return StoredTries(
                        serial: serial,
                        counters: PolicyCounters(
                            biometryFailures: biometry, passcodeFailures: passcode, passcodeBlockedUntil: blocked,
                            lastPasscode: lastPasscode < 0 ? nil : lastPasscode,
                            lastBiometry: lastBiometry < 0 ? nil : lastBiometry),
                        bootID: bootID)
                }
                try reader.finish()
                return stored
            } catch {
                return nil
            }
        }
        guard let stored else { return nil }
        self = stored
    }
}
