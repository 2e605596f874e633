// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyModel
import LatchkeySeams
import SimulatedDriver
import SystemDriver
import TestPromises
import TestSupport
import Testing

@testable import LatchkeyKeychain

/// A user's store uses no more of the disk than its quota, and leaves the reserve of the file system to the others.
@Suite struct StoreQuotaTests {
    private let store: StoreOnDisk

    init() throws { store = try StoreOnDisk() }

    private func open(_ quota: StoreQuota) throws -> Keychain {
        var identity = StoreOnDisk.identity
        identity.quota = quota
        return try store.open(identity)
    }

    private static func quota(_ bytes: Int64) -> StoreQuota {
        StoreQuota(bytes: bytes, auditBytes: 40_000, freeBytes: 0)
    }

    private static let small = quota(300_000)

    /// Adds items until one is refused; returns how many were added.
    private func fill(_ keychain: Keychain, from first: Int = 0, bytes: Int = 3000) throws -> Int {
        for number in first..<first + 1000 {
            let added = status { try keychain.add("item \(number)", String(repeating: "x", count: bytes)) }
            guard added != nil else { continue }
            #expect(added == .limitExceeded)
            return number - first
        }
        Issue.record("no item is refused")
        return 0
    }

    private var diskBytes: Int {
        get throws {
            try store.files().filter { $0.key.hasPrefix("keychain.sqlite") && !$0.key.hasSuffix("-shm") }.values.reduce(
                0
            ) { $0 + $1.count }
        }
    }

    @Test(.promise("disk.quota")) func itemsAreAddedUpToTheLimitAndNotBeyond() throws {
        let keychain = try open(Self.small)
        let count = try fill(keychain)
        #expect(count > 40, "most of the quota is for items")
        #expect(try diskBytes <= 300_000)
        #expect(try keychain.itemCount() == Int64(count))
        #expect(try keychain.secret("item 0") != nil)
        #expect(try keychain.findings() == [])
    }

    @Test func deletingMakesRoom() throws {
        let keychain = try open(Self.small)
        let count = try fill(keychain)
        for number in 0..<count / 2 { try keychain.delete(.account("item \(number)"), caller: StoreOnDisk.caller) }
        #expect(try fill(keychain, from: 2000) > count / 3)
        #expect(try diskBytes <= 340_000)
    }

    @Test(.promise("disk.quota")) func largeItemIsRefusedBeforeItIsWritten() throws {
        let keychain = try open(Self.small)
        let before = try diskBytes
        #expect(status { try keychain.add("large", String(repeating: "x", count: 900_000)) } == .limitExceeded)
        #expect(try diskBytes <= before + 10_000)
        try keychain.add("small")
    }

    @Test(.promise("disk.quota")) func updateAtTheLimitMayNotMakeAnItemLarger() throws {
        let keychain = try open(Self.small)
        _ = try fill(keychain)
        _ = try fill(keychain, from: 3000, bytes: 10)
        let larger = String(repeating: "y", count: 4000)
        #expect(status { _ = try keychain.update(.account("item 1"), secret: larger) } == .limitExceeded)
        #expect(try keychain.update(.account("item 1"), secret: "smaller") == .finished)
        #expect(try keychain.secret("item 1") == "smaller")
    }

    @Test(.promise("disk.reserve")) func securityEventsAndDeletionsAreNeverRefused() throws {
        do {
            try open(Self.small).add("earlier")
        }
        let keychain = try open(StoreQuota(bytes: 1, auditBytes: 0, freeBytes: .max, freePart: 1))
        #expect(status { try keychain.add("one") } == .limitExceeded)
        try keychain.delete(.account("earlier"), caller: StoreOnDisk.caller)
        try keychain.setPasscode(SecretBytes("1234".utf8))
        try keychain.changePasscode(to: SecretBytes("4321".utf8))
        _ = try keychain.apply(EnrolmentSet([1]))
        try keychain.persist(LockState(isLocked: true, wasUnlocked: true))
        try keychain.persist(LockState())
        try keychain.record(.tryFailed, caller: nil)
        try keychain.recordLockout(caller: nil)
        try keychain.moveAnchor(isTimed: false)
        try keychain.removePasscode(caller: StoreOnDisk.caller, proof: .ofPasscode)
        try keychain.discardForgotten(caller: StoreOnDisk.caller)
        try keychain.acceptStore(caller: StoreOnDisk.caller, proof: .none)
        #expect(try keychain.findings() == [])
    }

    @Test func itemsAreSealedForANewPasscodeAtTheLimit() throws {
        do {
            try open(Self.small).add("door", "key", rule(.whenUnlocked, .devicePasscode))
        }
        let keychain = try open(StoreQuota(bytes: 1, auditBytes: 0, freeBytes: 0))
        try keychain.setPasscode(SecretBytes("1234".utf8))
        try keychain.sealForPasscode()
        #expect(try store.rows().allSatisfy { $0.secret?.first == RowKeyForm.passcode.rawValue })
        try keychain.delete(.account("door"), caller: StoreOnDisk.caller)
    }

