// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
import LatchkeyModel
import LatchkeySeams
import LatchkeyWire
import Synchronization

/// The record `state`: the state of the store besides its items. Each change increments its serial number, which the
/// audit entry of the same transaction stores, so that a restored older record is detected.
final class StoreState: Sendable {
    struct Values: Equatable, Sendable {
        /// 0: no record was ever written.
        var serial: UInt64 = 0
        /// The store generation, increased by every security event. No key depends on it.
        var generation: UInt64 = 0
        var isLocked = false
        var wasUnlocked = true
        /// Boot identifier at the time when the lock was stored.
        var bootID: [UInt8] = []
        var facePermissions: [String: Bool] = [:]
    }

    private let tree: KeyTree
    /// Cached values; nil: read them from the database.
    private let known = Mutex<Values?>(nil)

    init(_ tree: KeyTree) { self.tree = tree }

    /// Returns the values. Throws `storeUnreadable` when the record is changed or missing, or its serial number
    /// differs from `serial`, the one in the newest audit entry.
    func values(in store: any ItemReading, serial: UInt64) throws(Failure) -> Values {
        if let values = known.withLock({ $0 }) { return values }
        let values = try read(store)
        guard values.serial == serial else { throw Self.changed }
        known.withLock { $0 = values }
        return values
    }

    private static var changed: Failure { Failure.damagedStore("its record state was changed") }

    private func read(_ store: any ItemReading) throws(Failure) -> Values {
        guard let sealed = try store.record(RecordName.state) else { return Values() }
        guard let plain = try tree.recordKey.open(sealed, authenticating: tree.associatedData(.state)),
            let values = Self.decode(plain)
        else { throw Self.changed }
        return values
    }

    /// Writes new values with the next serial number. An audit entry must follow in the same transaction.
    func write(_ values: Values, to store: any ItemWriting) throws(Failure) {
        var values = values
        values.serial &+= 1
        let sealed = try tree.recordKey.seal(
            Self.encode(values), nonce: tree.nonce(), authenticating: tree.associatedData(.state))
        try store.setRecord(RecordName.state.rawValue, sealed)
        known.withLock { $0 = values }
    }

    /// Drops the cached values, after the transaction that wrote them was rolled back.
    func forget() { known.withLock { $0 = nil } }

    // MARK: - Encoding

    /// Encodes the first record of a store whose vault has a counter. Its serial number is 0, because no audit entry
    /// names it yet.
    static func first(_ generation: UInt64) -> SecretBytes { encode(Values(generation: generation)) }

    private static func encode(_ values: Values) -> SecretBytes {
        var writer = CBORWriter()
        writer.array(6)
        writer.unsigned(values.serial)
        writer.unsigned(values.generation)
        writer.boolean(values.isLocked)
        writer.boolean(values.wasUnlocked)
        writer.bytes(values.bootID)
        // Beyond the limit the answers for the alphabetically last apps are dropped; these apps ask the user again.
        let stored = values.facePermissions.sorted { $0.key < $1.key }.prefix(Limits.facePermissions)
        writer.array(stored.count)
        for (application, isAllowed) in stored {
            writer.array(2)
            writer.text(application)
            writer.boolean(isAllowed)
        }
        return writer.finish()
    }

    private static func decode(_ plain: SecretBytes) -> Values? {
        plain.withBytes { bytes in
            do throws(WireError) {
                var reader = CBORReader(bytes)
                let values = try reader.tuple(6) { (reader) throws(WireError) in
                    var values = Values(serial: try reader.unsigned(), generation: try reader.unsigned())
                    values.isLocked = try reader.boolean()
                    values.wasUnlocked = try reader.boolean()
                    values.bootID = try reader.bytes(limit: 64)
                    try reader.array(limit: Limits.facePermissions) { (reader) throws(WireError) in
                        let (application, isAllowed) = try reader.tuple(2) { (reader) throws(WireError) in
                            (try reader.text(limit: Limits.applicationBytes), try reader.boolean())
                        }
                        values.facePermissions[application] = isAllowed
                    }
                    return values
                }
                try reader.finish()
                return values
            } catch {
                return nil
            }
        }
    }
}

extension ItemReading {
    func record(_ name: RecordName) throws(Failure) -> [UInt8]? { try record(name.rawValue) }
}
