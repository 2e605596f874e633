// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyPolicy
import LatchkeySeams
import TestSupport
import Testing

@testable import LatchkeyKeychain

/// A row that fails authentication is treated as absent, and is quarantined unchanged (behaviour KC-17).
@Suite struct QuarantineTests {
    private let store: StoreOnDisk

    init() throws { store = try .withThreeItems() }

    /// Ways to damage a row so that it fails authentication.
    enum Edit: CaseIterable, Sendable {
        case attributes, secret, secretTaken, key, identifier, version, foreign, unknownClass, otherClass

        func callAsFunction(_ row: inout StoredRow) {
            switch self {
            case .attributes: row.attributes[20] ^= 1
            case .secret: row.secret?[30] ^= 1
            case .secretTaken: row.secret = nil
            case .key: row.primaryKey[3] ^= 1
            case .identifier: row.id[3] ^= 1
            case .version: row.version += 1
            case .foreign: row.attributes = [1] + [UInt8](repeating: 7, count: 80)
            case .unknownClass: row.attributes = []
            case .otherClass: row.itemClass = .internetPassword
            }
        }
    }

    private func damage(_ edit: Edit) throws -> StoredRow {
        var row = try store.rows()[1]
        edit(&row)
        try store.edit { try $0.replace(row) }
        if edit == .unknownClass { try store.execute("UPDATE item SET class = 99 WHERE position = \(row.position)") }
        return row
    }

    @Test(arguments: Edit.allCases)
    func aDamagedItemCountsAsAbsentAndTheOthersStayReadable_KC17_abuse33(edit: Edit) throws {
        _ = try damage(edit)
        let keychain = try store.open()
        #expect(status { _ = try keychain.secret("two") } == .itemNotFound)
        #expect(try keychain.secret("one") == "secret of one")
        let all = try keychain.find(ItemQuery(itemClass: .genericPassword))
        #expect(all?.count == 2)
        #expect(status { _ = try keychain.update(.account("two"), secret: "new") } == .itemNotFound)
    }

    @Test(arguments: Edit.allCases)
    func aDamagedRowIsQuarantinedUnchanged_KC17(edit: Edit) throws {
        let damaged = try damage(edit)
        let keychain = try store.open()
        _ = try keychain.find(ItemQuery(itemClass: .genericPassword))
        // Only a query for the other class finds the row by its group.
        _ = try? keychain.find(ItemQuery(itemClass: .internetPassword))
        _ = try? keychain.secret("two")
        try keychain.quarantineDamaged()
        guard edit != .otherClass else { return }
        #expect(try keychain.quarantinedRows().map(\.row) == [damaged])
        #expect(try keychain.itemCount() == 2)
        #expect(try keychain.quarantineCount() == 1)
        let entry = try #require(try keychain.store.read { (store) throws(Failure) in try store.lastAuditEntry() })
        #expect(try keychain.quarantinedRows().map(\.entry) == [entry.sequence])
        // Also after a restart.
        #expect(try store.open().quarantineCount() == 1)
    }

    @Test(arguments: Edit.allCases)
    func anItemCanBeAddedInThePlaceOfADamagedOne_KC17(edit: Edit) throws {
        _ = try damage(edit)
        let keychain = try store.open()
        try keychain.add("two", "anew")
        #expect(try keychain.secret("two") == "anew")
        // The damaged row still exists, in one table or the other.
        #expect(try keychain.itemCount() + keychain.quarantineCount() == 4)
    }

    @Test func anItemCanBeAddedOnceASearchHasFoundTheDamagedSecret_KC17() throws {
        _ = try damage(.secret)
        let keychain = try store.open()
        #expect(status { _ = try keychain.secret("two") } == .itemNotFound)
        try keychain.quarantineDamaged()
        try keychain.add("two", "anew")
        #expect(try keychain.secret("two") == "anew")
        // Once more: the quarantine may hold any number of rows with the same primary key.
        var row = try #require(try store.rows().last)
        row.attributes[9] ^= 1
        try store.edit { try $0.replace(row) }
        let reopened = try store.open()
        try reopened.add("two", "once more")
        #expect(try reopened.secret("two") == "once more")
        #expect(try reopened.quarantineCount() == 2)
    }

    @Test func aRowIsQuarantinedAlthoughTheAuditLogWasCut() throws {
        _ = try damage(.attributes)
        do { try store.open().add("two", "anew") }
        try store.execute("DELETE FROM audit WHERE sequence > 3; UPDATE item SET secret = NULL")
        let keychain = try store.open()
        for account in ["one", "two", "three"] { try keychain.add(account, "again") }
        #expect(try keychain.quarantineCount() == 4)
    }

    @Test func theDamageHandlerIsCalledAfterTheCallThatFoundTheDamage() throws {
        _ = try damage(.attributes)
        let keychain = try store.open()
        keychain.whenDamaged { [weak keychain] in try? keychain?.quarantineDamaged() }
        #expect(status { _ = try keychain.secret("two") } == .itemNotFound)
        #expect(try keychain.quarantineCount() == 1)
    }

    @Test func aDamagedProtectedSecretIsDetectedOnlyWithItsProof_KC17() throws {
        let protected = try store.open()
        try protected.add("door", "key", rule(.whenUnlocked, .userPresence))
        var row = try #require(try store.rows().last)
        let last = (row.secret?.count ?? 1) - 1
        row.secret?[last] ^= 1
        try store.edit { try $0.replace(row) }
        let keychain = try store.open()
        #expect(try keychain.find(.account("door")) == nil, "a proof is required")
        try keychain.quarantineDamaged()
        #expect(try keychain.quarantineCount() == 0)
        let proof = Authorisation.ofPasscode
        #expect(status { _ = try keychain.find(.account("door"), proof: proof) } == .itemNotFound)
        try keychain.quarantineDamaged()
        #expect(try keychain.quarantineCount() == 1)
    }

    @Test func aPasscodeCanBeRemovedDespiteADamagedRow() throws {
        _ = try damage(.attributes)
        let keychain = try store.open()
        try keychain.setPasscode(SecretBytes("1234".utf8))
        try keychain.removePasscode(caller: StoreOnDisk.caller, proof: .ofPasscode)
        #expect(!keychain.isPasscodeSet)
    }

    @Test func aRowRepairedBeforeItsCheckIsNotQuarantined() throws {
        let whole = try store.rows()[1]
        _ = try damage(.attributes)
        let keychain = try store.open()
        #expect(status { _ = try keychain.secret("two") } == .itemNotFound)
        try store.edit { try $0.replace(whole) }
        try keychain.quarantineDamaged()
        #expect(try keychain.secret("two") == "secret of two")
        #expect(try keychain.quarantineCount() == 0)
    }

    @Test func aFailedMoveChangesNothingAndIsRetried() throws {
        _ = try damage(.attributes)
        let plan = FaultPlan()
        FaultyFiles.plan(plan, for: store.folder.path)
        defer { FaultyFiles.plan(nil, for: store.folder.path) }
        let keychain = try store.open()
        #expect(status { _ = try keychain.secret("two") } == .itemNotFound)
        plan.fail(at: 0, .diskFull, goesOn: true)
        #expect(status { try keychain.quarantineDamaged() } == .diskFull)
        plan.fail(at: .max, .diskFull, goesOn: true)
        #expect(try keychain.quarantineCount() == 0)
        #expect(status { _ = try keychain.secret("two") } == .itemNotFound)
        try keychain.quarantineDamaged()
        #expect(try keychain.quarantineCount() == 1)
    }
}
