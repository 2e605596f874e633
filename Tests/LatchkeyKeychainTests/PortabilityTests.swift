// SPDX-License-Identifier: Apache-2.0

import LatchkeyKeychain
import LatchkeyModel
import LatchkeyPolicy
import LatchkeyService
import TestPromises
import TestSupport
import Testing

/// Access control, group and passcode decide which items may be exported and imported.
@Suite struct PortabilityTests {
    private static let flags: [AccessConstraints] = [
        .userPresence, .biometryAny, .biometryCurrentSet, .devicePasscode, .companion, .or, .and, .privateKeyUsage,
        .applicationPassword,
    ]

    /// Whether an item may be exported according to the table in `docs/reference/backup-format.md`.
    private func leaves(_ rule: AccessControl, isInToken: Bool) -> Bool {
        let migratable: Set<Accessibility> = [.whenUnlocked, .afterFirstUnlock, .always]
        let rules: Set<AccessConstraints> = [
            [], [.userPresence], [.devicePasscode], [.devicePasscode, .or, .companion],
            [.biometryAny, .or, .devicePasscode],
        ]
        return migratable.contains(rule.accessibility) && !isInToken && rules.contains(rule.constraints)
    }

    @Test(.promise("backup.scope")) func exportabilityOfEveryAccessControlMatchesTheDocumentation() {
        var left = 0
        for accessibility in Accessibility.allCases {
            for bits in 0..<(1 << Self.flags.count) {
                let constraints = Self.flags.enumerated().reduce(into: AccessConstraints()) {
                    if bits & (1 << $1.offset) != 0 { $0.formUnion($1.element) }
                }
                let rule = AccessControl(accessibility: accessibility, constraints: constraints)
                guard rule.isValid else { continue }
                for isInToken in [false, true] {
                    let expected = leaves(rule, isInToken: isInToken)
                    #expect((rule.skipReason(isInToken: isInToken) == nil) == expected, "\(rule) \(isInToken)")
                    left += expected ? 1 : 0
                }
            }
        }
        #expect(left == 15, "five rules of three classes")
    }

