// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeyFileDriver
import LatchkeyKeychain
import LatchkeyModel
import LatchkeySeams
import SQLiteDriver
import SystemDriver
import Testing

/// The attack: new tries by changing or deleting one record of the file. Counters that are not there as they were kept
/// count as used up.
@Suite struct LostCountersTests {
    private let store: StoreOnDisk

    init() throws { store = try StoreOnDisk() }

    private func start(uptimeSeconds: Int64) throws -> StartedService {
        let clock = BootClock(boot: "monday", uptimeSeconds: uptimeSeconds)
        return StartedService(try store.open(clock: clock), clock: clock)
    }

    /// The number of the newest entry of the trail.
    private func auditEnd() throws -> Int64 {
        var end: Int64 = 0
        try store.edit { end = try $0.lastAuditEntry()?.sequence ?? 0 }
        return end
    }

    @Test(arguments: [Data([1, 2, 3]), nil] as [Data?])
    func countersThatWereChangedOrTakenOutCountAsUsedUp_abuse27(_ bytes: Data?) throws {
        #expect(try start(uptimeSeconds: 1000).setPasscode("right") == nil)
        try store.setFile("counters", bytes)
        let end = try auditEnd()
        let first = try start(uptimeSeconds: 2000)
        #expect(try first.isBiometryLocked)
        #expect(first.tryPasscode("right") == .passcodeDelayed)
        #expect(try auditEnd() == end + 1, "the trail says so")
        // It was written down: another start neither forgets it nor begins the hour anew.
        let later = try start(uptimeSeconds: 2000 + 3599)
        #expect(try later.isBiometryLocked)
        #expect(later.tryPasscode("right") == .passcodeDelayed)
        #expect(try auditEnd() == end + 1)
        let afterwards = try start(uptimeSeconds: 2000 + 3600)
        #expect(afterwards.tryPasscode("right") == nil)
        #expect(try !afterwards.isBiometryLocked)
    }

    @Test func aStoreWithoutAPasscodeHasNothingToCount_abuse27() throws {
        #expect(try !start(uptimeSeconds: 1000).isBiometryLocked)
        #expect(try auditEnd() == 0)
        let service = try start(uptimeSeconds: 2000)
        #expect(service.setPasscode("right") == nil)
        #expect(service.tryPasscode("right") == nil, "nothing is delayed")
    }

    /// A crash or a full disk between the two must not leave a passcode without counters: its owner would be delayed.
    @Test func countersAreKeptBeforeTheFirstPasscodeIs_abuse27() throws {
        let random = SystemRandomSource()
        let clock = BootClock(boot: "monday", uptimeSeconds: 1000)
        let rows = RecordingStore(try SQLiteItemStore.inMemory())
        let vault = MemoryKeyVault(rootKey: try random.bytes(32))
        try StoreOnDisk.identity.create(in: rows, vault: vault, random: random)
        let keychain = try StoreOnDisk.identity.open(rows, vault: vault, clock: clock, random: random)
        let service = StartedService(keychain, clock: clock)
        var number = 0
        while true {
            rows.fail(at: number)
            let failure = service.setPasscode("right")
            rows.fail(at: nil)
            let isPasscodeSet = keychain.isPasscodeSet
            #expect(try !isPasscodeSet || keychain.keptCounters() != nil, "write \(number)")
            if isPasscodeSet { break }
            #expect(failure == .diskFull)
            number += 1
        }
        #expect(number >= 3, "the counters and their commit come before the passcode")
    }
}
