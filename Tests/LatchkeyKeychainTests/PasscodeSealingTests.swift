// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
import LatchkeyModel
import LatchkeyPolicy
import TestPromises
import TestSupport
import Testing

@testable import LatchkeyKeychain

/// A secret whose every way of use contains the passcode is sealed for the passcode's key pair: who has the root key and
/// all files, but not the passcode, cannot open it (decision 042).
@Suite struct PasscodeSealingTests {
    static let passcode = SecretBytes("first".utf8)
    static let set = EnrolmentSet([UInt8](repeating: 1, count: 16))
    static let both = Authorisation.testOnly([.passcode, .biometry], enrolment: set, by: StoreOnDisk.caller)
    static let always: [AccessConstraints] = [
        .devicePasscode, [.devicePasscode, .biometryAny, .and], [.devicePasscode, .biometryCurrentSet, .and],
        [.devicePasscode, .or],
    ]
    private let store: StoreOnDisk

    init() throws {
        store = try StoreOnDisk()
        let keychain = try store.open()
        _ = try keychain.apply(Self.set)
        try keychain.setPasscode(Self.passcode)
    }

    /// Adds an item as a program does after a restart, when no passcode was entered.
    private func addWithoutPasscode(_ constraints: AccessConstraints) throws {
        let keychain = try store.open()
        #expect(!keychain.tree.holdsPasscodeKey)
        #expect(try !keychain.addNeedsPasscode(rule(.whenUnlocked, constraints)))
        try keychain.add("item", "secret", rule(.whenUnlocked, constraints))
        #expect(!keychain.tree.holdsPasscodeKey)
    }

    /// Adds an item that needs the passcode and an application password.
    private func addWithApplicationPassword(to keychain: Keychain) throws {
        let rule = rule(.whenUnlocked, [.devicePasscode, .applicationPassword])
        let request = Request.AddItem(
            attributes: named("both"), accessControl: rule, secret: SecretBytes("secret".utf8))
        let password = try keychain.appPassword(SecretBytes("app".utf8), toAdd: rule)
        _ = try keychain.add(request, caller: StoreOnDisk.caller, password: password)
    }

    @Test(.promise("sealing.passcode"), arguments: always)
    func addingNeedsNoPasscodeAndReadingDoes_AC05(constraints: AccessConstraints) throws {
        try addWithoutPasscode(constraints)
        let keychain = try store.open()
        #expect(try keychain.secret("item", proof: Self.both) == nil, "the proofs alone do not open it")
        let row = try store.rows()[0]
        let item = try keychain.envelopes.openAttributes(row)
        #expect(throws: Failure(.interactionNotAllowed)) { try keychain.envelopes.openSecret(row, item) }
        #expect(try keychain.unlock(Self.passcode))
        #expect(try keychain.secret("item", proof: Self.both) == "secret")
        #expect(try keychain.secret("item") == nil, "the key alone does not open it")
    }

    @Test(arguments: [[], .userPresence, .biometryAny, [.biometryAny, .devicePasscode, .or]] as [AccessConstraints])
    func whatAFingerOrNothingOpensIsNotSealedForThePasscode(constraints: AccessConstraints) throws {
        try addWithoutPasscode(constraints)
        #expect(try store.open().secret("item", proof: Self.both) == "secret")
    }

    @Test func aRequestWithoutThePasscodeKeyAsksForThePasscode() throws {
        try addWithoutPasscode([.devicePasscode, .biometryAny, .and])
        let request = Request.CopyItems(.account("item"))
        let result = try store.open().search(
            request, caller: StoreOnDisk.caller, proof: Self.both, used: { _ in }, emit: { _ in })
        #expect(result == .needs(AuthenticationPlan([[.passcode]])))
    }

    @Test func addingReturnsTheSecretWithoutThePasscode_AC05() throws {
        let found = try store.open().add("item", "secret", rule(.whenUnlocked, .devicePasscode), returns: .data)
        #expect(found?.secret == SecretBytes("secret".utf8))
    }

    @Test func lockingClosesTheItem() throws {
        try addWithoutPasscode(.devicePasscode)
        let keychain = try store.open()
        #expect(try keychain.unlock(Self.passcode))
        #expect(try keychain.secret("item", proof: Self.both) == "secret")
        keychain.tree.apply(LockState(isLocked: true, wasUnlocked: true))
        keychain.tree.apply(LockState(isLocked: false, wasUnlocked: true))
        #expect(try keychain.secret("item", proof: Self.both) == nil)
    }

    @Test(arguments: always)
    func aChangeOfThePasscodeKeepsTheItem(constraints: AccessConstraints) throws {
        try addWithoutPasscode(constraints)
        let second = SecretBytes("second".utf8)
        do {
            let keychain = try store.open()
            #expect(try keychain.unlock(Self.passcode))
            try keychain.changePasscode(to: second)
        }
        let keychain = try store.open()
        #expect(try keychain.unlock(second))
        #expect(try keychain.secret("item", proof: Self.both) == "secret")
    }

