// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyPolicy
import LatchkeyService
import TestPromises
import TestSupport
import Testing

@testable import LatchkeyKeychain

/// Items of `WhenPasscodeSetThisDeviceOnly` are sealed under `U_pass`, which only the passcode opens.
@Suite struct PasscodeClassTests {
    private static let first = SecretBytes("first".utf8)
    private static let second = SecretBytes("second".utf8)
    private let store: StoreOnDisk

    init() throws {
        store = try StoreOnDisk()
        let keychain = try store.open()
        try keychain.setPasscode(Self.first)
        try keychain.add("bound", "one", rule(.whenPasscodeSetThisDeviceOnly))
        try keychain.add("free", "two")
    }

    @Test func itemsAreReadableWhileThePasscodeKeyIsInMemory() throws {
        let keychain = try Keychain.inMemory()
        try keychain.setPasscode(Self.first)
        try keychain.add("bound", "one", rule(.whenPasscodeSetThisDeviceOnly))
        #expect(keychain.tree.holdsPasscodeKey)
        #expect(try keychain.secret("bound") == "one")
    }

    @Test(.promise("attacker.disk")) func afterReopeningOnlyItemsOfTheClassNeedThePasscode() throws {
        let keychain = try store.open()
        #expect(!keychain.tree.holdsPasscodeKey)
        #expect(try keychain.secret("bound") == nil)
        #expect(try keychain.secret("free") == "two")
    }

    @Test func theMissingProofIsThePasscodeAlone() throws {
        let keychain = try store.open()
        let request = Request.CopyItems(.account("bound"))
        let result = try keychain.search(
            request, caller: StoreOnDisk.caller, proof: .none, used: { _ in }, emit: { _ in })
        #expect(result == .needs(AuthenticationPlan([[.passcode]])))
    }

    @Test(.promise("decision.plan")) func aProofWithoutTheKeyOpensNothing() throws {
        let keychain = try store.open()
        let proof = Authorisation.testOnly([.passcode, .biometry], by: StoreOnDisk.caller)
        #expect(try keychain.secret("bound", proof: proof) == nil)
        let row = try store.rows()[0]
        let item = try keychain.envelopes.openAttributes(row)
        #expect(throws: Failure(.interactionNotAllowed)) { try keychain.envelopes.openSecret(row, item) }
    }

    @Test func attributesOfTheClassAreReadableWithoutThePasscode() throws {
        let found = try store.open().find(.account("bound"), returns: .attributes)
        #expect(found?.first?.attributes?[.account] == .text("bound"))
    }

    @Test func theRightPasscodeOpensItemsOfTheClass() throws {
        let keychain = try store.open()
        #expect(try keychain.unlock(Self.first))
        #expect(try keychain.secret("bound") == "one")
    }

    @Test(.promise("attacker.disk"), arguments: ["", "firs", "first ", "First", "second"])
    func aWrongPasscodeOpensNothing(passcode: String) throws {
        let keychain = try store.open()
        #expect(try !keychain.unlock(SecretBytes(passcode.utf8)))
        #expect(!keychain.tree.holdsPasscodeKey)
        #expect(try keychain.secret("bound") == nil)
    }

    @Test func changingThePasscodeKeepsTheItems() throws {
        do {
            let keychain = try store.open()
            #expect(try keychain.unlock(Self.first))
            try keychain.changePasscode(to: Self.second)
            #expect(try keychain.secret("bound") == "one")
        }
        let keychain = try store.open()
        #expect(try !keychain.unlock(Self.first))
        #expect(try keychain.unlock(Self.second))
        #expect(try keychain.secret("bound") == "one")
    }

    @Test func thePasscodeCannotBeChangedBeforeItIsEntered() throws {
        let keychain = try store.open()
        #expect(throws: Failure(.passcodeNotSet)) { try keychain.changePasscode(to: Self.second) }
        #expect(try keychain.unlock(Self.first))
    }

    @Test func removingThePasscodeDeletesTheItemsOfItsClassOnly_KC15() throws {
        let keychain = try store.open()
        #expect(try keychain.unlock(Self.first))
        try keychain.removePasscode(caller: StoreOnDisk.caller, proof: .ofPasscode)
        #expect(!keychain.isPasscodeSet)
        #expect(!keychain.tree.holdsPasscodeKey)
        #expect(status { _ = try keychain.secret("bound") } == .itemNotFound)
        #expect(try keychain.secret("free") == "two")
        #expect(try store.rows().count == 1)
    }

    @Test func aNewPasscodeDoesNotRestoreOldItems() throws {
        let old = try store.rows()[0]
        do {
            let keychain = try store.open()
            try keychain.removePasscode(caller: StoreOnDisk.caller, proof: .ofPasscode)
            try keychain.setPasscode(Self.first)
        }
        try store.edit { try $0.insert(old) }
        let keychain = try store.open()
        #expect(try keychain.unlock(Self.first))
        #expect(status { _ = try keychain.secret("bound") } == .itemNotFound, "the old key was erased (KC-17)")
    }

    @Test func addingWithoutAPasscodeIsRefused_KC15() throws {
        let keychain = try Keychain.inMemory()
        #expect(throws: Failure(.passcodeClassUnavailable)) {
            try keychain.addNeedsPasscode(rule(.whenPasscodeSetThisDeviceOnly))
        }
        #expect(try !keychain.addNeedsPasscode(rule(.whenUnlocked)))
    }

    @Test func everyByteOfThePasscodeSlotIsAuthenticated() throws {
        let keychain = try store.open()
        let slot = try #require(keychain.anchor.slots.first)
        for offset in stride(from: 0, to: slot.count, by: 5) {
            var changed = slot
            changed[offset] ^= 1
            #expect(throws: Failure(.storeUnreadable), "byte \(offset)") {
                try PasscodeSlot.open(changed, .typed(Self.first), keychain.tree)
            }
        }
    }

    @Test(.promise("tries.cost"), arguments: [0, 9, 17, 255] as [UInt8])
    func aSlotOfAnUnsupportedCostIsRefusedBeforeStretching(cost: UInt8) throws {
        let keychain = try store.open()
        var slot = try #require(keychain.anchor.slots.first)
        slot[1] = cost
        #expect(throws: Failure(.storeUnreadable)) { try PasscodeSlot.open(slot, .typed(Self.first), keychain.tree) }
    }

    @Test(.promise("tries.cost")) func aSlotOfALowerCostIsReplacedAfterTheRightPasscode() throws {
        let identity = StoreIdentity(tier: .simulated, userID: 1000, passcodeCost: 11)
        let keychain = try store.open(identity)
        #expect(try !keychain.unlock(Self.second))
        #expect(try #require(keychain.anchor.slots.first)[1] == 10)
        #expect(try keychain.unlock(Self.first))
        #expect(try #require(keychain.anchor.slots.first)[1] == 11)
        #expect(try keychain.secret("bound") == "one")
        let reopened = try store.open(identity)
        #expect(try reopened.unlock(Self.first))
        #expect(try reopened.secret("bound") == "one")
    }
}
