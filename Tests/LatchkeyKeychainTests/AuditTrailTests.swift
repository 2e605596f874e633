// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyPolicy
import LatchkeySeams
import LatchkeyWire
import SQLiteDriver
import SimulatedDriver
import SystemDriver
import TestSupport
import Testing

@testable import LatchkeyKeychain

/// Each write appends an audit entry in its own transaction, sealed and chained to the previous entry.
@Suite struct AuditTrailTests {
    private let store: RecordingStore
    private let keychain: Keychain

    init() throws {
        let random = SystemRandomSource()
        store = RecordingStore(try SQLiteItemStore.inMemory())
        let vault = MemoryKeyVault(rootKey: try random.bytes(32))
        try StoreOnDisk.identity.create(in: store, vault: vault, random: random)
        keychain = try StoreOnDisk.identity.open(store, vault: vault, clock: VirtualClock(), random: random)
    }

    /// The decrypted content of an entry.
    private struct Line: Equatable {
        var time: Int64
        var event: AuditEvent?
        var item: [UInt8]
        var label: String
        var processID: Int64
        var ground: AuditGround?
    }

    private func open(_ entry: AuditEntry) throws -> Line {
        let associatedData = keychain.audit.associatedData(entry.sequence)
        let plain = try #require(try keychain.tree.auditKey.open(entry.sealed, authenticating: associatedData))
        return try plain.withBytes { bytes in
            var reader = CBORReader(bytes)
            return try reader.tuple(8) { (reader) throws(WireError) in
                var line = Line(
                    time: try reader.integer(),
                    event: UInt8(exactly: try reader.unsigned()).flatMap(AuditEvent.init(rawValue:)),
                    item: try reader.bytes(), label: try reader.text(), processID: try reader.integer())
                #expect(try reader.unsigned() == 1)
                line.ground = UInt8(exactly: try reader.unsigned()).flatMap(AuditGround.init)
                _ = try StoreNumbers(&reader)
                return line
            }
        }
    }

    /// An entry of a use with this number as its ground.
    private func use(ground: UInt64) throws -> AuditEntry {
        var writer = CBORWriter()
        writer.array(8)
        writer.integer(0)
        writer.unsigned(UInt64(AuditEvent.used.rawValue))
        writer.bytes([])
        writer.text("test")
        writer.integer(1)
        writer.unsigned(1)
        writer.unsigned(ground)
        StoreNumbers().write(to: &writer)
        let sealed = try keychain.tree.auditKey.seal(
            writer.finish(), nonce: keychain.tree.nonce(), authenticating: keychain.audit.associatedData(1))
        return AuditEntry(sequence: 1, sealed: sealed, chain: [])
    }

    @Test func aUseWithAnUnknownGroundIsNotShownAsOneThatNeededNoProof() throws {
        #expect(try keychain.audit.line(use(ground: 0)).event == .used)
        for ground in [128 + 13, 192, 197, 255, 256, .max] as [UInt64] {
            #expect(try keychain.audit.line(use(ground: ground)).event == nil, "\(ground)")
        }
    }

    /// Returns the sequence number of the first entry that does not follow from its predecessor; nil when all do.
    private func firstBreak(_ entries: [AuditEntry]) throws -> Int64? {
        let key = try keychain.tree.auditKey.derive(.chain)
        var last: [UInt8] = []
        for (offset, entry) in entries.enumerated() {
            let associatedData = keychain.audit.associatedData(entry.sequence)
            guard entry.sequence == Int64(offset + 1),
                try key.authenticationCode(last + associatedData + entry.sealed) == entry.chain
            else { return entry.sequence }
            last = entry.chain
        }
        return nil
    }

    private func work() throws {
        try keychain.add("one")
        try keychain.add("two")
        #expect(try keychain.update(.account("one"), secret: "new") == .finished)
        try keychain.delete(.account("two"), caller: StoreOnDisk.caller)
        try keychain.record(.refused, caller: StoreOnDisk.caller)
        try keychain.record(.enrollmentChanged, caller: nil)
    }

    @Test func everyWriteAppendsAnEntryWithEventItemAndCaller() throws {
        try work()
        let lines = try store.entries.map { try open($0) }
        #expect(lines.map(\.event) == [.added, .added, .updated, .deleted, .refused, .enrollmentChanged])
        #expect(lines[0].item.count == 16)
        #expect(lines[2].item == lines[0].item)
        #expect(lines[3].item == lines[1].item)
        #expect(lines[4].item.isEmpty)
        #expect(lines.map(\.label) == Array(repeating: "test", count: 5) + [""])
        #expect(lines[0].processID == 1)
        #expect(lines[0].time == 1_767_225_600_000_000)
    }

    @Test func useOfAProtectedItemIsLogged() throws {
        try keychain.add("one", "secret", rule(.whenUnlocked, .userPresence))
        var used: [UsedItem] = []
        let request = Request.CopyItems(.account("one"))
        let proof = Authorisation.ofPasscode
        _ = try keychain.search(
            request, caller: StoreOnDisk.caller, proof: proof, used: { used.append($0) }, emit: { _ in })
        try keychain.recordUse(used, caller: StoreOnDisk.caller, biometry: .touchID)
        let lines = try store.entries.map { try open($0) }
        #expect(lines.map(\.event) == [.added, .used])
        #expect(lines[0].item == lines[1].item)
        #expect(lines[1].ground == .allowed(.passcode), "the item accepts a finger, too, and none was used")
    }

    @Test func entriesAreChained() throws {
        try work()
        #expect(try firstBreak(store.entries) == nil)
    }

    @Test func anEntryThatIsMissingMovedOrChangedBreaksTheChain() throws {
        try work()
        let entries = store.entries
        var missing = entries
        missing.remove(at: 2)
        #expect(try firstBreak(missing) == 4)
        var moved = entries
        (moved[1].sealed, moved[2].sealed) = (moved[2].sealed, moved[1].sealed)
        #expect(try firstBreak(moved) == 2)
        var changed = entries
        changed[4].sealed[20] ^= 1
        #expect(try firstBreak(changed) == 5)
    }

    @Test func aRolledBackTransactionLeavesNoGap() throws {
        try keychain.add("one")
        for failing in 0..<3 {
            store.fail(at: failing)
            #expect(status { try keychain.add("two") } == .diskFull)
            store.fail(at: nil)
        }
        #expect(status { try keychain.add("one") } == .duplicateItem)
        try keychain.add("two")
        #expect(store.entries.map(\.sequence) == [1, 2])
        #expect(try firstBreak(store.entries) == nil)
    }

    @Test func theChainContinuesAfterReopening() throws {
        let folder = try StoreOnDisk()
        var last: [AuditEntry?] = []
        for account in ["one", "two"] {
            let keychain = try folder.open()
            try keychain.add(account)
            last.append(try keychain.store.read { (store) throws(Failure) in try store.lastAuditEntry() })
        }
        #expect(last.map { $0?.sequence } == [1, 2])
        let keychain = try folder.open()
        let entry = try #require(last[1])
        let associatedData = keychain.audit.associatedData(2)
        let code = try keychain.tree.auditKey.derive(.chain)
            .authenticationCode((last[0]?.chain ?? []) + associatedData + entry.sealed)
        #expect(code == entry.chain)
    }
}
