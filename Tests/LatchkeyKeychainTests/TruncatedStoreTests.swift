// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyModel
import TestPromises
import TestSupport
import Testing

@testable import LatchkeyKeychain

/// A truncated database is an error at every length, and never a store with missing items.
@Suite struct TruncatedStoreTests {
    private static let accounts = (0..<40).map { "account \($0)" }

    /// Opens the store and searches for every item in every way.
    private func use(_ store: StoreOnDisk) -> Status? {
        status {
            let keychain = try store.open()
            for account in Self.accounts {
                _ = try keychain.secret(account)
                _ = try keychain.find(.password(account))
            }
            let all = try keychain.find(ItemQuery(itemClass: .genericPassword))
            #expect(all?.count == Self.accounts.count, "items are missing without an error")
        }
    }

    @Test(.promise("abuse.39")) func aTruncatedDatabaseIsRefusedAndLeftAsItIs_abuse39() throws {
        let store = try StoreOnDisk()
        do {
            let keychain = try store.open()
            for account in Self.accounts { try keychain.add(account) }
        }
        #expect(use(store) == nil)
        let files = try store.files()
        let whole = try #require(files["keychain.sqlite"])
        for length in stride(from: 0, to: whole.count, by: 1536) {
            try store.setFile("keychain.sqlite", whole.prefix(length))
            #expect(use(store) == .storeUnreadable, "cut to \(length) of \(whole.count) bytes")
            #expect(try store.files()["keychain.sqlite"] == whole.prefix(length), "cut to \(length) bytes")
        }
        try store.restore(files)
        #expect(use(store) == nil)
    }

    /// A kill leaves database and log as they are at that moment.
    @Test(.promise("abuse.35")) func aCopyTakenWhileTheStoreIsOpenHoldsWhatWasAcknowledged_abuse35() throws {
        let store = try StoreOnDisk()
        let keychain = try store.open()
        for (count, account) in Self.accounts.enumerated() {
            try keychain.add(account)
            guard count.isMultiple(of: 8) else { continue }
            let copy = try StoreOnDisk()
            try copy.prepare()
            try copy.restore(store.files())
            let found = try copy.open().find(ItemQuery(itemClass: .genericPassword))
            #expect(found?.count == count + 1)
        }
        #expect(try keychain.itemCount() == Int64(Self.accounts.count))
    }
}
