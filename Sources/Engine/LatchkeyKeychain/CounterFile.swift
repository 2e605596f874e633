// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
import LatchkeyModel
import LatchkeySeams
import LatchkeyWire
import Synchronization

/// The counters of failed tries: a preallocated file of two slots. Each write overwrites the older slot in place.
///
/// A try is counted here, durably, before the passcode is checked; overwriting needs no free space. A power cut
/// during a write leaves the other slot intact. Each write has a serial number, and audit entries and the anchor name
/// the newest one they know, so that restored older counters are detected. The counters in turn name the store
/// generation, so that restoring a database and an anchor of the same earlier time is detected.
final class CounterFile: Sendable {
    struct Values: Equatable, Sendable {
        /// 0: no counter was ever written.
        var serial: UInt64 = 0
        var counters = PolicyCounters(
            biometryFailures: 0, passcodeFailures: 0, passcodeBlockedUntil: 0, lastPasscode: nil)
        var bootID: [UInt8] = []
        /// The store generation at the time of this write; a database and an anchor that have not reached it are
        /// refused.
        var generation: UInt64 = 0
    }

    private struct State: Sendable {
        var values: Values
        var slot: Int
        /// Whether the file exists, authenticates, and is as new as the audit log and the anchor require.
        var isReadable: Bool
    }

    private let tree: KeyTree
    private let vault: any KeyVault
    private let state: Mutex<State>

    /// Reads the file; unreadable counters are reported by `values(notBefore:)`.
    init(tree: KeyTree, vault: any KeyVault) throws(Failure) {
        self.tree = tree
        self.vault = vault
        var newest: (Values, Int)?
        for (index, bytes) in (try vault.counterSlots() ?? []).enumerated() {
            guard let plain = try tree.countersKey.open(bytes, authenticating: Self.associatedData(tree)),
                let values = Self.decode(plain), values.serial >= newest?.0.serial ?? 0
            else { continue }
            newest = (values, index)
        }
        state = Mutex(State(values: newest?.0 ?? Values(), slot: newest?.1 ?? 1, isReadable: newest != nil))
    }

    /// The serial number of the current counters.
    var serial: UInt64 { state.withLock { $0.values.serial } }

    /// Returns the counters; nil when none were ever written. Throws `storeUnreadable` when they are missing, changed
    /// or older than serial number `floor`.
    func values(notBefore floor: UInt64) throws(Failure) -> Values? {
        let state = state.withLock { $0 }
        guard state.isReadable, state.values.serial >= floor else {
            throw Failure.damagedStore("its counters of failed tries were changed")
        }
        return state.values.serial == 0 ? nil : state.values
    }

    /// The store generation that the counters name; 0 when they cannot be read.
    var generation: UInt64 { state.withLock { $0.values.generation } }

    /// Overwrites the older slot; durable on return. `floor` is the largest serial number known elsewhere.
    func persist(_ counters: PolicyCounters, bootID: [UInt8], above floor: UInt64, generation: UInt64) throws(Failure) {
        try state.withLock { (state) throws(Failure) in
            try write(
                Values(
                    serial: max(state.values.serial, floor), counters: counters, bootID: bootID,
                    generation: max(state.values.generation, generation)), &state)
        }
    }

    /// Marks the counters as unreadable when their serial number is smaller than `floor`: they were restored from an
    /// earlier time.
    func distrust(before floor: UInt64) {
        state.withLock { state in if state.values.serial < floor { state.isReadable = false } }
    }

    /// Records in the counters that the store has reached a generation; durable on return.
    ///
    /// Refused counters are not rewritten, because a newer serial number would make them accepted.
    func witness(_ generation: UInt64) throws(Failure) {
        try state.withLock { (state) throws(Failure) in
            guard state.isReadable, state.values.generation < generation else { return }
            var next = state.values
            next.generation = generation
            try write(next, &state)
        }
    }

    /// Writes the values with the next serial number.
    private func write(_ values: Values, _ state: inout State) throws(Failure) {
        guard values.serial < .max else { throw Failure.damagedStore("its counters have no serial number left") }
        var next = values
        next.serial += 1
        let slot = 1 - state.slot
        try vault.overwriteCounterSlot(slot, with: Self.seal(next, tree))
        state = State(values: next, slot: slot, isReadable: true)
    }

    static func first(_ key: SymmetricKey, _ header: StoreHeader, _ random: any RandomSource) throws(Failure) -> [UInt8]
    {
        try key.seal(
            encode(Values()), nonce: random.bytes(SymmetricKey.nonceBytes).copyBytes(),
            authenticating: CryptographicLabel.counters.bytes + [0] + header.bytes)
    }

    // MARK: - Encoding

    private static func associatedData(_ tree: KeyTree) -> [UInt8] {
        CryptographicLabel.counters.bytes + [0] + tree.header.bytes
    }

    private static func seal(_ values: Values, _ tree: KeyTree) throws(Failure) -> [UInt8] {
        try tree.countersKey.seal(encode(values), nonce: tree.nonce(), authenticating: associatedData(tree))
    }

    private static func encode(_ values: Values) -> SecretBytes {
        var writer = CBORWriter()
        writer.array(8)
        writer.unsigned(values.serial)
        writer.integer(Int64(values.counters.biometryFailures))
        writer.integer(Int64(values.counters.passcodeFailures))
        writer.integer(values.counters.passcodeBlockedUntil)
        writer.bytes(values.bootID)
        writer.integer(values.counters.lastPasscode ?? -1)
        writer.integer(values.counters.lastBiometry ?? -1)
        writer.unsigned(values.generation)
        return writer.finish()
    }

    private static func decode(_ plain: SecretBytes) -> Values? {
        plain.withBytes { bytes in
            do throws(WireError) {
                var reader = CBORReader(bytes)
                let values = try reader.tuple(8) { (reader) throws(WireError) in
                    let serial = try reader.unsigned()
                    // Clamps every number, so that the policy reducer cannot overflow.
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
                    return Values(serial: serial, counters: counters, bootID: boot, generation: try reader.unsigned())
                }
                try reader.finish()
                return values
            } catch {
                return nil
            }
        }
    }
}
