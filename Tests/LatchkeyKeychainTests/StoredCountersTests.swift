// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyKeychain
import LatchkeyModel
import TestPromises
import TestSupport
import Testing

/// Counters of failed tries survive the daemon, and editing the file cannot reset them.
@Suite struct StoredCountersTests {
    private static let counters = PolicyCounters(
        biometryFailures: 4, passcodeFailures: 5, passcodeBlockedUntil: 300_000_000_000)
    private let store: StoreOnDisk

    init() throws {
        store = try StoreOnDisk()
        try store.open(clock: BootClock(boot: "monday")).persist(Self.counters)
    }

    @Test func aNewStoreHasNoCounters() throws {
        #expect(try Keychain.inMemory().storedCounters() == nil)
    }

    @Test func countersSurviveReopening_abuse27() throws {
        let stored = try #require(try store.open(clock: BootClock(boot: "monday")).storedCounters())
        #expect(stored.0 == Self.counters)
        #expect(stored.isOfThisBoot)
    }

    @Test func countersOfAnotherBootAreRecognised_abuse28() throws {
        let stored = try #require(try store.open(clock: BootClock(boot: "tuesday")).storedCounters())
        #expect(stored.0 == Self.counters)
        #expect(!stored.isOfThisBoot)
    }

    @Test func newCountersReplaceOldOnes() throws {
        let keychain = try store.open(clock: BootClock(boot: "tuesday"))
        let none = PolicyCounters(biometryFailures: 0, passcodeFailures: 0, passcodeBlockedUntil: 0)
        try keychain.persist(none)
        let stored = try #require(try keychain.storedCounters())
        #expect(stored.0 == none)
        #expect(stored.isOfThisBoot)
    }

    @Test func countersAreNotReadableInTheFile() throws {
        let file = try #require(try store.files()["counters"])
        #expect(!Array(file).contains(sequence: Array("monday".utf8)))
    }

    /// Changes the newest of the two slots, as an attacker who can write the file could.
    private func change(_ body: (inout Data) -> Void) throws {
        var file = try #require(try store.files()["counters"])
        body(&file)
        try store.setFile("counters", file)
    }

    @Test(arguments: [0, 1])
    func changedCountersAreRefused_abuse27(bytesFromTheEnd: Int) throws {
        // An audit entry names these counters.
        do { try store.open().record(.tryFailed, caller: nil) }
        try change { file in
            for slot in [4096, 8192] {
                let count = Int(file[slot]) << 8 | Int(file[slot + 1])
                if count > 0 { file[slot + 1 + count - bytesFromTheEnd] ^= 0x80 }
            }
        }
        let keychain = try store.open()
        #expect(status { _ = try keychain.storedCounters() } == .storeUnreadable)
    }

    @Test(.promise("tries.lost")) func olderCountersAreRefused_abuse27() throws {
        let old = try #require(try store.files()["counters"])
        do {
            let keychain = try store.open()
            try keychain.persist(PolicyCounters(biometryFailures: 5, passcodeFailures: 6, passcodeBlockedUntil: 1))
            try keychain.record(.tryFailed, caller: nil)
        }
        try store.setFile("counters", old)
        let keychain = try store.open()
        #expect(status { _ = try keychain.storedCounters() } == .storeUnreadable)
    }

    @Test func removedCountersAreRefused_abuse27() throws {
        try store.setFile("counters", nil)
        let keychain = try store.open()
        #expect(status { _ = try keychain.storedCounters() } == .storeUnreadable)
        try keychain.persist(Self.counters)
        #expect(try keychain.storedCounters()?.0 == Self.counters, "the file is created again")
    }

    @Test(.promise("tries.lost")) func theCountersOfAnotherStoreAreRefused() throws {
        let other = try StoreOnDisk()
        try other.open().persist(PolicyCounters(biometryFailures: 0, passcodeFailures: 0, passcodeBlockedUntil: 0))
        try store.setFile("counters", try other.files()["counters"])
        let keychain = try store.open()
        #expect(status { _ = try keychain.storedCounters() } == .storeUnreadable)
    }

    /// Simulates a power cut while a slot is overwritten.
    @Test(.promise("tries.place")) func aTornSlotLeavesThePreviousCounters() throws {
        let next = PolicyCounters(biometryFailures: 0, passcodeFailures: 6, passcodeBlockedUntil: 0)
        let before = try #require(try store.files()["counters"])
        do { try store.open(clock: BootClock(boot: "monday")).persist(next) }
        let after = try #require(try store.files()["counters"])
        let changed = try #require(before.indices.first { before[$0] != after[$0] })
        try change { file in for index in changed + 20..<changed + 40 { file[index] = before[index] } }
        let stored = try #require(try store.open(clock: BootClock(boot: "monday")).storedCounters())
        #expect(stored.0 == Self.counters)
    }

    @Test(.promise("tries.boot")) func anEmptyBootIdentifierMatchesNoBoot() throws {
        do { try store.open(clock: BootClock(boot: "")).persist(Self.counters) }
        let stored = try #require(try store.open(clock: BootClock(boot: "")).storedCounters())
        #expect(!stored.isOfThisBoot)
    }

    @Test(.promise("tries.place")) func storingCountersOverwritesInPlace() throws {
        let size = try #require(try store.files()["counters"]).count
        let keychain = try store.open()
        for number in 1...20 {
            try keychain.persist(PolicyCounters(biometryFailures: number, passcodeFailures: 0, passcodeBlockedUntil: 0))
        }
        #expect(try store.files()["counters"]?.count == size)
        #expect(try keychain.storedCounters()?.0.biometryFailures == 20)
    }
}

extension [UInt8] {
    /// Whether the bytes contain the sequence.
    fileprivate func contains(sequence: [UInt8]) -> Bool {
        indices.dropLast(sequence.count - 1).contains { self[$0..<$0 + sequence.count].elementsEqual(sequence) }
    }
}