    @Test func anUpdateWithoutThePasscodeKeyAsksForThePasscode_AC11() throws {
        try addWithoutPasscode(.devicePasscode)
        let keychain = try store.open()
        let asked = try keychain.update(.account("item"), secret: "new", proof: Self.both)
        #expect(asked == .needs(AuthenticationPlan([[.passcode]])))
        #expect(try keychain.unlock(Self.passcode))
        #expect(try keychain.update(.account("item"), secret: "new", proof: Self.both) == .finished)
        #expect(try keychain.secret("item", proof: Self.both) == "new")
    }

    @Test func anUpdateToAWeakerRuleSealsWithoutThePasscode() throws {
        try addWithoutPasscode(.devicePasscode)
        do {
            let keychain = try store.open()
            #expect(try keychain.unlock(Self.passcode))
            _ = try keychain.update(.account("item"), rule: rule(.whenUnlocked, .userPresence), proof: Self.both)
        }
        #expect(try store.open().secret("item", proof: Self.both) == "secret")
    }

    // MARK: - Setting and removing a passcode

    @Test func removingThePasscodeLosesNothingThatCanBeSealedWithoutIt() throws {
        for (number, constraints) in Self.always.enumerated() {
            try store.open().add("item \(number)", "secret", rule(.whenUnlocked, constraints))
        }
        let second = SecretBytes("second".utf8)
        do {
            let keychain = try store.open()
            #expect(try keychain.unlock(Self.passcode))
            try keychain.removePasscode(caller: StoreOnDisk.caller, proof: .ofPasscode)
            #expect(keychain.anchor.passcodeKey == nil)
            try keychain.setPasscode(second)
            try keychain.sealForPasscode()
        }
        let keychain = try store.open()
        for number in Self.always.indices {
            #expect(try keychain.secret("item \(number)", proof: Self.both) == nil, "sealed for the new passcode")
        }
        #expect(try keychain.unlock(second))
        for number in Self.always.indices {
            #expect(try keychain.secret("item \(number)", proof: Self.both) == "secret")
        }
    }

