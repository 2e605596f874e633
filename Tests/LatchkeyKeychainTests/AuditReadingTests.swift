// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import TestPromises
import Testing

@testable import LatchkeyKeychain

/// The audit log is read in pages, and verifying it reports the first entry whose chain value is wrong.
@Suite struct AuditReadingTests {
    private let store: StoreOnDisk

    init() throws {
        store = try StoreOnDisk()
        let keychain = try store.open()
        try keychain.setPasscode(SecretBytes("1234".utf8))
        for account in ["one", "two", "three"] { try keychain.add(account) }
        try keychain.record(.refused, caller: StoreOnDisk.caller)
        try keychain.delete(.account("two"), caller: StoreOnDisk.caller)
    }

    private func trail() throws -> ([AuditLine], Finding?) { try store.open().trail() }

    /// Runs a statement on the file; returns the first break of the chain, and all findings of a check.
    private func broken(_ sql: String) throws -> (first: Finding?, all: [Finding]) {
        try store.execute(sql)
        return (try trail().1, try store.open().findings())
    }

    @Test func theLogReturnsEventItemAndCallerInOrder() throws {
        let (lines, finding) = try trail()
        #expect(finding == nil)
        #expect(lines.map(\.event) == [.passcodeSet, .added, .added, .added, .refused, .deleted])
        #expect(lines.map(\.sequence) == [1, 2, 3, 4, 5, 6])
        #expect(lines[2].item == lines[5].item)
        #expect(lines.allSatisfy { $0.caller == "test" && $0.processID == 1 && $0.time == 1_767_225_600_000_000 })
    }

    @Test(arguments: [1, 2, 5, 6, 7] as [UInt64]) func pagesOfAnySizeGiveTheSameLog(part: UInt64) throws {
        let keychain = try store.open()
        let whole = try keychain.trail()
        let parts = try keychain.trail(part: part)
        #expect(parts.0 == whole.0)
        #expect(parts.1 == nil)
    }

    @Test func aPageWithoutEntriesReturnsTheLastNumber() throws {
        let page = try store.open().log(Request.Log(after: 0, limit: 0, verifies: false))
        #expect(page == AuditPage(lines: [], last: 6))
        let behind = try store.open().log(Request.Log(after: .max, limit: .max, verifies: false))
        #expect(behind == AuditPage(lines: [], last: 6))
        #expect(try store.open().log(Request.Log(after: .min, limit: 1, verifies: true)).lines.count == 1)
    }

    @Test func anEmptyLogHasNoFindings() throws {
        let (lines, finding) = try Keychain.inMemory().trail()
        #expect(lines.isEmpty)
        #expect(finding == nil)
    }

    @Test func aDeletedEntryIsReported() throws {
        let (first, all) = try broken("DELETE FROM audit WHERE sequence = 3")
        #expect(first == Finding(.entryMissing, number: 3))
        // The missing entry added an item that was deleted later, so the rows are still explained.
        #expect(all == [Finding(.entryMissing, number: 3)])
        let (_, more) = try broken("DELETE FROM audit WHERE sequence = 2")
        #expect(more.map(\.kind) == [.entryMissing, .itemUnexplained])
    }

    @Test func reorderedEntriesAreReported() throws {
        let (first, all) = try broken(
            """
            UPDATE audit SET sequence = -1 WHERE sequence = 2; UPDATE audit SET sequence = 2 WHERE sequence = 3;
            UPDATE audit SET sequence = 3 WHERE sequence = -1
            """)
        #expect(first == Finding(.entryChanged, number: 2))
        #expect(all.filter { $0.kind == .entryChanged }.map(\.number) == [2, 3, 4])
    }

    @Test(arguments: ["sealed", "chain"]) func aChangedEntryIsReported(column: String) throws {
        let (first, _) = try broken("UPDATE audit SET \(column) = zeroblob(32) WHERE sequence = 4")
        #expect(first == Finding(.entryChanged, number: 4))
    }

    @Test func anUnreadableEntryIsReturnedWithoutAnEvent() throws {
        try store.execute("UPDATE audit SET sealed = zeroblob(40) WHERE sequence = 4")
        let lines = try store.open().trail(verifies: false).0
        #expect(lines.count == 6)
        #expect(lines[3] == AuditLine(sequence: 4))
    }

    @Test func aLogThatWasCutIsReported() throws {
        let (first, all) = try broken("DELETE FROM audit WHERE sequence > 3")
        #expect(first == Finding(.trailCut, number: 4))
        #expect(all.map(\.kind) == [.trailCut, .itemMissing, .itemUnexplained, .setChanged])
        let (none, _) = try broken("DELETE FROM audit")
        #expect(none == Finding(.trailCut, number: 1))
    }

    @Test(.promise("audit.end")) func aCutThatOnlyTheRowsRevealIsReportedByTheCheck() throws {
        let id = try store.open().trail().0[5].item
        let (first, all) = try broken("DELETE FROM audit WHERE sequence = 6")
        #expect(first == nil, "the chain alone does not show it")
        #expect(all == [Finding(.itemMissing, item: id), Finding(.setChanged)])
    }

    @Test func removingOrChangingTheEndRecordIsReported() throws {
        let (changed, _) = try broken("UPDATE record SET value = zeroblob(60) WHERE name = 'audit.end'")
        #expect(changed == Finding(.trailEndUnknown))
        let (missing, all) = try broken("DELETE FROM record WHERE name = 'audit.end'")
        #expect(missing == Finding(.trailEndUnknown))
        #expect(all == [Finding(.trailEndUnknown)])
    }

    @Test func anOlderEndRecordIsConsistentWithTheLog() throws {
        let old = try #require(
            try store.open().store.read { (store) throws(Failure) in try store.record("audit.end") })
        do { try store.open().record(.refused, caller: nil) }
        try store.edit { try $0.setRecord("audit.end", old) }
        // Restored together with the cut entries it is consistent: docs/reference/store-format.md describes this limit.
        #expect(try trail().1 == nil)
    }
}
