// SPDX-License-Identifier: Apache-2.0

import LatchkeyKeychain
import LatchkeyModel
import Testing

/// Counters of failed tries outlive the daemon, and nobody sets them back in the file.
@Suite struct KeptCountersTests {
    private static let counters = PolicyCounters(
        biometryFailures: 4, passcodeFailures: 5, passcodeBlockedUntil: 300_000_000_000)
    private let store: StoreOnDisk

    init() throws {
        store = try StoreOnDisk()
        try store.open(clock: BootClock(boot: "monday")).keep(Self.counters)
    }

    @Test func aNewStoreHasNone() throws {
        #expect(try Keychain.inMemory().keptCounters() == nil)
    }

    @Test func countersAreThereAfterReopening_abuse27() throws {
        let kept = try #require(try store.open(clock: BootClock(boot: "monday")).keptCounters())
        #expect(kept.0 == Self.counters)
        #expect(kept.isOfThisBoot)
    }

    @Test func countersOfAnotherBootAreToldApart_abuse28() throws {
        let kept = try #require(try store.open(clock: BootClock(boot: "tuesday")).keptCounters())
        #expect(kept.0 == Self.counters)
        #expect(!kept.isOfThisBoot)
    }

    @Test func newCountersReplaceOldOnes() throws {
        let keychain = try store.open(clock: BootClock(boot: "tuesday"))
        let none = PolicyCounters(biometryFailures: 0, passcodeFailures: 0, passcodeBlockedUntil: 0)
        try keychain.keep(none)
        let kept = try #require(try keychain.keptCounters())
        #expect(kept.0 == none)
        #expect(kept.isOfThisBoot)
    }

    @Test func countersAreNotReadableInTheFile() throws {
        try store.edit { store in
            let sealed = try #require(try store.record("policy.counters"))
            #expect(!sealed.contains(sequence: Array("monday".utf8)))
        }
    }

    @Test func everyChangedByteIsNoticed() throws {
        var sealed: [UInt8] = []
        try store.edit { sealed = try #require(try $0.record("policy.counters")) }
        for offset in sealed.indices {
            var changed = sealed
            changed[offset] ^= 0x80
            try store.edit { try $0.setRecord("policy.counters", changed) }
            let keychain = try store.open()
            #expect(status { _ = try keychain.keptCounters() } == .storeUnreadable, "byte \(offset)")
        }
    }

    @Test func aRecordOfAnotherNameIsNoticed() throws {
        try store.edit { try $0.setRecord("policy.counters", try $0.record("enrolment.generation")) }
        let keychain = try store.open()
        #expect(status { _ = try keychain.keptCounters() } == .storeUnreadable)
    }

    @Test func theCountersOfAnotherStoreAreNoticed() throws {
        let other = try StoreOnDisk()
        try other.open().keep(PolicyCounters(biometryFailures: 0, passcodeFailures: 0, passcodeBlockedUntil: 0))
        var foreign: [UInt8]?
        try other.edit { foreign = try $0.record("policy.counters") }
        try store.edit { try $0.setRecord("policy.counters", foreign) }
        let keychain = try store.open()
        #expect(status { _ = try keychain.keptCounters() } == .storeUnreadable)
    }
}

extension [UInt8] {
    /// Whether the bytes stand somewhere in here.
    fileprivate func contains(sequence: [UInt8]) -> Bool {
        indices.dropLast(sequence.count - 1).contains { self[$0..<$0 + sequence.count].elementsEqual(sequence) }
    }
}
