// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyKeychain
import LatchkeyModel
import LatchkeySeams
import SQLiteDriver
import SystemDriver
import TestPromises
import Testing

/// Attack: changing or deleting a record of the file to get new tries. Counters that differ from the stored ones
/// count as used up.
@Suite struct LostCountersTests {
    private let store: StoreOnDisk

    init() throws { store = try StoreOnDisk() }

    private func start(uptimeSeconds: Int64) throws -> StartedService {
        let clock = BootClock(boot: "monday", uptimeSeconds: uptimeSeconds)
        return try StartedService(try store.open(clock: clock), clock: clock)
    }

    /// The sequence number of the newest audit entry.
    private func auditEnd() throws -> Int64 {
        var end: Int64 = 0
        try store.edit { end = try $0.lastAuditEntry()?.sequence ?? 0 }
        return end
    }

    @Test(.promise("tries.lost", "abuse.27"), arguments: [Data([1, 2, 3]), nil] as [Data?])
    func changedOrRemovedCountersCountAsUsedUp_abuse27(_ bytes: Data?) throws {
        #expect(try start(uptimeSeconds: 1000).setPasscode("right") == nil)
        try store.setFile("counters", bytes)
        let end = try auditEnd()
        let first = try start(uptimeSeconds: 2000)
        #expect(try first.isBiometryLocked)
        #expect(first.tryPasscode("right") == .passcodeDelayed)
        #expect(try auditEnd() == end + 1, "the loss is in the audit log")
        // The replacement is stored: another start neither ends the delay nor restarts it.
        let later = try start(uptimeSeconds: 2000 + 3599)
        #expect(try later.isBiometryLocked)
        #expect(later.tryPasscode("right") == .passcodeDelayed)
        #expect(try auditEnd() == end + 1)
        let afterwards = try start(uptimeSeconds: 2000 + 3600)
        #expect(afterwards.tryPasscode("right") == nil)
        #expect(try !afterwards.isBiometryLocked)
    }

    @Test func withoutAPasscodeLostCountersDelayNothing_abuse27() throws {
        #expect(try !start(uptimeSeconds: 1000).isBiometryLocked)
        #expect(try auditEnd() == 0)
        let service = try start(uptimeSeconds: 2000)
        #expect(service.setPasscode("right") == nil)
        #expect(service.tryPasscode("right") == nil, "nothing is delayed")
    }

    /// Were the new counters stored first, a kill before the entry would leave no trace of the loss.
    @Test func lossIsRecordedBeforeTheCountersAreReplaced_abuse27() throws {
        let random = SystemRandomSource()
        let clock = BootClock(boot: "monday", uptimeSeconds: 1000)
        let rows = RecordingStore(try SQLiteItemStore.inMemory())
        let vault = MemoryKeyVault(rootKey: try random.bytes(32))
        try StoreOnDisk.identity.create(in: rows, vault: vault, random: random)
        #expect(
            try StartedService(
                StoreOnDisk.identity.open(rows, vault: vault, clock: clock, random: random), clock: clock
            ).setPasscode("right") == nil)
        for slot in 0..<2 { try vault.overwriteCounterSlot(slot, with: [1, 2, 3]) }
        let count = rows.entries.count
        func start() throws -> Keychain {
            let keychain = try StoreOnDisk.identity.open(rows, vault: vault, clock: clock, random: random)
            _ = try StartedService(keychain, clock: clock)
            return keychain
        }
        rows.fail(at: 0)
        #expect(throws: Failure(.storeUnreadable)) { try start().storedCounters() }
        rows.fail(at: nil)
        #expect(try start().storedCounters() != nil)
        #expect(rows.entries.count == count + 1)
    }

    /// Were the passcode stored first, a crash or a full disk could leave a passcode without counters, which count as
    /// used up and would delay the user.
    @Test func countersAreStoredBeforeTheFirstPasscode_abuse27() throws {
        let random = SystemRandomSource()
        let clock = BootClock(boot: "monday", uptimeSeconds: 1000)
        let rows = RecordingStore(try SQLiteItemStore.inMemory())
        let vault = MemoryKeyVault(rootKey: try random.bytes(32))
        try StoreOnDisk.identity.create(in: rows, vault: vault, random: random)
        let keychain = try StoreOnDisk.identity.open(rows, vault: vault, clock: clock, random: random)
        let service = try StartedService(keychain, clock: clock)
        var number = 0
        while true {
            rows.fail(at: number)
            let failure = service.setPasscode("right")
            rows.fail(at: nil)
            let isPasscodeSet = keychain.isPasscodeSet
            #expect(try !isPasscodeSet || keychain.storedCounters() != nil, "write \(number)")
            if isPasscodeSet { break }
            #expect(failure == .diskFull)
            number += 1
        }
        #expect(number >= 3, "the counters and their commit come before the passcode")
    }
}
