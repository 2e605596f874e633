// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyModel
import LatchkeySeams
import SimulatedDriver
import TestPromises
import TestSupport
import Testing

@testable import LatchkeyKeychain
@testable import SQLiteDriver

/// After a row is encrypted again under additional keys, no file of the store contains its earlier ciphertext
/// (decision 042).
@Suite struct OldCopiesTests {
    private let clock = VirtualClock()
    private let events = CollectedEvents()
    private let store: StoreOnDisk

    init() throws { store = try StoreOnDisk(clock: clock) }

    private func start(_ keychain: Keychain) throws -> StartedService {
        try StartedService(keychain, clock: clock, log: events)
    }

    /// Adds items before a passcode is set. Returns their row keys as the root key alone opens them.
    private func addEarly(_ count: Int, to keychain: Keychain) throws -> [Data] {
        for number in 0..<count {
            let secret = String(repeating: "secret ", count: 1 + number % 50)
            try keychain.add("item \(number)", secret, rule(.whenUnlocked, .devicePasscode))
        }
        return try wrappedKeys()
    }

    /// The wrapped row keys of all rows that are sealed without the passcode's key pair.
    private func wrappedKeys() throws -> [Data] {
        let keys = try store.rows().compactMap(\.secret).filter { $0.first == RowKeyForm.plain.rawValue }
        return keys.map { Data($0[1..<RowKeyForm.plain.headBytes]) }
    }

    /// A keychain that a daemon has opened, checked, served for a minute and left.
    private func serveForAMinute() throws -> Keychain {
        let keychain = try store.open()
        let service = try start(keychain)
        service.beginStoreCheck()
        clock.advance(seconds: 60)
        service.stop()
        return keychain
    }

    /// How many of the byte strings the files of the store contain.
    private func count(_ wanted: [Data]) throws -> Int {
        let files = try store.files()
        return wanted.count { bytes in files.values.contains { $0.range(of: bytes) != nil } }
    }

    private func areSealed() throws -> Bool {
        try store.rows().allSatisfy { $0.secret?.first == RowKeyForm.passcode.rawValue }
    }

    @Test(.promise("sealing.copies")) func noFileKeepsWhatItemsWereBeforeThePasscodeWasSet() throws {
        let keychain = try store.open()
        let old = try addEarly(70, to: keychain)
        #expect(try count(old) == 70)
        #expect(try start(keychain).setPasscode("right") == nil)
        #expect(try areSealed())
        #expect(try count(old) == 0)
        #expect(!keychain.hasOldCopies && events.entries.isEmpty)
        #expect(try keychain.findings() == [])
        #expect(try store.open().hasOldCopies == false)
    }

    @Test(.promise("sealing.copies")) func aReaderOfTheDatabaseDelaysTheErasureAndIsLoggedOnce() throws {
        let keychain = try store.open()
        let old = try addEarly(3, to: keychain)
        let service = try start(keychain)
        do {
            let reader = try Connection(store.folder.database, .read)
            try reader.execute("BEGIN; SELECT count(*) FROM item")
            #expect(service.setPasscode("right") == nil)
            #expect(try areSealed())
            #expect(try count(old) == 3)
            #expect(events.entries.map(\.event) == [.oldCopiesNotErased])
            clock.advance(seconds: 60)
            #expect(events.entries.count == 1 && keychain.hasOldCopies)
            try keychain.add("another")
        }
        clock.advance(seconds: 60)
        #expect(try count(old) == 0)
        #expect(!keychain.hasOldCopies && events.entries.count == 1)
        #expect(try keychain.secret("another") == "secret")
    }

    /// The files may be needed as they are to restore what is missing.
    @Test func filesThatLackRowsAreLeftAsTheyAre() throws {
        do {
            let keychain = try store.open()
            try keychain.add("gone")
            _ = try addEarly(2, to: keychain)
            try keychain.setPasscode(SecretBytes("right".utf8))
            try keychain.sealForPasscode()
        }
        try SQLiteItemStore.open(store.folder.database).write { (store) throws(Failure) in try store.delete(position: 1)
        }
        #expect(try serveForAMinute().hasOldCopies)
        #expect(events.entries.map(\.event) == [.rowsChanged])
    }

