// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
import LatchkeyModel
import LatchkeySeams
import TPMDriver
import TestPromises
import TestSupport
import Testing

@testable import LatchkeyKeychain

// The key of the enrolment set, which the TPM opens until the set changes.

extension TPMStoreTests {
    /// Makes a store with an item of the first set and closes it.
    private func makeBoundItem() throws {
        try opened { keychain in
            try fill(keychain)
            try keychain.add("bound", "finger", rule(.whenUnlocked, .biometryCurrentSet))
        }
    }

    /// Removes the counter of the enrolment sets, as another program with access to the TPM can.
    private func removeSetCounter() throws {
        let chip = TPMChip(TPMPlace(tpm.path), clock: store.clock, random: store.random)
        try TPMUserIndices(chip, random: store.random).removeCounter(of: [1], .enrolmentCounterPolicy)
    }

    private func bound(_ keychain: Keychain) -> Status? {
        status { _ = try keychain.secret("bound", proof: Self.match) }
    }

    @Test func onlyAChangeOfTheSetMovesItsCounterAndEndsWhatIsBound() throws {
        try makeBoundItem()
        let before = try opened { $0.numberOfSet }
        try opened { keychain in
            #expect(try keychain.unlock(Self.passcode))
            try keychain.changePasscode(to: SecretBytes("4321".utf8))
            try keychain.recordLockout(caller: nil)
            try keychain.moveAnchor(isTimed: false)
            #expect(keychain.numberOfSet == before)
            #expect(bound(keychain) == nil)
        }
        try opened { keychain in
            #expect(bound(keychain) == nil)
            _ = try keychain.apply(EnrolmentSet([2]))
            #expect(keychain.numberOfSet == before.map { $0 + 1 })
            #expect(bound(keychain) == .itemNotFound)
        }
    }

    /// An image of the disk with the keys of the store, from before the change: the TPM does not open its key any more.
    @Test(.promise("enrolment.erased")) func aKeptKeyOfAnEarlierSetOpensNowhereAfterTheSetHasChanged_abuse31() throws {
        try makeBoundItem()
        let kept = try opened { $0.anchor.record?.contents.enrolmentKey }
        guard case .sealed(let sealed, let number)? = kept else {
            Issue.record("the key is not sealed")
            return
        }
        #expect(try vault().enrolmentSeal?.open(sealed, at: number).count == 32)
        try opened { keychain in
            _ = try keychain.apply(EnrolmentSet([2]))
            _ = try keychain.apply(EnrolmentSet([1]))
        }
        for claimed in [number, number + 1, number + 2] {
            #expect(status { _ = try vault().enrolmentSeal?.open(sealed, at: claimed) } == .anchorGone)
        }
    }

    /// What another program can do to the counter of the sets.
    enum Meddling: CaseIterable { case removes, increments }

    @Test(arguments: Meddling.allCases)
    func aStoreWhoseSetCounterWasRemovedOrMovedIsRefusedUntilItIsAccepted(_ meddling: Meddling) throws {
        try makeBoundItem()
        switch meddling {
        case .removes: try removeSetCounter()
        case .increments: _ = try vault().enrolmentSeal?.counter.increment()
        }
        let files = try store.files()
        try opened { keychain in
            #expect(keychain.anchor.condition == .enrolmentKeyGone)
            let found = failure { () throws(Failure) in try keychain.anchor.check() }
            #expect(found?.status == .storeUnreadable && found?.message.hasSuffix("..") == false, "\(found as Any)")
            #expect(status { _ = try keychain.secret("free") } == .anchorGone)
            #expect(status { _ = try keychain.apply(EnrolmentSet([2])) } == .anchorGone)
        }
        #expect(try store.files()["anchor"] == files["anchor"], "nothing is made again silently")
        try opened { keychain in
            try keychain.acceptStore(caller: StoreOnDisk.caller, proof: .ofPasscode)
            #expect(try keychain.secret("free") == "four")
            #expect(bound(keychain) == .itemNotFound)
        }
        #expect(try opened { $0.anchor.condition } == .clean)
    }

    @Test func theCheckFindsACounterThatMovedWhileTheStoreIsOpen() throws {
        try makeBoundItem()
        let vault = vault()
        let keychain = try open(vault)
        try keychain.anchor.check()
        _ = try vault.enrolmentSeal?.counter.increment()
        #expect(status { try keychain.anchor.check() } == .storeUnreadable)
    }

    private func failure(_ body: () throws(Failure) -> Void) -> Failure? {
        do throws(Failure) { try body() } catch { return error }
        return nil
    }

    /// Earlier versions had the key in the anchor.
    @Test func aStoreOfAnEarlierVersionKeepsItsItemsAndGetsItsKeySealed() throws {
        try makeBoundItem()
        try opened { keychain in
            let key = try #require(keychain.anchor.enrolmentKey)
            var record = try #require(keychain.anchor.record)
            record.contents.enrolmentKey = .clear(key)
            let file = try record.encoded(
                keychain.tree.anchorKey, keychain.tree.header, nonce: [UInt8](repeating: 7, count: 12))
            try vault().replaceAnchor(file)
        }
        try removeSetCounter()
        try opened { keychain in
            #expect(keychain.anchor.condition == .clean)
            #expect(keychain.numberOfSet != nil)
            #expect(bound(keychain) == nil)
        }
        try opened { #expect(bound($0) == nil) }
    }

    @Test func theFirstAnchorOfAStoreHasNoKeyThatIsEverUsed() throws {
        let first = try #require(try store.files()["anchor"])
        try opened { keychain in
            let record = try #require(
                try AnchorRecord.decode(SecretBytes(first), keychain.tree.anchorKey, keychain.tree.header))
            guard case .clear(let key) = record.contents.enrolmentKey else { return }
            #expect(keychain.anchor.enrolmentKey != key)
            #expect(keychain.numberOfSet != nil)
        }
    }
}
