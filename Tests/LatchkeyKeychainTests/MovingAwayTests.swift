// SPDX-License-Identifier: Apache-2.0

import LatchkeyKeychain
import LatchkeyModel
import LatchkeyPolicy
import LatchkeyService
import TestSupport
import Testing

/// The items that a user's own store hands over, and those that stay in it.
@Suite struct MovingAwayTests {
    private func page(_ keychain: Keychain, proof: Authorisation = .none) throws(Failure) -> MovingPage {
        try keychain.movingPage(after: BackupPage.start, caller: StoreOnDisk.caller, proof: proof)
    }

    @Test func itemsOfEveryClassAndRuleAreMovedOnTheSameMachine() throws {
        let keychain = try Keychain.inMemory()
        try keychain.setPasscode(SecretBytes("1234".utf8))
        for (number, accessibility) in Accessibility.allCases.enumerated() {
            try keychain.add("plain \(number)", "secret", rule(accessibility))
        }
        for (number, constraints) in [.userPresence, .biometryAny, AccessConstraints.devicePasscode].enumerated() {
            try keychain.add("protected \(number)", "secret", rule(.whenUnlockedThisDeviceOnly, constraints))
        }
        let moved = try page(keychain, proof: .ofPasscode)
        #expect(moved.items.count == Accessibility.allCases.count + 3)
        #expect(moved.items.allSatisfy { $0.secret == SecretBytes("secret".utf8) && $0.accessControl != nil })
        #expect(moved.report == MigrationReport())
    }

    @Test func onlyAProofOfThePasscodeOpensAStoreWithOne() throws {
        let keychain = try Keychain.inMemory()
        try keychain.add("one")
        #expect(try page(keychain).items.count == 1, "without a passcode the user cannot authenticate")
        try keychain.setPasscode(SecretBytes("1234".utf8))
        var other = StoreOnDisk.caller
        other.session += 1
        for proof in [
            Authorisation.none, .testOnly([.biometry], by: StoreOnDisk.caller), .testOnly([.passcode], by: other),
        ] {
            #expect(status { _ = try page(keychain, proof: proof) } == .itemAuthenticationFailed)
        }
    }

    @Test func aReportOpensNoProtectedItemAndPredictsTheMove() throws {
        let keychain = try Keychain.inMemory()
        try keychain.setPasscode(SecretBytes("1234".utf8))
        try keychain.add("plain")
        try keychain.add("protected", "secret", rule(.whenUnlocked, .userPresence))
        try keychain.add("bound", "secret", rule(.whenPasscodeSetThisDeviceOnly))
        let report = try keychain.movingReport()
        #expect(report.moved == 1 && report.rewrapped == 2 && report.remaining.count == 0 && report.lost.count == 0)
        let group = StoreOnDisk.caller.groups[0]
        #expect(report.groups == [MigratedGroup(group: group, target: "", count: 3)])
    }

    @Test func itemsThatNeedMoreThanThePasscodeAreKept() throws {
        let keychain = try Keychain.inMemory()
        _ = try keychain.apply(EnrolmentSet([UInt8](repeating: 1, count: 16)))
        try keychain.add("bound", "secret", rule(.whenUnlocked, .biometryCurrentSet))
        let control = rule(.whenUnlocked, .applicationPassword)
        let request = Request.AddItem(
            attributes: named("password"), accessControl: control, secret: SecretBytes("x".utf8))
        let password = try keychain.appPassword(SecretBytes("app".utf8), toAdd: control)
        _ = try keychain.add(request, caller: StoreOnDisk.caller, password: password)
        for report in [try keychain.movingReport(), try page(keychain).report] {
            #expect(report.remaining.named.map(\.reason) == [.boundToEnrolment, .applicationPassword])
            #expect(report.remaining.named.map(\.account) == ["bound", "password"])
        }
        #expect(try page(keychain).items.isEmpty)
    }

    @Test func anItemOfFingersThatAreNoLongerEnrolledIsLost() throws {
        let keychain = try Keychain.inMemory()
        _ = try keychain.apply(EnrolmentSet([UInt8](repeating: 1, count: 16)))
        try keychain.add("bound", "secret", rule(.whenUnlocked, .biometryCurrentSet))
        _ = try keychain.apply(EnrolmentSet([UInt8](repeating: 2, count: 16)))
        #expect(try keychain.movingReport().lost.named.map(\.reason) == [.invalidated])
        #expect(try page(keychain).report.lost.named.map(\.reason) == [.invalidated])
    }

    @Test(arguments: ["attributes", "secret"]) func aDamagedItemIsLostAndTheOthersAreMoved(column: String) throws {
        let store = try StoreOnDisk()
        do {
            let keychain = try store.open()
            for account in ["one", "two"] { try keychain.add(account) }
        }
        try store.execute("UPDATE item SET \(column) = zeroblob(200) WHERE position = 1")
        let keychain = try store.open()
        let report = try keychain.movingReport()
        #expect(report.moved == 1 && report.lost.named.map(\.reason) == [.unreadable])
        let moved = try page(keychain)
        #expect(moved.items.count == 1 && moved.report.lost.count == 1)
        try keychain.quarantineDamaged()
        #expect(try keychain.movingReport().lost.count == 1 && page(keychain).report.lost.count == 1)
    }

    @Test func aLargeStoreIsMovedInPagesThatFitAFrame() throws {
        let keychain = try Keychain.inMemory()
        let large = String(repeating: "x", count: Limits.secretBytes)
        for number in 0..<3 { try keychain.add("large \(number)", large) }
        for number in 0..<600 { try keychain.add("small \(number)") }
        var (position, count): (Int64?, Int) = (BackupPage.start, 0)
        while let start = position {
            let page = try keychain.movingPage(after: start, caller: StoreOnDisk.caller, proof: .none)
            #expect(page.items.count <= Limits.migratedPageItems)
            #expect(page.items.reduce(0) { $0 + $1.weight } < Limits.frameBytes - 1024)
            count += page.items.count
            position = page.next
        }
        #expect(count == 603)
    }

    @Test func aLockedStoreMovesNothing() throws {
        let keychain = try Keychain.inMemory()
        try keychain.add("one")
        keychain.tree.apply(LockState(isLocked: true, wasUnlocked: true))
        #expect(status { _ = try page(keychain) } == .interactionNotAllowed)
        #expect(status { _ = try keychain.movingReport() } == .interactionNotAllowed)
    }
}
