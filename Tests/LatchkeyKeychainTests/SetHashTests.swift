// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyModel
import LatchkeySeams
import TestPromises
import TestSupport
import Testing

@testable import LatchkeyKeychain

/// The set hash in the newest audit entry covers the stored rows: the background check finds a row that was restored,
/// removed or replaced by an older version in the file.
@Suite struct SetHashTests {
    private let store: StoreOnDisk

    init() throws {
        store = try StoreOnDisk()
        let keychain = try store.open()
        for account in ["one", "two", "three"] { try keychain.add(account) }
    }

    /// Scans all rows; calls `between` after each slice.
    private func check(_ keychain: Keychain, between: () throws -> Void = {}) throws -> Bool {
        keychain.beginSetCheck()
        while true {
            if let isSame = try keychain.continueSetCheck() { return isSame }
            try between()
        }
    }

    /// Two checks share the scan; the one that does not take its result must not report rows as unchanged.
    @Test func aCheckWhoseResultAnotherOneTookComparesTheRowsAgain() throws {
        try store.execute("DELETE FROM item WHERE position = 2")
        let keychain = try store.open()
        #expect(try !check(keychain))
        // The other check asks for its next slice now.
        var result: Bool?
        for _ in 0..<10 where result == nil { result = try keychain.continueSetCheck() }
        #expect(result == false)
    }

    @Test func unchangedRowsMatchTheSetHash() throws {
        let keychain = try store.open()
        #expect(try check(keychain))
        _ = try keychain.update(.account("one"), secret: "new")
        try keychain.delete(.account("two"), caller: StoreOnDisk.caller)
        _ = try keychain.update(.account("three"), [.account: .text("drei")])
        #expect(try check(keychain))
        #expect(try check(try store.open()))
    }

    @Test(.promise("rows.scan")) func aRestoredOldVersionIsDetected() throws {
        let old = try store.rows()[0]
        do { _ = try store.open().update(.account("one"), secret: "new") }
        try store.edit { try $0.replace(old) }
        let keychain = try store.open()
        #expect(try keychain.secret("one") == "secret", "an old row may be returned until the scan ends")
        #expect(try !check(keychain))
    }

    @Test(.promise("rows.scan")) func aRestoredDeletedRowIsDetected() throws {
        let old = try store.rows()[0]
        do { try store.open().delete(.account("one"), caller: StoreOnDisk.caller) }
        try store.edit { try $0.insert(old) }
        #expect(try !check(try store.open()))
    }

    @Test(.promise("rows.scan")) func twoCopiesOfADeletedRowDoNotCancelOut() throws {
        let old = try store.rows()[0]
        do { try store.open().delete(.account("one"), caller: StoreOnDisk.caller) }
        try store.execute("DROP INDEX item_key; DROP INDEX item_id")
        for _ in 0..<2 { try store.edit { try $0.insert(old) } }
        #expect(try !check(try store.open()))
    }

    @Test(.promise("rows.scan")) func aRemovedRowIsDetected() throws {
        try store.execute("DELETE FROM item WHERE position = 2")
        #expect(try !check(try store.open()))
    }

    @Test(.promise("rows.scan")) func theSameVersionOfAnotherHistoryIsDetected() throws {
        let files = try store.files()
        do { _ = try store.open().update(.account("one"), secret: "a") }
        let one = try store.rows()[0]
        try store.restore(files)
        do { _ = try store.open().update(.account("one"), secret: "b") }
        #expect(try store.rows()[0].version == one.version)
        try store.edit { try $0.replace(one) }
        #expect(try !check(try store.open()))
    }

    @Test(.promise("rows.scan")) func quarantiningADamagedRowHidesNothing() throws {
        var row = try store.rows()[1]
        row.secret?[40] ^= 1
        try store.edit { try $0.replace(row) }
        let keychain = try store.open()
        #expect(status { _ = try keychain.secret("two") } == .itemNotFound)
        try keychain.quarantineDamaged()
        #expect(try keychain.quarantineCount() == 1)
        #expect(try check(keychain), "the quarantined row counts as stored")
        try store.execute("DELETE FROM quarantine")
        #expect(try !check(try store.open()))
    }

