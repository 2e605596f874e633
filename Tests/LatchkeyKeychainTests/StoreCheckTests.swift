// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyModel
import LatchkeySeams
import LatchkeyService
import TestPromises
import TestSupport
import Testing

@testable import LatchkeyKeychain

/// A check reports the changes of a store that was edited by hand, and changes nothing.
@Suite struct StoreCheckTests {
    private static let passcode = SecretBytes("1234".utf8)
    private let store: StoreOnDisk

    init() throws {
        store = try StoreOnDisk()
        let keychain = try store.open()
        try keychain.setPasscode(Self.passcode)
        _ = try keychain.apply(EnrolmentSet([1]))
        try keychain.add("one", "1")
        try keychain.add("two", "2", rule(.whenUnlocked, .userPresence))
        try keychain.add("three", "3", rule(.whenPasscodeSetThisDeviceOnly), group: "shared")
        try keychain.add("four", "4", rule(.whenUnlocked, .biometryCurrentSet))
        _ = try keychain.update(.account("one"), secret: "1b")
        try keychain.persist(PolicyCounters(biometryFailures: 1, passcodeFailures: 2, passcodeBlockedUntil: 3))
        try keychain.persist(facePermissions: ["app": true])
    }

    private func found() throws -> [Finding] { try store.open().findings() }

    /// Changes one row and returns the findings of a check.
    private func found(row number: Int, _ change: (inout StoredRow) -> Void) throws -> [Finding] {
        var row = try store.rows()[number]
        change(&row)
        try store.edit { try $0.replace(row) }
        return try found()
    }

    @Test func anUneditedStoreHasNoFindings() throws {
        #expect(try found() == [])
        let files = try store.files()
        let keychain = try store.open()
        _ = try keychain.unlock(Self.passcode)
        #expect(try keychain.findings() == [])
        #expect(try store.files()["keychain.sqlite"] == files["keychain.sqlite"], "the check changed nothing")
    }

    @Test func theGoldenStoreHasNoFindings() throws {
        let golden = try GoldenStore.make()
        #expect(try golden.open().findings() == [])
    }

