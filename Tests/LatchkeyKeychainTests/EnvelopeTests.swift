// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import TestPromises
import TestSupport
import Testing

@testable import LatchkeyKeychain

@Suite struct EnvelopeTests {
    private let store: StoreOnDisk

    init() throws {
        store = try StoreOnDisk()
        let keychain = try store.open()
        try keychain.add("first", "one")
        try keychain.add("second", "two")
    }

    /// Changes the two rows in the file, reads both items and returns the failure.
    private func readAfter(_ change: (inout StoredRow, inout StoredRow) -> Void) throws -> Status? {
        let stored = try store.rows()
        try #require(stored.count == 2)
        var (first, second) = (stored[0], stored[1])
        change(&first, &second)
        let rows = [first, second]
        try store.edit { store in
            // Unique columns are swapped by way of unused values.
            for (offset, row) in rows.enumerated() {
                var between = row
                (between.id, between.primaryKey) = ([UInt8(offset)], [UInt8(offset)])
                try store.replace(between)
            }
            for row in rows { try store.replace(row) }
        }
        let keychain = try store.open()
        return status {
            try keychain.store.read { (reader) throws(Failure) in
                try reader.forEachRow(.all) { (row) throws(Failure) in
                    _ = try keychain.found(row, keychain.envelopes.openAttributes(row), [.attributes, .data])
                    return true
                }
            }
        }
    }

    @Test func unchangedRowsOpen() throws {
        #expect(try readAfter { _, _ in } == nil)
    }

    @Test func everyChangedByteOfAttributesFailsAuthentication_abuse33() throws {
        let length = try store.rows()[0].attributes.count
        for offset in stride(from: 0, to: length, by: 7) {
            #expect(try readAfter { first, _ in first.attributes[offset] ^= 1 } == .storeUnreadable, "byte \(offset)")
            #expect(try readAfter { first, _ in first.attributes[offset] ^= 1 } == nil, "restored")
        }
    }

    @Test func everyChangedByteOfASecretFailsAuthentication_abuse33() throws {
        let length = try store.rows()[0].secret?.count ?? 0
        for offset in stride(from: 0, to: length, by: 7) {
            #expect(try readAfter { first, _ in first.secret?[offset] ^= 1 } == .storeUnreadable, "byte \(offset)")
            #expect(try readAfter { first, _ in first.secret?[offset] ^= 1 } == nil, "put back")
        }
    }

    @Test func attributesSwappedBetweenRowsFailAuthentication_abuse33() throws {
        #expect(try readAfter { swap(&$0.attributes, &$1.attributes) } == .storeUnreadable)
    }

    @Test func secretsSwappedBetweenRowsFailAuthentication_abuse33() throws {
        #expect(try readAfter { swap(&$0.secret, &$1.secret) } == .storeUnreadable)
    }

    @Test func bothEnvelopesSwappedBetweenRowsFailAuthentication_abuse33() throws {
        let status = try readAfter { first, second in
            swap(&first.attributes, &second.attributes)
            swap(&first.secret, &second.secret)
        }
        #expect(status == .storeUnreadable)
    }

    @Test func primaryKeysSwappedBetweenRowsFailAuthentication_abuse33() throws {
        #expect(try readAfter { swap(&$0.primaryKey, &$1.primaryKey) } == .storeUnreadable)
    }

    @Test func itemIdsSwappedBetweenRowsFailAuthentication_abuse33() throws {
        #expect(try readAfter { swap(&$0.id, &$1.id) } == .storeUnreadable)
    }

    @Test func anotherVersionOfARowFailsAuthentication_abuse33() throws {
        #expect(try readAfter { first, _ in first.version += 1 } == .storeUnreadable)
    }

    @Test(arguments: [0, 1, 12, 40, 60])
    func aShortenedSecretFailsAuthentication_abuse33(length: Int) throws {
        let status = try readAfter { first, _ in first.secret = Array((first.secret ?? []).prefix(length)) }
        #expect(status == .storeUnreadable)
    }

    @Test func aRemovedSecretIsNotReportedAsNoSecret_abuse33() throws {
        #expect(try readAfter { first, _ in first.secret = nil } == .storeUnreadable)
    }

    @Test func anItemWithoutASecretCannotBeGivenOne_abuse33() throws {
        do {
            let keychain = try store.open()
            try keychain.add("third", nil)
        }
        let secret = try store.rows()[0].secret
        var row = try store.rows()[2]
        #expect(row.secret == nil)
        row.secret = secret
        try store.edit { try $0.replace(row) }
        let keychain = try store.open()
        #expect(status { _ = try keychain.secret("third") } == .itemNotFound, "as if it were absent (KC-17)")
    }

    @Test(.promise("abuse.33")) func theSecretIsBoundToTheAccessControl_abuse33() throws {
        let keychain = try store.open()
        var row = try store.rows()[0]
        var item = try keychain.envelopes.openAttributes(row)
        // Without the class key, the metadata key is not enough to weaken an access control.
        item.accessControl = rule(.whenUnlocked, .userPresence)
        row.attributes = try keychain.envelopes.sealAttributes(item, row)
        #expect(throws: Failure(.storeUnreadable)) { try keychain.envelopes.openSecret(row, item) }
    }

    @Test func theSecretIsBoundToTheAccessGroup_abuse33() throws {
        let keychain = try store.open()
        let row = try store.rows()[0]
        var item = try keychain.envelopes.openAttributes(row)
        item.attributes[.accessGroup] = .text("shared")
        #expect(throws: Failure(.storeUnreadable)) { try keychain.envelopes.openSecret(row, item) }
    }

    @Test func aRowOfAnotherStoreFailsAuthentication() throws {
        let other = try StoreOnDisk()
        try other.open().add("first", "one")
        let foreign = try other.rows()[0]
        try store.edit { try $0.replace(foreign) }
        let keychain = try store.open()
        #expect(throws: Failure(.storeUnreadable)) { try keychain.envelopes.openAttributes(foreign) }
    }

    @Test func eachVersionOfARowHasItsOwnKeyAndNonces() throws {
        let before = try store.rows()[0]
        #expect(try store.open().update(.account("first"), secret: "one") == .finished)
        let after = try store.rows()[0]
        #expect(before.attributes != after.attributes)
        #expect(before.secret?.prefix(61) != after.secret?.prefix(61))
        #expect(before.secret?.count == after.secret?.count)
    }
}
