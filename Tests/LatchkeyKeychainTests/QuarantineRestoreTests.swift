// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyModel
import LatchkeyPolicy
import LatchkeySeams
import TestSupport
import Testing

@testable import LatchkeyKeychain

/// Quarantined rows are restored when they authenticate again (behaviour KC-17, decision 008).
@Suite struct QuarantineRestoreTests {
    private let store: StoreOnDisk

    init() throws { store = try .withThreeItems() }

    /// Damages rows, has them quarantined, and returns the undamaged rows.
    private func quarantine(_ indexes: [Int], _ edit: (inout StoredRow) -> Void = { $0.secret?[30] ^= 1 }) throws {
        let rows = try store.rows()
        for index in indexes {
            var row = rows[index]
            edit(&row)
            try store.edit { try $0.replace(row) }
        }
        let keychain = try store.open()
        _ = try? keychain.find(ItemQuery(itemClass: .genericPassword))
        try keychain.quarantineDamaged()
        #expect(try keychain.quarantineCount() == Int64(indexes.count))
    }

    private func restore(_ keychain: Keychain) throws -> [Finding] {
        var restore = QuarantineRestore(keychain, caller: StoreOnDisk.caller)
        var findings: [Finding] = []
        while true {
            let report = try restore.next()
            findings += report.findings
            guard report.more else { return findings }
        }
    }

    private func accounts(_ keychain: Keychain) throws -> [AttributeValue?] {
        try keychain.find(ItemQuery(itemClass: .genericPassword), returns: .attributes)?
            .map { $0.attributes?[.account] } ?? []
    }

    private let repair = "UPDATE quarantine SET secret = (SELECT secret FROM kept WHERE kept.id = quarantine.id)"

    /// Copies the rows to the table `kept`, for `repair`.
    private func keep() throws { try store.execute("CREATE TABLE kept AS SELECT * FROM item") }

    @Test func aRepairedRowIsRestoredAtItsPositionAndLogged_KC17() throws {
        try keep()
        try quarantine([0, 1])
        try store.execute(repair + " WHERE position = 2; DROP TABLE kept")
        let keychain = try store.open()
        #expect(try Set(restore(keychain).map(\.kind)) == [.quarantined, .restored])
        #expect(try keychain.secret("two") == "secret of two")
        #expect(try accounts(keychain) == [.text("two"), .text("three")], "at its old position")
        #expect(try keychain.quarantineCount() == 1)
        let (lines, finding) = try keychain.trail()
        #expect(finding == nil)
        #expect(lines.last?.event == .restored && lines.last?.caller == "test")
        #expect(lines.last?.item == (try store.rows()[0].id))
        #expect(try keychain.findings().map(\.kind) == [.quarantined], "nothing is unexplained")
    }

    @Test func aRowThatIsStillDamagedStaysInTheQuarantine_KC17() throws {
        try quarantine([0, 1, 2])
        let keychain = try store.open()
        let before = try keychain.quarantinedRows()
        #expect(try restore(keychain).map(\.kind) == [.quarantined, .quarantined, .quarantined])
        #expect(try keychain.quarantinedRows() == before)
        #expect(try keychain.itemCount() == 0)
    }

    @Test func aRowWhosePositionIsTakenIsRestoredAtTheEnd() throws {
        try keep()
        try quarantine([2])
        try store.open().add("four")
        try store.execute(repair + "; DROP TABLE kept")
        let keychain = try store.open()
        #expect(try restore(keychain).map(\.kind) == [.restored])
        #expect(try accounts(keychain) == ["one", "two", "four", "three"].map { .text($0) })
    }

    @Test func anExistingItemWithTheSamePrimaryKeyIsNotReplaced_KC17() throws {
        try keep()
        try quarantine([1])
        try store.open().add("two", "new")
        try store.execute(repair + "; DROP TABLE kept")
        let keychain = try store.open()
        let findings = try restore(keychain)
        #expect(findings.map(\.kind) == [.placeTaken])
        #expect(findings.first?.item.count == 16)
        #expect(try keychain.secret("two") == "new")
        #expect(try keychain.quarantineCount() == 1)
    }

    @Test func changedIndexesAreComputedAgain() throws {
        try keep()
        try quarantine([1]) { row in
            row.secret?[30] ^= 1
            row.indexes = [[1], [2], [3]]
        }
        try store.execute(repair + "; DROP TABLE kept")
        let keychain = try store.open()
        #expect(try restore(keychain).map(\.kind) == [.restored])
        #expect(try keychain.find(.password("two"))?.count == 1)
        #expect(try keychain.findings().isEmpty)
    }