    @Test func aChangedNewestEntryMakesTheSetHashUnknown() throws {
        try store.execute("UPDATE audit SET sealed = zeroblob(200) WHERE sequence = (SELECT max(sequence) FROM audit)")
        let keychain = try store.open()
        #expect(try !check(keychain))
        try keychain.add("four")
        #expect(try !check(keychain), "a write does not hide it")
        try keychain.acceptStore(caller: StoreOnDisk.caller, proof: .ofPasscode)
        #expect(try check(keychain))
    }

    @Test func acceptingAdoptsTheCurrentRows() throws {
        try store.execute("DELETE FROM item WHERE position = 2")
        let keychain = try store.open()
        #expect(try !check(keychain))
        try keychain.acceptStore(caller: StoreOnDisk.caller, proof: .ofPasscode)
        #expect(try check(keychain))
        #expect(try check(try store.open()))
    }

    @Test func theSumIsNotReadableInTheFile() throws {
        let keychain = try store.open()
        let sum = try keychain.store.read { (store) throws(Failure) in try keychain.audit.end(in: store).numbers.sum }
        let bytes = Data(try #require(sum).bytes.prefix(32))
        #expect(try !store.files().values.contains { $0.range(of: bytes) != nil })
    }

    @Test func aRolledBackTransactionLeavesTheSetHashUnchanged() throws {
        let keychain = try store.open()
        #expect(status { try keychain.add("one") } == .duplicateItem)
        #expect(try check(keychain))
    }

    /// Random writes between the slices of a scan, to rows scanned already and rows not yet scanned.
    @Test(.promise("rows.scan"), arguments: 0..<6) func writesBetweenTheSlicesAreCounted(seed: UInt64) throws {
        let keychain = try Keychain.inMemory()
        for number in 0..<1600 { try keychain.add("account \(number)") }
        var numbers = SeededGenerator(seed: seed)
        var next = 1600
        let isSame = try check(keychain) {
            for _ in 0..<12 {
                let account = "account \(Int.random(in: 0..<1600, using: &numbers))"
                switch Int.random(in: 0..<4, using: &numbers) {
                case 0:
                    try keychain.add("account \(next)")
                    next += 1
                case 1: _ = try? keychain.update(.account(account), secret: "new")
                case 2: try? keychain.delete(.account(account), caller: StoreOnDisk.caller)
                default: _ = try? keychain.update(.account(account), [.account: .text("renamed \(next)")])
                }
            }
        }
        #expect(isSame)
    }

    /// With `LATCHKEY_TESTS=all`, checks a million rows and prints the duration.
    @Test(arguments: SetHashTests.sizes) func oneOldRowAmongManyIsDetected(rows: Int) throws {
        let keychain = try Keychain.inMemory()
        try keychain.fill(rows)
        #expect(try check(keychain))
        let old = try #require(
            try keychain.store.read { (store) throws(Failure) -> StoredRow? in
                var row: StoredRow?
                try store.forEachRow(.all, behind: Int64(rows / 2)) { (found) throws(Failure) in
                    row = found
                    return false
                }
                return row
            })
        var changed = old
        changed.version += 1
        try keychain.store.write { (store) throws(Failure) in try store.replaceEnvelopes(of: changed) }
        let clock = ContinuousClock()
        var isSame = true
        let time = try clock.measure { isSame = try check(keychain) }
        #expect(!isSame)
        print("set hash: \(rows) rows checked in \(time)")
    }

    static let sizes =
        ProcessInfo.processInfo.environment["LATCHKEY_TESTS"] == "all" ? [1000, 1_000_000] : [1000]
}

extension Keychain {
    /// Adds many small rows in few transactions.
    fileprivate func fill(_ rows: Int) throws {
        for start in stride(from: 0, to: rows, by: 10_000) {
            try write { (store) throws(Failure) in
                for number in start..<min(start + 10_000, rows) {
                    var name = [UInt8](repeating: 0, count: 16)
                    for byte in 0..<4 { name[byte] = UInt8(truncatingIfNeeded: number >> (8 * byte)) }
                    let row = StoredRow(
                        id: name, itemClass: .genericPassword, primaryKey: name, group: [], indexes: [], version: 1,
                        attributes: [UInt8](repeating: 7, count: 120), secret: nil)
                    try insertRow(row, store)
                }
                try audit.append(.added, caller: nil, to: store)
            }
        }
    }
}
