// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyModel
import LatchkeyPolicy
import LatchkeySeams
import SQLiteDriver
import SystemDriver
import TestSupport
import Testing

@testable import LatchkeyKeychain

/// Operations that need no secret do not read the secret column.
@Suite struct ReadingWithoutSecretsTests {
    private let store: RecordingStore
    private let keychain: Keychain

    init() throws {
        let random = SystemRandomSource()
        store = RecordingStore(try SQLiteItemStore.inMemory())
        let vault = MemoryKeyVault(rootKey: try random.bytes(32))
        try StoreOnDisk.identity.create(in: store, vault: vault, random: random)
        keychain = try StoreOnDisk.identity.open(store, vault: vault, clock: BootClock(boot: "one"), random: random)
        for number in 1...3 { try keychain.add("item \(number)", "secret", rule(.whenUnlocked, .userPresence)) }
        _ = store.takeSecretsRead()
    }

    private let everything = ItemQuery(itemClass: .genericPassword)
    private let proven = Authorisation.testOnly([.passcode], by: StoreOnDisk.caller)

    private func page(_ proof: Authorisation, returns: Returns = .data) throws -> SearchResult {
        var cursor = SearchCursor()
        return try keychain.search(
            Request.CopyItems(everything, limit: .all, returns: returns),
            caller: StoreOnDisk.caller, proof: proof, from: &cursor, used: { _ in }, emit: { _ in })
    }

    @Test func theFirstPassOfACopyAllReadsNoSecret() throws {
        guard case .needs = try page(.none) else {
            Issue.record("no proof was required")
            return
        }
        #expect(store.takeSecretsRead() == 0)
        #expect(try page(proven) == .finished)
        #expect(store.takeSecretsRead() == 3)
    }

    @Test func aSearchThatReturnsNoDataReadsNoSecret() throws {
        #expect(try page(proven, returns: .attributes) == .finished)
        #expect(store.takeSecretsRead() == 0)
    }

    @Test func aListingReadsNoSecret() throws {
        var count = 0
        try keychain.list(everything, caller: StoreOnDisk.caller) { _ in count += 1 }
        #expect(count == 3)
        #expect(store.takeSecretsRead() == 0)
    }

    /// The name of an item whose secret is damaged is free.
    @Test func aDuplicateReadsTheSecretInItsWayToCompareItsHash_KC17() throws {
        #expect(status { try keychain.add("item 1") } == .duplicateItem)
        #expect(store.takeSecretsRead() == 1)
    }

    @Test func deletionsReadNoSecret() throws {
        try keychain.delete(everything, caller: StoreOnDisk.caller)
        #expect(try keychain.itemCount() == 0)
        #expect(store.takeSecretsRead() == 0)
    }

    @Test func anUpdateThatNeedsAProofReadsNoSecret() throws {
        guard case .needs = try keychain.update(everything, [.comment: .text("new")]) else {
            Issue.record("no proof was required")
            return
        }
        #expect(store.takeSecretsRead() == 0)
        #expect(try keychain.update(everything, [.comment: .text("new")], proof: proven) == .finished)
        #expect(store.takeSecretsRead() == 3)
        #expect(try keychain.secret("item 2", proof: proven) == "secret")
    }

    @Test func aPageOfTheFirstPassIsAsLongAsItsAttributesAllow() throws {
        let keychain = try Keychain.inMemory()
        let secret = String(repeating: "s", count: Limits.streamedFrameBytes / 2)
        for number in 1...8 { try keychain.add("large \(number)", secret, rule(.whenUnlocked, .userPresence)) }
        var cursor = SearchCursor()
        let request = Request.CopyItems(everything, limit: .all)
        // With their secrets, two rows would fill a page.
        let result = try keychain.search(
            request, caller: StoreOnDisk.caller, proof: .none, from: &cursor, used: { _ in }, emit: { _ in })
        guard case .needs = result else {
            Issue.record("\(result)")
            return
        }
    }

    @Test func aRowThatWasReadWithoutItsSecretIsNeitherOpenedNorWritten() throws {
        try store.write { (store) throws(Failure) in
            var rows: [StoredRow] = []
            try store.forEachRow(.all, columns: .withoutSecret) { (row) throws(Failure) in
                rows.append(row)
                return true
            }
            #expect(rows.count == 3 && rows.allSatisfy { $0.hasSecret && $0.secret == nil })
            for row in rows {
                let item = try keychain.envelopes.openAttributes(row)
                #expect(status { _ = try keychain.envelopes.openSecret(row, item) } == .internalFailure)
                #expect(status { try store.replace(row) } == .internalFailure)
                #expect(status { try store.replaceEnvelopes(of: row) } == .internalFailure)
                #expect(status { try store.insert(row) } == .internalFailure)
            }
        }
    }

    /// The pages of a secret form a chain, which is broken in this file: reading the secret reports a damaged store.
    @Test func thePagesOfASecretAreNotReadForItsAttributes() throws {
        let onDisk = try StoreOnDisk()
        try onDisk.open().add("large", String(repeating: "s", count: 200_000))
        try onDisk.settle()
        var bytes = try #require(try onDisk.files()["keychain.sqlite"])
        let page = 2048
        // A page in the middle of the secret, which takes the last hundred pages of the file.
        let middle = bytes.startIndex + (bytes.count / page - 50) * page
        bytes.replaceSubrange(middle..<middle + 4, with: [0x7f, 0xff, 0xff, 0xff])
        try onDisk.setFile("keychain.sqlite", bytes)
        let keychain = try onDisk.open()
        #expect(try keychain.find(.account("large"), returns: .attributes)?.count == 1)
        #expect(status { _ = try keychain.secret("large") } == .storeUnreadable)
    }
}