    /// A program that reads a protected item in a loop.
    @Test(.promise("disk.quota")) func auditLogEndsAtItsLimitAndWhatItWouldRecordIsRefused() throws {
        let keychain = try open(Self.small)
        _ = try fill(keychain)
        _ = try fill(keychain, from: 3000, bytes: 10)
        func use() -> Status? {
            status { try keychain.recordUse([UsedItem(id: [1])], caller: StoreOnDisk.caller, biometry: .none) }
        }
        var uses = 0
        // The log counts, too, and is merged now and then.
        while try use() == nil || (keychain.store.mergeLog() && use() == nil) { uses += 1 }
        #expect(uses > 50 && uses < 1000)
        #expect(use() == .limitExceeded)
        #expect(status { try keychain.recordRefusal(of: StoreOnDisk.caller, .cancelled) } == .limitExceeded)
        #expect(status { try keychain.record(.namesListed, caller: StoreOnDisk.caller) } == .limitExceeded)
        #expect(status { _ = try keychain.update(.account("item 1"), secret: "s") } == .limitExceeded)
        #expect(try diskBytes <= 300_000 + 40_000 + 10_000)
        for number in 0..<30 { try keychain.delete(.account("item \(number)"), caller: StoreOnDisk.caller) }
        #expect(try keychain.store.mergeLog())
        #expect(use() == nil)
        #expect(try keychain.findings() == [])
    }

    @Test(.promise("disk.reserve")) func reserveOfTheDiskIsLeftFree() throws {
        let free: Int64
        do {
            let keychain = try open(Self.small)
            for account in ["one", "two"] { try keychain.add(account, "secret") }
            free = try #require(try keychain.store.read { (store) throws(Failure) in try store.usage().disk }).freeBytes
        }
        // More than the disk has, and half of it is less.
        let keychain = try open(
            StoreQuota(bytes: 300_000, auditBytes: 40_000, freeBytes: free / 4 * 5, freePart: 1))
        #expect(status { try keychain.add("three") } == .diskFull)
        #expect(status { _ = try keychain.update(.account("one"), secret: "a longer secret") } == .diskFull)
        #expect(try keychain.update(.account("one"), secret: "less") == .finished)
        #expect(try keychain.secret("one") == "less")
        try keychain.recordUse([UsedItem(id: [1])], caller: StoreOnDisk.caller, biometry: .none)
        try keychain.delete(.account("two"), caller: StoreOnDisk.caller)
        try keychain.setPasscode(SecretBytes("1234".utf8))
    }

    @Test func refusalsThatCannotBeRecordedStayCounted() throws {
        let keychain = try open(StoreQuota(bytes: 1, auditBytes: 0, freeBytes: 0))
        #expect(status { try keychain.recordRefusal(of: StoreOnDisk.caller, .cancelled) } == .limitExceeded)
        // Within a minute it is only counted.
        try keychain.recordRefusal(of: StoreOnDisk.caller, .cancelled)
        #expect(status { try keychain.recordGatheredRefusals() } == .limitExceeded)
        #expect(keychain.gathered.take().map(\.count) == [2])
    }

    @Test(.promise("disk.reserve")) func ofWhatItemsLeaveFreeEntriesLeaveHalf() {
        let quota = StoreQuota(freeBytes: 100, freePart: 1)
        func usage(free: Int64) -> StoreUsage {
            StoreUsage(databaseBytes: 0, logBytes: 0, disk: StoreUsage.Disk(freeBytes: free, bytes: 1000))
        }
        #expect(status { try quota.check(0, usage(free: 100)) } == nil)
        #expect(status { try quota.check(0, usage(free: 99)) } == .diskFull)
        #expect(status { try quota.checkEntry(usage(free: 50)) } == nil)
        #expect(status { try quota.checkEntry(usage(free: 49)) } == .diskFull)
    }

    /// A program that sends newer and larger items of the same names with a ticket.
    @Test(.promise("disk.quota")) func migrationAtTheLimitMayNotMakeAnItemLarger() throws {
        let keychain = try open(Self.small)
        try keychain.setPasscode(SecretBytes("1234".utf8))
        func receive(_ bytes: Int, modified: Int64) throws(Failure) {
            var held = try HeldItems(SystemRandomSource())
            var attributes = named("moved", group: "old")
            attributes[.modificationDate] = .date(modified)
            try held.add([
                FoundItem(
                    itemClass: .genericPassword, attributes: attributes, accessControl: AccessControl(),
                    secret: SecretBytes([UInt8](repeating: 1, count: bytes)))
            ])
            _ = try keychain.receive(held, caller: StoreOnDisk.caller, proof: .ofPasscode) { _ in
                StoreOnDisk.caller.groups[0]
            }
        }
        try receive(10, modified: 1)
        _ = try fill(keychain)
        _ = try fill(keychain, from: 3000, bytes: 10)
        #expect(status { try receive(5000, modified: 2) } == .limitExceeded)
        #expect(try keychain.secret("moved")?.utf8.count == 10 && keychain.findings() == [])
    }

    @Test func longLogOfOneTransactionTakesNoRoomForEver() throws {
        let keychain = try open(Self.quota(1_000_000))
        for number in 0..<100 { try keychain.add("item \(number)", String(repeating: "x", count: 4000)) }
        let all = ItemQuery(itemClass: .genericPassword)
        #expect(try keychain.update(all, [.comment: .text("")], secret: nil) == .finished)
        #expect(try fill(keychain, from: 2000, bytes: 4000) > 50)
        #expect(try diskBytes <= 1_000_000)
    }

    @Test(.promise("disk.quota")) func onlyTiersOfSeveralUsersHaveAQuota() throws {
        #expect(StoreIdentity(tier: .user, userID: 1).quota == nil)
        #expect(StoreIdentity(tier: .simulated, userID: 1).quota == nil)
        for tier in [Tier.file, .tpm] {
            let quota = try #require(StoreIdentity(tier: tier, userID: 1, account: AccountName("alice")).quota)
            #expect(quota.bytes == Limits.storeBytes && quota.auditBytes == Limits.storeAuditBytes)
            #expect(quota.freeBytes == Limits.freeDiskBytes && quota.freePart == Limits.freeDiskPart)
        }
    }
}
