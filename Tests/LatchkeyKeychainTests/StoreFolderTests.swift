// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyKeychain
import LatchkeyModel
import SQLiteDriver
import SystemDriver
import TestPromises
import TestSupport
import Testing

/// Wherever the creation of a store is interrupted, the next start completes it or starts again, and a completed
/// store is never created again.
@Suite struct StoreFolderTests {
    private let store: StoreOnDisk

    init() throws { store = try StoreOnDisk() }

    /// Expects that a new store works and is not taken for a restored one.
    private func expectUsable(sourceLocation: SourceLocation = #_sourceLocation) throws {
        do {
            let keychain = try store.open()
            #expect(!keychain.isRolledBack, sourceLocation: sourceLocation)
            try keychain.add("account")
        }
        #expect(try store.open().secret("account") == "secret", sourceLocation: sourceLocation)
        let leftovers = try store.files().keys.filter { $0.contains(".new") }
        #expect(leftovers.isEmpty, sourceLocation: sourceLocation)
    }

    private func permissions(_ path: String) throws -> Int {
        try #require(FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
    }

    @Test(.promise("attacker.other-user")) func aFolderThatIsMissingIsMadeForItsOwnerAlone() throws {
        try expectUsable()
        #expect(try permissions(store.folder.path) == 0o700)
        #expect(try permissions(store.folder.rootKey) == 0o600)
        #expect(try permissions(store.folder.anchor) == 0o600)
    }

    @Test func anEmptyFolderIsFilled() throws {
        try FileManager.default.createDirectory(
            atPath: store.folder.path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        try expectUsable()
    }

    @Test func preparingTwiceChangesNothing() throws {
        try store.prepare()
        let files = try store.files()
        try store.prepare()
        #expect(try store.files() == files)
    }

    @Test func aCrashBeforeTheRootKeyIsMadeStartsAgain() throws {
        #expect(throws: Failure(.internalFailure)) {
            try store.folder.prepare { () throws(Failure) in
                throw Failure(.internalFailure)
            } build: { (_, _) throws(Failure) in
                throw Failure(.internalFailure)
            }
        }
        try expectUsable()
    }

    @Test func aCrashWhileTheDatabaseIsBuiltStartsAgain() throws {
        #expect(throws: Failure(.diskFull)) {
            try store.folder.prepare { () throws(Failure) in
                SecretBytes([UInt8](repeating: 1, count: 32))
            } build: { (path, _) throws(Failure) in
                _ = try SQLiteItemStore.create(at: path)
                throw Failure(.diskFull)
            }
        }
        #expect(try store.files()["root.key"] == nil)
        try store.setFile("keychain.sqlite.new-journal", Data("half of a journal".utf8))
        try expectUsable()
    }

    @Test func aCrashAfterTheDatabaseIsBuiltStartsAgain() throws {
        try store.prepare()
        try moveDatabaseBack()
        try store.setFile("root.key", nil)
        try expectUsable()
    }

    @Test func aCrashWhileTheRootKeyIsWrittenStartsAgain() throws {
        try store.prepare()
        try moveDatabaseBack()
        try store.setFile("root.key.new", Data("latchkey ro".utf8))
        try store.setFile("root.key", nil)
        try expectUsable()
    }

    @Test func aCrashAfterTheRootKeyIsWrittenIsFinishedWithTheSameKeyAndDatabase() throws {
        try store.prepare()
        let (key, database) = (try store.files()["root.key"], try store.files()["keychain.sqlite"])
        try moveDatabaseBack()
        try store.prepare()
        #expect(try store.files()["root.key"] == key)
        #expect(try store.files()["keychain.sqlite"] == database)
        try expectUsable()
    }

    @Test func aNewStoreHasItsAnchorAndCountersBeforeItsRootKey() throws {
        try store.prepare()
        #expect(try store.files()["anchor"] != nil)
        #expect(try store.files()["counters"]?.count == 3 * 4096)
        #expect(try permissions(store.folder.counters) == 0o600)
        try expectUsable()
    }

    /// A copy of `keychain.sqlite` is a complete backup while no daemon runs.
    @Test func aStoreThatWasClosedIsOneDatabaseFile() throws {
        try store.open().add("account")
        #expect(Set(try store.files().keys) == ["keychain.sqlite", "root.key", "anchor", "counters"])
    }

    // MARK: - Unusable folders

    @Test(.promise("attacker.other-user")) func aFolderThatOthersMayReadIsRefused() throws {
        try store.prepare()
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: store.folder.path)
        #expect(throws: Failure(.storeOfAnotherUser)) { try store.prepare() }
    }

    @Test func aFileInPlaceOfTheFolderIsRefused() throws {
        try Data("not a folder".utf8).write(to: URL(filePath: store.folder.path))
        #expect(throws: Failure(.storeUnreadable)) { try store.prepare() }
    }

    @Test func aLinkInPlaceOfTheFolderIsRefused() throws {
        try FileManager.default.createSymbolicLink(atPath: store.folder.path, withDestinationPath: "/")
        #expect(throws: Failure(.storeUnreadable)) { try store.prepare() }
    }

    /// Home folders often are below a link.
    @Test func aFolderBelowALinkWorks() throws {
        let temporary = try TemporaryFolder()
        try FileManager.default.createDirectory(
            atPath: temporary.path + "/disk", withIntermediateDirectories: false, attributes: nil)
        try FileManager.default.createSymbolicLink(
            atPath: temporary.path + "/home", withDestinationPath: temporary.path + "/disk")
        let folder = StoreFolder(temporary.path + "/home/store")
        let random = store.random
        try folder.prepare { () throws(Failure) in
            try random.bytes(32)
        } build: { (path, key) throws(Failure) in
            try StoreOnDisk.identity.create(in: SQLiteItemStore.create(at: path), rootKey: key, random: random)
        }
        let keychain = try StoreOnDisk.identity.open(
            SQLiteItemStore.open(folder.database), vault: FileKeyVault(folder), clock: store.clock, random: random)
        try keychain.add("account")
        #expect(try keychain.secret("account") == "secret")
    }

    private func moveDatabaseBack() throws {
        try FileManager.default.moveItem(atPath: store.folder.database, toPath: store.folder.database + ".new")
    }
}