    @Test func aStoreWithoutItsAnchorIsLeftAsItIs() throws {
        do {
            let keychain = try store.open()
            _ = try addEarly(1, to: keychain)
            try keychain.setPasscode(SecretBytes("right".utf8))
            try keychain.sealForPasscode()
        }
        try store.restore(try store.files().filter { $0.key != "anchor" })
        #expect(try serveForAMinute().hasOldCopies)
    }

    @Test func aReadInProgressDelaysTheErasure() throws {
        let items = try store.open().store
        let isErased = try items.read { (_) throws(Failure) in try items.eraseOldCopies(waits: false) }
        #expect(!isErased)
        #expect(try items.eraseOldCopies(waits: false))
    }

    @Test(.promise("sealing.copies")) func aDaemonThatWasKilledErasesAtTheNextStart() throws {
        let killed = try StoreOnDisk(clock: clock)
        let keychain = try killed.open()
        try keychain.add("item", "secret", rule(.whenUnlocked, .devicePasscode))
        let secret = try #require(try killed.rows()[0].secret)
        let old = [Data(secret[1..<RowKeyForm.plain.headBytes])]
        try keychain.setPasscode(SecretBytes("right".utf8))
        try keychain.sealForPasscode()
        try store.prepare()
        // The files as they are while the daemon runs: its exit would merge the log.
        let files = try withExtendedLifetime(keychain) { try killed.files() }
        try store.restore(files.filter { !$0.key.hasSuffix("-shm") })
        let next = try store.open()
        #expect(try next.hasOldCopies && count(old) == 1)
        let service = try start(next)
        service.beginStoreCheck()
        #expect(try count(old) == 0)
        #expect(!next.hasOldCopies)
    }

    /// What an update adds to the access control of an item.
    @Test(
        .promise("sealing.copies"),
        arguments: [
            rule(.whenUnlocked, .devicePasscode), rule(.whenPasscodeSetThisDeviceOnly),
            rule(.whenUnlocked, .applicationPassword),
        ])
    func noFileKeepsWhatAnItemWasBeforeItsAccessControl(stricter: AccessControl) throws {
        let keychain = try store.open()
        try keychain.setPasscode(SecretBytes("right".utf8))
        #expect(try keychain.unlock(SecretBytes("right".utf8)))
        let service = try start(keychain)
        try keychain.add("item")
        let old = try wrappedKeys()
        let request = Request.UpdateItems(.account("item"), accessControl: stricter)
        let isAsked = stricter.constraints.contains(.applicationPassword)
        let password = isAsked ? try keychain.appPassword(SecretBytes("app".utf8), toAdd: stricter) : .none
        #expect(try keychain.update(request, caller: StoreOnDisk.caller, proof: .none, password: password) == .finished)
        #expect(try keychain.hasOldCopies && count(old) == 1)
        clock.advance(seconds: 60)
        #expect(try count(old) == 0)
        #expect(!keychain.hasOldCopies && events.entries.isEmpty)
        withExtendedLifetime(service) {}
    }

    @Test(.promise("sealing.copies")) func anExitErasesWhatAnUpdateLeft() throws {
        let keychain = try store.open()
        try keychain.setPasscode(SecretBytes("right".utf8))
        let service = try start(keychain)
        try keychain.add("item")
        let old = try wrappedKeys()
        _ = try keychain.update(.account("item"), rule: rule(.whenUnlocked, .devicePasscode))
        service.stop()
        #expect(try count(old) == 0)
    }

    @Test func anUpdateThatNeedsNoMoreKeysLeavesTheLogAsItIs() throws {
        let keychain = try store.open()
        try keychain.setPasscode(SecretBytes("right".utf8))
        try keychain.add("item")
        _ = try keychain.update(.account("item"), secret: "new", rule: rule(.whenUnlocked, .userPresence))
        #expect(!keychain.hasOldCopies)
    }
}
