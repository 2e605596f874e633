// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
import LatchkeyModel
import LatchkeyPolicy
import TestSupport
import Testing

@testable import LatchkeyKeychain

/// An item that a match of the current enrolment set or the passcode opens is sealed twice, so that the way of the passcode
/// remains when the enrolment set changes (behaviour AC-02).
@Suite struct PasscodeBesideBiometryTests {
    private static let passcode = PasscodeSealingTests.passcode
    private static let first = PasscodeSealingTests.set
    private static let second = EnrolmentSet([UInt8](repeating: 2, count: 16))
    private static func match(of set: EnrolmentSet) -> Authorisation {
        .testOnly([.biometry], enrolment: set, by: StoreOnDisk.caller)
    }
    private static let either: AccessConstraints = [.biometryCurrentSet, .devicePasscode, .or]
    static let classes: [Accessibility] = [.whenUnlocked, .whenPasscodeSetThisDeviceOnly]
    private let store: StoreOnDisk

    init() throws {
        store = try StoreOnDisk()
        let keychain = try store.open()
        _ = try keychain.apply(Self.first)
        try keychain.setPasscode(Self.passcode)
        for accessibility in Self.classes {
            try keychain.add("\(accessibility)", "secret", rule(accessibility, Self.either))
        }
    }

    /// A keychain whose passcode was not entered, after the enrolment set has changed.
    private func changed() throws -> Keychain {
        let keychain = try store.open()
        _ = try keychain.apply(Self.second)
        return keychain
    }

    @Test func aMatchOfTheSetOpensItWithoutThePasscode() throws {
        let keychain = try store.open()
        #expect(try keychain.secret("whenUnlocked", proof: Self.match(of: Self.first)) == "secret")
        #expect(!keychain.tree.holdsPasscodeKey)
    }

    @Test(arguments: classes)
    func thePasscodeOpensItAfterTheSetHasChanged_AC02(accessibility: Accessibility) throws {
        let keychain = try changed()
        #expect(try keychain.unlock(Self.passcode))
        #expect(try keychain.secret("\(accessibility)", proof: .ofPasscode) == "secret")
    }

    @Test(arguments: [first, second])
    func noMatchOpensItAfterTheSetHasChanged_AC03(set: EnrolmentSet) throws {
        let keychain = try changed()
        #expect(try keychain.unlock(Self.passcode))
        #expect(try keychain.secret("whenUnlocked", proof: Self.match(of: set)) == nil)
    }

    @Test func thePlanAfterTheSetHasChangedIsThePasscodeAlone() throws {
        let request = Request.CopyItems(.account("whenUnlocked"))
        let result = try changed().search(
            request, caller: StoreOnDisk.caller, proof: Self.match(of: Self.second), used: { _ in }, emit: { _ in })
        #expect(result == .needs(AuthenticationPlan([[.passcode]])))
    }

    @Test func itStillBlocksAnotherItemOfItsNameAfterTheSetHasChanged_AC04() throws {
        let keychain = try changed()
        #expect(status { try keychain.add("whenUnlocked") } == .duplicateItem)
    }

    @Test func anUpdateKeepsItUnreadableForTheNewSet_AC03() throws {
        let keychain = try changed()
        #expect(try keychain.unlock(Self.passcode))
        #expect(try keychain.update(.account("whenUnlocked"), secret: "new", proof: .ofPasscode) == .finished)
        #expect(try keychain.secret("whenUnlocked", proof: Self.match(of: Self.second)) == nil)
        #expect(try keychain.secret("whenUnlocked", proof: .ofPasscode) == "new")
        #expect(try keychain.findings() == [])
    }

    @Test func anUpdateOfTheRuleBindsItToTheNewSet() throws {
        let keychain = try changed()
        #expect(try keychain.unlock(Self.passcode))
        let control = rule(.whenUnlocked, Self.either)
        #expect(try keychain.update(.account("whenUnlocked"), rule: control, proof: .ofPasscode) == .finished)
        #expect(try keychain.secret("whenUnlocked", proof: Self.match(of: Self.second)) == "secret")
    }

