// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
import LatchkeyModel
import LatchkeySeams
import LatchkeyWire
import Synchronization

/// The counters of failed tries in a preallocated file of two slots, of which the older one is overwritten in place.
///
/// A try is counted here, durably, before the passcode is checked; overwriting needs no free space. A power cut while one
/// slot is written leaves the other. Each write has a serial number; audit rows and the anchor name the newest one they
/// know of, so that older counters put back are noticed.
final class CounterFile: Sendable {
    struct Values: Equatable, Sendable {
        /// 0: nothing was ever counted.
        var serial: UInt64 = 0
        var counters = PolicyCounters(
            biometryFailures: 0, passcodeFailures: 0, passcodeBlockedUntil: 0, lastPasscode: nil)
        var bootID: [UInt8] = []
    }

    private struct State: Sendable {
        var values: Values
        var slot: Int
        /// Whether the file was there and authentic.
        var isReadable: Bool
    }

    private let tree: KeyTree
    private let vault: any KeyVault
    private let state: Mutex<State>

    /// Reads the file.
    init(tree: KeyTree, vault: any KeyVault) throws(Failure) {
        self.tree = tree
        self.vault = vault
        var newest: (Values, Int)?
        for (index, bytes) in (try vault.counterSlots() ?? []).enumerated() {
            guard let plain = try tree.countersKey.open(bytes, binding: Self.associatedData(tree)),
                let values = Self.decode(plain), values.serial >= newest?.0.serial ?? 0
            else { continue }
            newest = (values, index)
        }
        state = Mutex(
            State(values: newest?.0 ?? Values(), slot: newest?.1 ?? 1, isReadable: newest != nil))
    }

    /// The serial number of the newest counters.
    var serial: UInt64 { state.withLock { $0.values.serial } }

    /// The counters; nil when nothing was ever counted. Throws when they are missing, changed or older than `floor`.
    func values(notBefore floor: UInt64) throws(Failure) -> Values? {
        let state = state.withLock { $0 }
        guard state.isReadable, state.values.serial >= floor else {
            throw Failure.damagedStore("its counters of failed tries were changed")
        }
        return state.values.serial == 0 ? nil : state.values
    }

    /// Overwrites the older slot; durable when this returns. `floor` is the largest serial number known elsewhere.
    func keep(_ counters: PolicyCounters, bootID: [UInt8], above floor: UInt64) throws(Failure) {
        var failure: Failure?
        state.withLock { state in
            var next = Values(serial: max(state.values.serial, floor), counters: counters, bootID: bootID)
            guard next.serial < .max else {
                failure = Failure.damagedStore("its counters have no serial number left")
                return
            }
            next.serial += 1
            let slot = 1 - state.slot
            do throws(Failure) {
                try vault.overwriteCounterSlot(slot, with: Self.seal(next, tree))
                state = State(values: next, slot: slot, isReadable: true)
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
    }

    /// The first slot of a new store.
    static func first(_ key: SymmetricKey, _ header: StoreHeader, _ random: any RandomSource) throws(Failure) -> [UInt8]
    {
        try key.seal(
            encode(Values()), nonce: random.bytes(SymmetricKey.nonceBytes).copyBytes(),
            binding: CryptographicLabel.counters.bytes + [0] + header.bytes)
    }

    // MARK: - Bytes

    private static func associatedData(_ tree: KeyTree) -> [UInt8] {
        CryptographicLabel.counters.bytes + [0] + tree.header.bytes
    }

    private static func seal(_ values: Values, _ tree: KeyTree) throws(Failure) -> [UInt8] {
        try tree.countersKey.seal(encode(values), nonce: tree.nonce(), binding: associatedData(tree))
    }

    private static func encode(_ values: Values) -> SecretBytes {
        var writer = CBORWriter()
        writer.array(7)
        writer.unsigned(values.serial)
        writer.integer(Int64(values.counters.biometryFailures))
        writer.integer(Int64(values.counters.passcodeFailures))
        writer.integer(values.counters.passcodeBlockedUntil)
        writer.bytes(values.bootID)
        writer.integer(values.counters.lastPasscode ?? -1)
        writer.integer(values.counters.lastBiometry ?? -1)
        return writer.finish()
    }

    private static func decode(_ plain: SecretBytes) -> Values? {
        plain.withBytes { bytes in
            do throws(WireError) {
                var reader = CBORReader(bytes)
                let values = try reader.tuple(7) { (reader) throws(WireError) in
                    let serial = try reader.unsigned()
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
                    return Values(serial: serial, counters: counters, bootID: boot)
                }
                try reader.finish()
                return values
            } catch {
                return nil
            }
        }
    }
}
