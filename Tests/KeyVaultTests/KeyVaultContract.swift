// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import TestSupport
import Testing

/// The contract of `KeyVault`, which every driver must fulfil.
@Suite struct KeyVaultContract {
    private static let first = SecretBytes([1, 2, 3])
    private static let second = SecretBytes([UInt8](repeating: 9, count: 600))

    // MARK: - Root key and anchor

    @Test(arguments: Driver.all) func theRootKeyIsTheSameAfterReopening(_ driver: Driver) throws {
        let made = try driver.make()
        #expect(try made.vault.rootKey() == Driver.rootKey)
        #expect(try made.reopen().rootKey() == Driver.rootKey)
    }

    @Test(arguments: Driver.all) func theAnchorIsTheOneThatWasWrittenLast(_ driver: Driver) throws {
        let made = try driver.make()
        #expect(try made.vault.anchor() == nil)
        for anchor in [Self.second, Self.first, Self.second] {
            try made.vault.replaceAnchor(anchor)
            #expect(try made.vault.anchor() == anchor)
            #expect(try made.reopen().anchor() == anchor)
        }
    }

    // MARK: - Counter slots

    @Test(arguments: Driver.all) func eachSlotIsOverwrittenAlone(_ driver: Driver) throws {
        let made = try driver.make()
        #expect(try made.vault.counterSlots() == nil)
        try made.vault.overwriteCounterSlot(0, with: [1])
        #expect(try made.vault.counterSlots()?.first == [1])
        let large = [UInt8](repeating: 5, count: CounterSlot.capacity)
        try made.vault.overwriteCounterSlot(1, with: large)
        try made.vault.overwriteCounterSlot(0, with: [2, 3])
        #expect(try made.vault.counterSlots() == [[2, 3], large])
        try made.vault.overwriteCounterSlot(1, with: [])
        #expect(try made.reopen().counterSlots() == [[2, 3], []])
    }

    // MARK: - Missing and unavailable

    @Test(arguments: Driver.all.filter(\.mayFail))
    func aVaultThatCannotBeReadIsUnavailableAndUnchanged(_ driver: Driver) throws {
        let made = try driver.make()
        try made.vault.replaceAnchor(Self.first)
        try made.vault.overwriteCounterSlot(0, with: [1])
        let setUnavailable = try #require(made.setUnavailable)
        try setUnavailable(true)
        #expect(status { _ = try made.vault.rootKey() } == .vaultUnavailable)
        #expect(status { _ = try made.vault.anchor() } == .vaultUnavailable)
        #expect(status { _ = try made.vault.counterSlots() } == .vaultUnavailable)
        #expect(status { try made.vault.replaceAnchor(Self.second) } != nil)
        if let counter = made.vault.counter {
            #expect(status { _ = try counter.value() } == .vaultUnavailable)
            #expect(status { _ = try counter.create() } == .vaultUnavailable)
            #expect(status { _ = try counter.increment() } == .vaultUnavailable)
        }
        try setUnavailable(false)
        #expect(try made.vault.rootKey() == Driver.rootKey)
        #expect(try made.vault.anchor() == Self.first)
        #expect(try made.vault.counterSlots()?.first == [1])
    }

    @Test(arguments: Driver.all.filter(\.mayFail))
    func aRemovedRootKeyIsMissingAndNotUnavailable(_ driver: Driver) throws {
        let made = try driver.make()
        let remove = try #require(made.removeRootKey)
        try remove()
        #expect(status { _ = try made.vault.rootKey() } == .rootKeyMissing)
        #expect(status { _ = try made.reopen().rootKey() } == .rootKeyMissing)
    }

    // MARK: - The monotonic counter

    @Test(arguments: Driver.all.filter { !$0.hasCounter })
    func aVaultOfFilesSaysThatItHasNoCounter(_ driver: Driver) throws {
        #expect(try driver.make().vault.counter == nil)
    }

    @Test(arguments: Driver.all.filter(\.hasCounter))
    func theCounterGrowsByOneAndSurvivesReopening(_ driver: Driver) throws {
        let made = try driver.make()
        let counter = try #require(made.vault.counter)
        #expect(try counter.value() == nil)
        let first = try counter.create()
        #expect(try counter.create() == first, "an existing counter is not created again")
        for step in 1...3 as ClosedRange<UInt64> {
            #expect(try counter.increment() == first + step)
            #expect(try counter.value() == first + step)
            #expect(try made.reopen().counter?.value() == first + step)
        }
    }

    @Test(arguments: Driver.all.filter(\.hasCounter))
    func aCounterThatIsCreatedAgainContinuesAboveTheRemovedOne(_ driver: Driver) throws {
        let made = try driver.make()
        let counter = try #require(made.vault.counter)
        let remove = try #require(made.removeCounter)
        _ = try counter.create()
        let last = try counter.increment()
        remove()
        #expect(try counter.value() == nil)
        #expect(status { _ = try counter.increment() } == .anchorGone)
        #expect(try counter.create() > last)
    }
}