    @Test func theNextPasscodeOpensItAfterSetAndPasscodeWereReplaced() throws {
        let second = SecretBytes("second".utf8)
        do {
            let keychain = try changed()
            #expect(try keychain.unlock(Self.passcode))
            try keychain.removePasscode(caller: StoreOnDisk.caller, proof: .ofPasscode)
            #expect(try keychain.secret("whenUnlocked", proof: Self.match(of: Self.second)) == nil)
            #expect(try keychain.findings() == [])
            try keychain.setPasscode(second)
            #expect(try keychain.secret("whenUnlocked", proof: .ofPasscode) == "secret", "sealed a moment later")
            #expect(!keychain.hasOldCopies)
            try keychain.sealForPasscode()
            #expect(keychain.hasOldCopies, "the row from before needs no passcode")
        }
        let keychain = try store.open()
        #expect(try keychain.secret("whenUnlocked", proof: .ofPasscode) == nil)
        #expect(try keychain.unlock(second))
        #expect(try keychain.secret("whenUnlocked", proof: .ofPasscode) == "secret")
        #expect(try keychain.secret("whenUnlocked", proof: Self.match(of: Self.second)) == nil)
        #expect(try keychain.findings() == [])
    }

    @Test func anItemWithoutDataStaysWhenTheSetChanges_AC02() throws {
        do {
            let keychain = try store.open()
            try keychain.add("no data", nil, rule(.whenUnlocked, Self.either))
        }
        let keychain = try changed()
        #expect(try keychain.unlock(Self.passcode))
        #expect(try keychain.find(.account("no data"), proof: .ofPasscode, returns: .attributes)?.count == 1)
    }

    @Test func removingThePasscodeKeepsItForTheSet() throws {
        do {
            let keychain = try store.open()
            #expect(try keychain.unlock(Self.passcode))
            try keychain.removePasscode(caller: StoreOnDisk.caller, proof: .ofPasscode)
        }
        let keychain = try store.open()
        #expect(try keychain.secret("whenUnlocked", proof: Self.match(of: Self.first)) == "secret")
    }

    @Test func everyByteOfBothWaysIsChecked() throws {
        let keychain = try store.open()
        #expect(try keychain.unlock(Self.passcode))
        let row = try store.rows()[0]
        var item = try keychain.envelopes.openAttributes(row)
        #expect(row.secret?.first == RowKeyForm.both.rawValue)
        for offset in row.secret.map({ Array($0.indices) }) ?? [] {
            var changed = row
            changed.secret?[offset] ^= 1
            // As if the attributes had the hash of the changed bytes, so that the seals alone show the change.
            item.secretHash = try changed.secret.map(SHA256.hash)
            #expect(throws: Failure(.storeUnreadable), "byte \(offset)") {
                try keychain.envelopes.checkSecret(changed, item, opensProtected: true)
            }
            // Also in the way that is not used.
            #expect(throws: Failure(.storeUnreadable), "byte \(offset)") {
                try keychain.envelopes.openSecret(changed, item)
            }
        }
    }

    // MARK: - With an application password

    /// Adds an item that a match or the passcode opens, together with an application password.
    private func addWithApplicationPassword(to keychain: Keychain) throws {
        let control = rule(.whenUnlocked, Self.either.union(.applicationPassword))
        let request = Request.AddItem(
            attributes: named("both"), accessControl: control, secret: SecretBytes("secret".utf8))
        let password = try keychain.appPassword(SecretBytes("app".utf8), toAdd: control)
        _ = try keychain.add(request, caller: StoreOnDisk.caller, password: password)
    }

    /// Removing a passcode cannot seal such an item again, so its copy for the passcode ends.
    @Test(arguments: [false, true])
    func itIsInvalidatedWhenSetAndPasscodeAreGone_AC04(setChangesFirst: Bool) throws {
        let keychain = try store.open()
        try addWithApplicationPassword(to: keychain)
        #expect(try keychain.unlock(Self.passcode))
        if setChangesFirst { _ = try keychain.apply(Self.second) }
        try keychain.removePasscode(caller: StoreOnDisk.caller, proof: .ofPasscode)
        if !setChangesFirst { _ = try keychain.apply(Self.second) }
        try keychain.setPasscode(SecretBytes("second".utf8))
        try keychain.sealForPasscode()
        #expect(status { _ = try keychain.find(.account("both")) } == .itemNotFound, "nothing is asked")
        #expect(try keychain.findings() == [], "it is no damage")
        try keychain.add("both", "new")
        #expect(try keychain.secret("both") == "new")
    }
}