    @Test func withAPasscodeAPageRequiresItsProof() throws {
        let keychain = try Keychain.inMemory()
        try keychain.add("one")
        try keychain.setPasscode(SecretBytes("1234".utf8))
        let caller = StoreOnDisk.caller
        var other = caller
        other.session += 1
        for proof in [
            Authorisation.none, .testOnly([.biometry], by: caller), .testOnly([.passcode], by: other),
            Authorisation.testOnly([.biometry], by: caller, evaluation: 1).union(.ofPasscode),
        ] where !proof.isOnePasscodeEvaluation || !proof.belongs(to: caller) {
            #expect(
                status { _ = try keychain.page(after: BackupPage.start, caller: caller, proof: proof) }
                    == .itemAuthenticationFailed)
            let item = FoundItem(
                itemClass: .genericPassword, attributes: named("x"), accessControl: AccessControl(), secret: nil)
            #expect(
                status { _ = try keychain.restore(item, caller: caller, proof: proof) } != nil)
        }
        #expect(try keychain.page(after: BackupPage.start, caller: caller, proof: .ofPasscode).items.count == 1)
    }

    /// The tiers `user` and `simulated` export the caller's groups without a passcode; `file` and `tpm` require one.
    @Test(.promise("backup.scope"), arguments: Tier.allCases)
    func withoutAPasscodeTheTiersFileAndTPMRefuseEveryBackup(tier: Tier) throws {
        let store = try StoreOnDisk()
        let identity = StoreIdentity(tier: tier, userID: 1000, account: AccountName("ada"), passcodeCost: 10)
        try store.prepare(identity)
        let keychain = try store.open(identity)
        try keychain.add("mine")
        let caller = StoreOnDisk.caller
        let expected: Status? =
            switch tier {
            case .user, .simulated: nil
            case .file, .tpm: .passcodeNotSet
            }
        var attributes = named("x")
        attributes[.accessGroup] = .text(caller.groups[0])
        let item = FoundItem(
            itemClass: .genericPassword, attributes: attributes, accessControl: AccessControl(),
            secret: SecretBytes([1]))
        #expect(status { _ = try keychain.backupNeedsPasscode(caller) } == expected)
        #expect(status { _ = try keychain.page(after: BackupPage.start, caller: caller, proof: .none) } == expected)
        #expect(status { _ = try keychain.restore(item, caller: caller, proof: .none) } == expected)
        // When a passcode is set, all tiers require it.
        try keychain.setPasscode(SecretBytes("1234".utf8))
        #expect(try keychain.backupNeedsPasscode(caller))
        _ = try keychain.page(after: BackupPage.start, caller: caller, proof: .ofPasscode)
    }

    @Test func withoutAPasscodeOnlyTheCallersGroupsAreExportedAndImported() throws {
        let keychain = try Keychain.inMemory()
        try keychain.add("mine")
        var other = StoreOnDisk.caller
        other.groups = ["elsewhere"]
        let page = try keychain.page(after: BackupPage.start, caller: other, proof: .none)
        #expect(page.items.isEmpty && page.skipped.count == 0)
        let mine = try keychain.page(after: BackupPage.start, caller: StoreOnDisk.caller, proof: .none).items
        #expect(mine.count == 1)
        #expect(try keychain.restore(mine[0], caller: other, proof: .none) == .skipped(.foreignGroup))
        #expect(try keychain.restore(mine[0], caller: StoreOnDisk.caller, proof: .none) == .present)
    }

    private static let groups: [(String, isOfEveryTier: Bool, isOfUserTier: Bool)] = [
        ("notes", true, true), ("org.example.notes", true, true), ("Grüße", true, true), ("/usr/bin/notes", true, true),
        ("user:1000", true, true), ("unit:postgresql.service", true, true), ("a b", true, true),
        (String(repeating: "x", count: 255), true, true),
        ("", false, false), ("com.apple.token", false, false), (String(repeating: "x", count: 256), false, false),
        ("user:1001", false, true), ("user:", false, true), ("user:01000", false, true), ("unit:x", false, true),
        ("/usr/bin/../notes", false, true), ("/usr//notes", false, true), ("/", false, true),
        ("/usr/bin/näh", false, true),
        ("a\u{202e}b", false, true), ("a\nb", false, true),
    ]

    /// No program would find, list or delete an item whose group no app of this user has.
    @Test(.promise("backup.verified"), arguments: Tier.allCases) func anItemOfAGroupThatNoAppCanHaveIsNotImported(
        tier: Tier
    ) throws {
        let store = try StoreOnDisk()
        let identity = StoreIdentity(tier: tier, userID: 1000, account: AccountName("ada"), passcodeCost: 10)
        try store.prepare(identity)
        let keychain = try store.open(identity)
        try keychain.setPasscode(SecretBytes("1234".utf8))
        for (group, isOfEveryTier, isOfUserTier) in Self.groups {
            var attributes = named("x")
            attributes[.accessGroup] = .text(group)
            let item = FoundItem(
                itemClass: .genericPassword, attributes: attributes, accessControl: AccessControl(),
                secret: SecretBytes([1]))
            let isPossible = tier.isOneProcess ? isOfUserTier : isOfEveryTier
            let restored = try keychain.restore(item, caller: StoreOnDisk.caller, proof: .ofPasscode)
            #expect(restored == (isPossible ? .added : .skipped(.impossibleGroup)), "\(tier) \(group.debugDescription)")
        }
    }

    @Test func anItemMovedToANegativePositionIsExported() throws {
        let store = try StoreOnDisk()
        do { try store.open().add("one") }
        try store.execute("UPDATE item SET position = -7")
        let page = try store.open().page(after: BackupPage.start, caller: StoreOnDisk.caller, proof: .none)
        #expect(page.items.count == 1)
    }

    @Test func largeAttributesCountInAPage() throws {
        let keychain = try Keychain.inMemory()
        for number in 0..<40 {
            let request = Request.AddItem(
                attributes: [.account: .text("\(number)"), .generic: .data([UInt8](repeating: 7, count: 60_000))],
                secret: SecretBytes("secret".utf8))
            _ = try keychain.add(request, caller: StoreOnDisk.caller)
        }
        var (position, count): (Int64?, Int) = (BackupPage.start, 0)
        while let after = position {
            let page = try keychain.page(after: after, caller: StoreOnDisk.caller, proof: .none)
            #expect(page.items.reduce(0) { $0 + $1.weight } < Limits.exportedBytes + 100_000)
            count += page.items.count
            position = page.next
        }
        #expect(count == 40)
    }
}

extension Tier {
    fileprivate var isOneProcess: Bool {
        switch self {
        case .user, .simulated: true
        case .file, .tpm: false
        }
    }
}