    @Test(.promise("abuse.33")) func swappedRowsAreReported_abuse33() throws {
        let rows = try store.rows()
        try store.edit { store in
            for (row, other) in [(rows[0], rows[1]), (rows[1], rows[0])] {
                var row = row
                (row.attributes, row.secret) = (other.attributes, other.secret)
                try store.replace(row)
            }
        }
        #expect(
            try found() == [
                Finding(.attributesDamaged, number: 1, item: rows[0].id),
                Finding(.attributesDamaged, number: 2, item: rows[1].id), Finding(.setChanged),
            ])
    }

    @Test(.promise("abuse.33")) func aSwappedGroupIsReported_abuse33() throws {
        let rows = try store.rows()
        #expect(
            try found(row: 0) { $0.group = rows[2].group } == [Finding(.indexWrong, number: 1, item: rows[0].id)])
    }

    @Test func aRowMovedToANegativePositionIsChecked_abuse33() throws {
        let id = try store.rows()[0].id
        try store.execute("UPDATE item SET position = -7, i0 = zeroblob(16) WHERE position = 1")
        #expect(try found() == [Finding(.indexWrong, number: -7, item: id)])
    }

    @Test(arguments: 0..<3) func aChangedIndexIsReported(number: Int) throws {
        let id = try store.rows()[0].id
        let findings = try found(row: 0) { row in row.indexes[number] = [UInt8](repeating: 1, count: 16) }
        #expect(findings == [Finding(.indexWrong, number: 1, item: id)])
    }

    @Test(.promise("abuse.33")) func changedBytesOfAnAccessControlAreReported_abuse33() throws {
        let row = try store.rows()[1]
        // An attacker with the metadata key can write another access control, but then the secret fails authentication.
        let envelopes = try store.open().envelopes
        var item = try envelopes.openAttributes(row)
        item.accessControl = rule(.whenUnlocked)
        let weaker = try envelopes.sealAttributes(item, row)
        #expect(try found(row: 1) { $0.attributes = weaker } == [Finding(.secretDamaged, number: 2, item: row.id)])
        // When an attacker without a key changes a byte, the attributes fail authentication.
        #expect(
            try found(row: 1) { $0.attributes[30] ^= 1 } == [Finding(.attributesDamaged, number: 2, item: row.id)])
    }

    @Test(
        .promise("attacker.other-user", "abuse.33"),
        arguments: [
            StoreIdentity(tier: .user, userID: 1000, passcodeCost: 10),
            StoreIdentity(tier: .simulated, userID: 1001, passcodeCost: 10),
        ])
    func aRowOfAnotherTierOrUserIsReported_abuse33(identity: StoreIdentity) throws {
        let other = try StoreOnDisk()
        try other.prepare(identity)
        try other.open(identity).add("five")
        let foreign = try other.rows()[0]
        try store.edit { try $0.insert(foreign) }
        let position = try #require(try store.rows().last?.position)
        #expect(
            try found() == [
                Finding(.attributesDamaged, number: position, item: foreign.id),
                Finding(.itemUnexplained, item: foreign.id), Finding(.setChanged),
            ])
    }

    /// The third secret needs the passcode, which was not entered.
    @Test(.promise("attacker.edits"), arguments: [0, 1, 40, 70], [0, 2]) func changedSecretIsReportedWithoutAnyKeyOfIt(
        offset: Int, row: Int
    ) throws {
        let stored = try store.rows()[row]
        let damage = Finding(.secretDamaged, number: stored.position, item: stored.id)
        #expect(try found(row: row) { $0.secret?[offset] ^= 1 } == [damage])
        #expect(try found(row: row) { $0.secret = [1, 2] } == [damage])
    }

    /// The attributes have the hash of the changed secret, as an attacker with `root.key` could write them.
    @Test func secretWithTheHashOfAnotherOneIsReportedOnceItsKeyIsThere() throws {
        let keychain = try store.open()
        var row = try store.rows()[2]
        let item = try keychain.envelopes.openAttributes(row)
        row.secret?[40] ^= 1
        row.attributes = try keychain.envelopes.sealAttributes(item, row)
        try store.edit { try $0.replace(row) }
        let damage = Finding(.secretDamaged, number: 3, item: row.id)
        #expect(try !keychain.findings().contains(damage))
        #expect(try keychain.unlock(Self.passcode))
        #expect(try keychain.findings().contains(damage))
    }

    @Test func lockedAndPasswordProtectedSecretsAreCheckedWithoutTheirKeys() throws {
        do {
            let keychain = try store.open()
            let control = rule(.whenUnlocked, .applicationPassword)
            let request = Request.AddItem(attributes: named("own"), accessControl: control, secret: SecretBytes([1]))
            _ = try keychain.add(
                request, caller: StoreOnDisk.caller,
                password: keychain.appPassword(SecretBytes([2]), toAdd: control))
        }
        #expect(try found() == [])
        let keychain = try store.open()
        keychain.tree.apply(LockState(isLocked: true, wasUnlocked: true))
        #expect(try keychain.findings() == [])
        var row = try #require(try store.rows().last)
        row.secret?[80] ^= 1
        try store.edit { try $0.replace(row) }
        #expect(try keychain.findings() == [Finding(.secretDamaged, number: row.position, item: row.id)])
    }

    @Test(.promise("rows.reported")) func removedRestoredAndReplacedRowsAreReported() throws {
        let rows = try store.rows()
        try store.edit { try $0.delete(position: rows[1].position) }
        #expect(try found() == [Finding(.itemMissing, item: rows[1].id), Finding(.setChanged)])
        try store.edit { try $0.insert(rows[1]) }
        #expect(try found() == [])
        // An older version of a row that was updated since.
        do { _ = try store.open().update(.account("one"), secret: "1c") }
        try store.edit { try $0.replace(rows[0]) }
        #expect(try found() == [Finding(.itemOlder, number: 2, item: rows[0].id), Finding(.setChanged)])
        // A row of an item that was deleted.
        do { try store.open().delete(.account("one"), caller: StoreOnDisk.caller) }
        try store.edit { try $0.insert(rows[0]) }
        #expect(try found() == [Finding(.itemUnexplained, item: rows[0].id), Finding(.setChanged)])
    }

    @Test(arguments: ["state"])
    func aChangedRecordIsReported(name: String) throws {
        try changeRecord(name)
        #expect(try found().map(\.kind) == [.recordChanged, .anchor])
    }

    private func changeRecord(_ name: String) throws {
        var record = try #require(try store.open().store.read { (store) throws(Failure) in try store.record(name) })
        record[record.count - 1] ^= 1
        try store.edit { try $0.setRecord(name, record) }
    }

    @Test func anAnchorReplacedWhileTheDaemonRunsIsReported() throws {
        let keychain = try store.open()
        try store.setFile("anchor", Data([1, 2, 3]))
        #expect(try keychain.findings().map(\.kind) == [.anchor])
        try store.setFile("anchor", nil)
        #expect(try keychain.findings().map(\.kind) == [.anchor])
    }

    @Test(arguments: ["header", "header.code", "slot.automatic"])
    func firstRecordsChangedWhileTheDaemonRunsAreReported(name: String) throws {
        let keychain = try store.open()
        try changeRecord(name)
        #expect(try keychain.findings() == [Finding(.recordChanged, words: "header")])
    }

    @Test func aMissingIndexAndTheDuplicatesItAllowsAreReported() throws {
        try store.execute("DROP INDEX item_key")
        #expect(try found() == [Finding(.database, words: "item_key is missing")])
        var twin = try store.rows()[0]
        twin.id[0] ^= 1
        try store.edit { try $0.insert(twin) }
        #expect(try found().map(\.words).contains("rows 1 and 5 have the same primary key"))
    }

    @Test func anAddedTriggerIsReported() throws {
        try store.execute("CREATE TRIGGER spy AFTER INSERT ON audit BEGIN DELETE FROM item; END")
        #expect(try found() == [Finding(.database, words: "spy is not part of the schema")])
    }

    @Test func anIndexThatDoesNotMatchItsTableIsReported() throws {
        // Makes the root page of an index an empty leaf: 10 is the page type, and two bytes after it is the cell count.
        try store.settle()
        var root = 0
        try store.query("SELECT rootpage FROM sqlite_schema WHERE name = 'item_grp'") { root = Int($0) }
        var bytes = try #require(try store.files()["keychain.sqlite"])
        // Bytes 16 and 17 of a SQLite file are the page size.
        let page = (root - 1) * (Int(bytes[16]) << 8 | Int(bytes[17]))
        #expect(bytes[page] == 10)
        bytes[page + 3] = 0
        bytes[page + 4] = 0
        try store.restore(store.files().merging(["keychain.sqlite": bytes]) { $1 }.filter { !$0.key.contains("-") })
        let findings = try found()
        #expect(!findings.isEmpty && findings.allSatisfy { $0.kind == .database }, "\(findings)")
    }

    @Test func rowsOfTheQuarantineAreListed_KC17() throws {
        var row = try store.rows()[0]
        row.attributes[9] ^= 1
        try store.edit { try $0.replace(row) }
        let keychain = try store.open()
        _ = try? keychain.secret("one")
        try keychain.quarantineDamaged()
        let entry = try #require(try keychain.trail().0.last)
        #expect(entry.event == .quarantined)
        #expect(try keychain.findings() == [Finding(.quarantined, number: entry.sequence, item: row.id)])
    }

    @Test func findingsBeyondTheLimitAreCounted() throws {
        let keychain = try Keychain.inMemory()
        let rows = Limits.findings / 2 + 10
        try keychain.store.write { (store) throws(Failure) in
            for number in 0..<rows {
                let name = [UInt8](repeating: 0, count: 14) + [UInt8(number >> 8), UInt8(number & 255)]
                try store.insert(
                    StoredRow(
                        id: name, itemClass: .genericPassword, primaryKey: name, group: [], indexes: [], version: 1,
                        attributes: [], secret: nil))
            }
        }
        // Each row fails authentication, and no audit entry added it.
        let findings = try keychain.findings()
        #expect(findings.count == Limits.findings + 1)
        #expect(findings.last == Finding(.unlisted, number: 21))
    }

    @Test func aLargeStoreIsCheckedInSlicesDuringWrites() throws {
        let keychain = try Keychain.inMemory()
        for number in 0..<600 { try keychain.add("account \(number)") }
        var check = StoreCheck(keychain)
        var findings: [Finding] = []
        var reports = 0
        while true {
            let report = try check.next()
            findings += report.findings
            #expect(report.done <= report.total)
            if !report.more { break }
            try keychain.add("new \(reports)")
            try keychain.delete(.account("account \(reports)"), caller: StoreOnDisk.caller)
            _ = try keychain.update(.account("account \(599 - reports)"), secret: "new")
            reports += 1
        }
        #expect(reports > 5)
        #expect(findings == [])
    }
}
