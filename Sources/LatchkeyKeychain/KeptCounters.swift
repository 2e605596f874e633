// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
package import LatchkeyModel
import LatchkeySeams
import LatchkeyWire

extension Keychain {
    private static let countersRecord = "policy.counters"

    /// Keeps the counters of failed tries, sealed, so that neither a restart nor an editor of the file resets them.
    package func keep(_ counters: PolicyCounters) throws(Failure) {
        var writer = CBORWriter()
        writer.array(6)
        writer.integer(Int64(counters.biometryFailures))
        writer.integer(Int64(counters.passcodeFailures))
        writer.integer(counters.passcodeBlockedUntil)
        writer.bytes(clock.bootID)
        writer.integer(counters.lastPasscode ?? -1)
        writer.integer(counters.lastBiometry ?? -1)
        let sealed = try tree.recordKey.seal(
            writer.finish(), nonce: tree.nonce(), binding: KeyTree.binding(tree.header, Self.countersRecord))
        try write { (store) throws(Failure) in try store.setRecord(Self.countersRecord, sealed) }
    }

    /// The counters as they were kept, and whether the machine was restarted since.
    package func keptCounters() throws(Failure) -> (PolicyCounters, isOfThisBoot: Bool)? {
        guard let sealed = try store.read({ (store) throws(Failure) in try store.record(Self.countersRecord) }) else {
            return nil
        }
        guard
            let plain = try tree.recordKey.open(sealed, binding: KeyTree.binding(tree.header, Self.countersRecord)),
            let (counters, boot) = decode(plain)
        else { throw Failure.damagedStore("its counters of failed tries were changed") }
        return (counters, boot == clock.bootID)
    }

    private func decode(_ plain: SecretBytes) -> (PolicyCounters, [UInt8])? {
        plain.withBytes { bytes in
            var reader = CBORReader(bytes)
            return try? reader.tuple(6) { (reader) throws(WireError) in
                // Whatever was kept, the reducer gets numbers it cannot overflow with.
                let biometry = Int(min(max(try reader.integer(), 0), 1_000_000))
                let passcode = Int(min(max(try reader.integer(), 0), 1_000_000))
                let blocked = min(max(try reader.integer(), 0), .max / 4)
                let boot = try reader.bytes(limit: 64)
                let lastPasscode = min(try reader.integer(), .max / 4)
                let lastBiometry = min(try reader.integer(), .max / 4)
                let counters = PolicyCounters(
                    biometryFailures: biometry, passcodeFailures: passcode, passcodeBlockedUntil: blocked,
                    lastPasscode: lastPasscode < 0 ? nil : lastPasscode,
                    lastBiometry: lastBiometry < 0 ? nil : lastBiometry)
                return (counters, boot)
            }
        }
    }
}