    @Test func aRowRepairedInTheQuarantineIsRestored() throws {
        let set = EnrolmentSet([1, 2, 3])
        let proof = Authorisation.testOnly([.biometry], enrolment: set, by: StoreOnDisk.caller)
        do {
            let keychain = try store.open()
            _ = try keychain.apply(set)
            try keychain.add("bound", "to the set", rule(.whenUnlocked, .biometryCurrentSet))
        }
        // Replaces one byte of the row's secret.
        let row = try store.rows().last
        var damaged = try #require(row)
        damaged.secret?[20] ^= 1
        try store.edit { try $0.replace(damaged) }
        do {
            let keychain = try store.open()
            #expect(status { _ = try keychain.secret("bound", proof: proof) } == .itemNotFound)
            try keychain.quarantineDamaged()
            #expect(try restore(keychain).map(\.kind) == [.quarantined])
        }
        try store.execute(
            "UPDATE quarantine SET secret = x'\(try #require(row?.secret).map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined())'"
        )
        let keychain = try store.open()
        #expect(try restore(keychain).map(\.kind) == [.restored])
        #expect(try keychain.secret("bound", proof: proof) == "to the set")
        #expect(try keychain.findings().isEmpty)
    }

    @Test func aRowThatTheDaemonDidNotQuarantineIsNotRestored_abuse33() throws {
        // A copy of a deleted item, with the number of an entry for another event.
        try keep()
        try quarantine([0])
        try store.open().delete(.account("two"), caller: StoreOnDisk.caller)
        try store.execute(
            """
            INSERT INTO quarantine (entry, position, id, class, key, grp, i0, i1, i2, version, attributes, secret)
            SELECT 1, position, id, class, key, grp, i0, i1, i2, version, attributes, secret FROM kept WHERE position = 2;
            DROP TABLE kept;
            """)
        let keychain = try store.open()
        #expect(try restore(keychain).map(\.kind) == [.quarantined, .asideUnexplained])
        #expect(status { _ = try keychain.secret("two") } == .itemNotFound)
    }

    @Test func aRowInsertedAgainAfterItsRestoreIsReported_abuse33() throws {
        try keep()
        try quarantine([1])
        try store.execute(repair + "; DROP TABLE kept")
        do {
            let keychain = try store.open()
            #expect(try restore(keychain).map(\.kind) == [.restored])
            #expect(try keychain.secret("two") == "secret of two")
        }
        // Inserts the whole row again after the item was deleted.
        let whole = try store.rows()[1]
        try store.open().delete(.account("two"), caller: StoreOnDisk.caller)
        let entry = try #require(try store.open().trail().0.first { $0.event == .quarantined }).sequence
        try store.edit { editor in
            var row = whole
            row.position = 0
            try editor.insert(row)
            let position = try editor.lastPosition()
            try editor.quarantine(position: position, entry: entry)
        }
        let keychain = try store.open()
        #expect(try restore(keychain).map(\.kind) == [.restored])
        #expect(try keychain.findings().map(\.kind) == [.itemUnexplained, .setChanged])
    }

    @Test func aRestoreThatFailsChangesNothing() throws {
        try keep()
        try quarantine([0, 1])
        try store.execute(repair + "; DROP TABLE kept")
        let plan = FaultPlan()
        FaultyFiles.plan(plan, for: store.folder.path)
        defer { FaultyFiles.plan(nil, for: store.folder.path) }
        let keychain = try store.open()
        plan.fail(at: 0, .diskFull, goesOn: true)
        #expect(status { _ = try restore(keychain) } == .diskFull)
        plan.fail(at: .max, .diskFull, goesOn: true)
        #expect(try keychain.quarantineCount() == 2)
        #expect(try restore(keychain).map(\.kind) == [.restored, .restored])
        #expect(try keychain.trail().1 == nil)
    }

    @Test func manyRowsAreRestoredInSeveralTransactions() throws {
        do {
            let keychain = try store.open()
            for number in 0..<147 { try keychain.add("\(number)") }
        }
        try keep()
        try quarantine(Array(0..<150))
        try store.execute(repair + "; DROP TABLE kept")
        let keychain = try store.open()
        var restore = QuarantineRestore(keychain, caller: StoreOnDisk.caller)
        #expect(try restore.next().more)
        #expect(try keychain.itemCount() == 64)
        #expect(try restore.next().more)
        let last = try restore.next()
        #expect(!last.more && last.done == 150)
        #expect(try keychain.itemCount() == 150 && keychain.quarantineCount() == 0)
        #expect(try keychain.findings().isEmpty)
    }
}