    @Test func thePasscodeCannotBeRemovedWithoutTheKeyThatOpensItsItems() throws {
        try addWithoutPasscode(.devicePasscode)
        let keychain = try store.open()
        #expect(throws: Failure(.interactionNotAllowed)) {
            try keychain.removePasscode(caller: StoreOnDisk.caller, proof: .ofPasscode)
        }
        #expect(keychain.isPasscodeSet)
        #expect(try keychain.unlock(Self.passcode))
        #expect(try keychain.secret("item", proof: Self.both) == "secret")
    }

    @Test func removingThePasscodeDeletesWhatAlsoNeedsAnApplicationPassword() throws {
        let keychain = try store.open()
        try addWithApplicationPassword(to: keychain)
        #expect(try keychain.unlock(Self.passcode))
        try keychain.removePasscode(caller: StoreOnDisk.caller, proof: .ofPasscode)
        #expect(try keychain.itemCount() == 0)
    }

    @Test func settingAPasscodeSealsTheItemsThatWereAddedBefore() throws {
        let store = try StoreOnDisk()
        do {
            let keychain = try store.open()
            try keychain.add("item", "secret", rule(.whenUnlocked, .devicePasscode))
            #expect(try store.rows()[0].secret?.first == RowKeyForm.plain.rawValue)
            try keychain.setPasscode(Self.passcode)
            try keychain.sealForPasscode()
            #expect(try store.rows()[0].secret?.first == RowKeyForm.passcode.rawValue)
        }
        let keychain = try store.open()
        #expect(try keychain.secret("item", proof: Self.both) == nil)
        #expect(try keychain.unlock(Self.passcode))
        #expect(try keychain.secret("item", proof: Self.both) == "secret")
        let findings = try keychain.findings()
        #expect(findings.isEmpty, "\(findings)")
    }

    // MARK: - Files that were changed

    @Test func everyByteOfTheEnvelopeIsAuthenticated() throws {
        try addWithoutPasscode(.devicePasscode)
        let keychain = try store.open()
        #expect(try keychain.unlock(Self.passcode))
        let row = try store.rows()[0]
        var item = try keychain.envelopes.openAttributes(row)
        for offset in row.secret.map({ Array($0.indices) }) ?? [] {
            var changed = row
            changed.secret?[offset] ^= 1
            // As if the attributes had the hash of the changed bytes, so that the seals alone show the change.
            item.secretHash = try changed.secret.map(SHA256.hash)
            #expect(throws: Failure(.storeUnreadable), "byte \(offset)") {
                try keychain.envelopes.openSecret(changed, item)
            }
            #expect(throws: Failure(.storeUnreadable), "byte \(offset)") {
                try keychain.envelopes.checkSecret(changed, item, opensProtected: true)
            }
        }
    }

    @Test func anItemOfBothNeedsTheKeyOfItsEnrolmentSetToo_AC03() throws {
        try addWithoutPasscode([.devicePasscode, .biometryCurrentSet, .and])
        let keychain = try store.open()
        #expect(try keychain.unlock(Self.passcode))
        let row = try store.rows()[0]
        let item = try keychain.envelopes.openAttributes(row)
        #expect(try keychain.envelopes.openSecret(row, item) == SecretBytes("secret".utf8))
        _ = try keychain.apply(EnrolmentSet([9]))
        #expect(throws: Failure(.storeUnreadable)) { try keychain.envelopes.openSecret(row, item) }
    }

    @Test func anEnvelopeOfAnotherFormIsRefused() throws {
        try addWithoutPasscode(.devicePasscode)
        let keychain = try store.open()
        #expect(try keychain.unlock(Self.passcode))
        let row = try store.rows()[0]
        var item = try keychain.envelopes.openAttributes(row)
        #expect(keychain.envelopes.form(row.secret ?? [], of: item) == .passcode)
        item.wrapping = .root
        #expect(keychain.envelopes.form(row.secret ?? [], of: item) == nil, "the attributes say that it is plain")
        for form in [0, 4, 255] as [UInt8] {
            var changed = row
            changed.secret?[0] = form
            #expect(keychain.envelopes.form(changed.secret ?? [], of: item) == nil)
        }
    }

    @Test(.promise("sealing.public-key")) func aPublicKeyThatIsNotOfThePasscodeIsRefusedWithTheRightPasscode() throws {
        let keychain = try store.open()
        let planted = try PasscodePair(KeyTree.key(SecretBytes([UInt8](repeating: 7, count: 32)))).publicKey
        try keychain.carryOut(.lockedOut, .lockedOut, caller: nil) { $0.passcodeKey = planted }
        #expect(throws: Failure(.storeUnreadable)) { try keychain.unlock(Self.passcode) }
        #expect(!keychain.tree.holdsPasscodeKey)
        let slotKey = try keychain.stretched(Self.passcode)
        #expect(throws: Failure.self) {
            try keychain.recoverPasscode(
                to: .stretched(slotKey), with: [slotKey.key.secret], caller: StoreOnDisk.caller)
        }
    }

    @Test(.promise("sealing.public-key")) func anAnchorWithoutThePublicKeyIsRefused() throws {
        let keychain = try store.open()
        var record = try #require(keychain.anchor.record)
        record.contents.passcodeKey = nil
        let nonce = [UInt8](repeating: 0, count: 12)
        let file = try record.encoded(keychain.tree.anchorKey, keychain.tree.header, nonce: nonce)
        #expect(try AnchorRecord.decode(file, keychain.tree.anchorKey, keychain.tree.header) == nil)
    }

    @Test func anItemOfAnApplicationPasswordThatIsOlderThanThePasscodeRemains() throws {
        let store = try StoreOnDisk()
        let keychain = try store.open()
        try addWithApplicationPassword(to: keychain)
        try keychain.setPasscode(Self.passcode)
        try keychain.sealForPasscode()
        try keychain.removePasscode(caller: StoreOnDisk.caller, proof: .ofPasscode)
        #expect(try keychain.itemCount() == 1)
    }

    @Test func sealingGoesOnAfterTheClassWasLocked() throws {
        let store = try StoreOnDisk()
        let keychain = try store.open()
        try keychain.add("item", "secret", rule(.whenUnlocked, .devicePasscode))
        keychain.tree.apply(LockState(isLocked: true, wasUnlocked: true))
        try keychain.setPasscode(Self.passcode)
        try keychain.sealForPasscode()
        #expect(try store.rows()[0].secret?.first == RowKeyForm.plain.rawValue)
        keychain.tree.apply(LockState(isLocked: false, wasUnlocked: true))
        try keychain.sealForPasscode()
        #expect(try store.rows()[0].secret?.first == RowKeyForm.passcode.rawValue)
    }

    @Test func manyItemsAreSealedInSlices() throws {
        let store = try StoreOnDisk()
        let keychain = try store.open()
        for number in 0..<70 { try keychain.add("item \(number)", "secret", rule(.whenUnlocked, .devicePasscode)) }
        try keychain.setPasscode(Self.passcode)
        #expect(try keychain.sealForPasscode(after: .min) { _ in false } != nil, "other requests are served in between")
        try keychain.sealForPasscode()
        #expect(try store.rows().allSatisfy { $0.secret?.first == RowKeyForm.passcode.rawValue })
        #expect(try keychain.findings() == [])
    }
}
