// SPDX-License-Identifier: Apache-2.0

import LatchkeyKeychain
import LatchkeyModel
import LatchkeyPolicy
import LatchkeySeams
import LatchkeyService
import SQLiteDriver
import SimulatedDriver
import SystemDriver
import TestPromises
import TestSupport
import Testing

/// Items of another store are added in one transaction, each under the rules for its name, date and access control.
@Suite struct ReceivingTests {
    private static let passcode = SecretBytes("1234".utf8)
    private let clock = VirtualClock()
    private let keychain: Keychain

    init() throws {
        keychain = try Keychain.inMemory(clock)
        try keychain.setPasscode(Self.passcode)
    }

    private func item(
        _ account: String, _ secret: String = "secret", _ rule: AccessControl = AccessControl(), group: String = "old",
        modified: Int64? = nil
    ) -> FoundItem {
        var attributes = named(account, group: group)
        if let modified { attributes[.modificationDate] = .date(modified) }
        return FoundItem(
            itemClass: .genericPassword, attributes: attributes, accessControl: rule, secret: SecretBytes(secret.utf8))
    }

    private func held(_ items: [FoundItem]) throws(Failure) -> HeldItems {
        var held = try HeldItems(SystemRandomSource())
        // Several pages, as of a large store.
        for item in items { try held.add([item]) }
        return held
    }

    @discardableResult
    private func receive(_ items: [FoundItem], proof: Authorisation = .ofPasscode) throws(Failure) -> MigrationReport {
        let received = try receive(items, proof: proof, asksIfItemsRemain: false)
        #expect(received.areAdded)
        return received.report
    }

    private func receive(
        _ items: [FoundItem], proof: Authorisation = .ofPasscode, asksIfItemsRemain: Bool
    ) throws(Failure) -> ReceivedItems {
        let group = StoreOnDisk.caller.groups[0]
        return try keychain.receive(
            try held(items), caller: StoreOnDisk.caller, proof: proof, asksIfItemsRemain: asksIfItemsRemain
        ) { _ in group }
    }

    // MARK: - All or nothing

    @Test func aFailedWriteAddsNothing() throws {
        let random = SystemRandomSource()
        let store = RecordingStore(try SQLiteItemStore.inMemory())
        let vault = MemoryKeyVault(rootKey: try random.bytes(32))
        try StoreOnDisk.identity.create(in: store, vault: vault, random: random)
        let keychain = try StoreOnDisk.identity.open(store, vault: vault, clock: clock, random: random)
        try keychain.setPasscode(Self.passcode)
        let items = try held((0..<8).map { item("\($0)") })
        var number = 0
        while true {
            store.fail(at: number)
            let failure = status {
                _ = try keychain.receive(items, caller: StoreOnDisk.caller, proof: .ofPasscode) { $0 }
            }
            store.fail(at: nil)
            guard let failure else { break }
            try #require(failure == .diskFull)
            #expect(try keychain.itemCount() == 0, "write \(number)")
            number += 1
        }
        #expect(try number >= 1 && keychain.itemCount() == 8)
    }

    @Test func oneInvalidItemKeepsTheOthersOut() throws {
        let invalid = item("two", "x", rule(.whenUnlocked, [.userPresence, .devicePasscode]))
        #expect(status { try receive([item("one"), invalid]) } == .invalidParameter)
        #expect(try keychain.itemCount() == 0)
    }

    @Test func anItemWithoutAGroupKeepsTheOthersOut() throws {
        var invalid = item("two")
        invalid.attributes?[.accessGroup] = nil
        #expect(status { try receive([item("one"), invalid]) } == .invalidParameter)
        #expect(try keychain.itemCount() == 0)
    }

    @Test func moreGroupsThanTheLimitAreRefused() throws {
        let items = (0...Limits.migratedGroups).map { item("\($0)", group: "group \($0)") }
        #expect(status { try receive(items) } == .limitExceeded)
        #expect(try keychain.itemCount() == 0)
        #expect(try receive(Array(items.dropLast())).moved == UInt64(Limits.migratedGroups))
    }

    @Test func theStoreIsConsistentAfterwards() throws {
        try receive([item("one"), item("two")])
        clock.advance(seconds: 1)
        try receive([item("one", "new", modified: clock.wallTime), item("three")])
        var check = StoreCheck(keychain)
        var findings: [Finding] = []
        while true {
            let report = try check.next()
            findings += report.findings
            if !report.more { break }
        }
        #expect(findings.isEmpty)
    }

    @Test func itemsThatWaitAreNotInTheClear() throws {
        let residue = SecretBytes("a secret that waits".utf8)
        var waiting = item("one")
        waiting.secret = residue
        let items = try held([waiting])
        let text = String(reflecting: items)
        let bytes = Array(text.utf8)
        let wanted = residue.copyBytes().map(String.init).joined(separator: ", ").utf8
        #expect(!bytes.indices.contains { bytes[$0...].starts(with: wanted) })
        #expect(items.count == 1 && items.weight > residue.count)
    }

    // MARK: - Proof

    @Test(.promise("migration.ticket")) func onlyAProofOfThePasscodeOfTheCallerIsAccepted() throws {
        var other = StoreOnDisk.caller
        other.session += 1
        for proof in [
            Authorisation.none, .testOnly([.biometry], by: StoreOnDisk.caller), .testOnly([.passcode], by: other),
        ] {
            #expect(status { try receive([item("one")], proof: proof) } == .itemAuthenticationFailed)
        }
        #expect(try keychain.itemCount() == 0)
    }

    @Test func aLockedKeychainReceivesNothing() throws {
        keychain.tree.apply(LockState(isLocked: true, wasUnlocked: true))
        #expect(status { try receive([item("one")]) } == .interactionNotAllowed)
    }

    // MARK: - Items with the same primary key

    @Test func anEqualItemIsPresent() throws {
        try receive([item("one")])
        let report = try receive([item("one")])
        #expect(report.present == 1 && report.moved == 0)
        #expect(try keychain.itemCount() == 1)
    }

    /// A program with a ticket that sends guesses, in a migration that asks first and is rolled back, or in one that is not.
    @Test(.promise("migration.reply"), arguments: [-1, 0, 1], [true, false])
    func theReportTellsNothingAboutASecretOrTheContentsOfAnItem(later: Int64, asks: Bool) throws {
        let date = clock.wallTime - 10
        let rules = [AccessControl(), rule(.whenUnlocked, .userPresence), rule(.whenUnlocked, .devicePasscode)]
        var reports: [MigrationReport] = []
        var differing = item("one", "secret", modified: date + later)
        differing.attributes?[.comment] = .text("a guess")
        let guesses = [
            item("one", "secret", modified: date + later), item("one", "Secret", modified: date + later),
            item("one", "", modified: date + later), item("one", "secret 2", modified: date + later), differing,
        ]
        for guess in guesses {
            for control in rules {
                let other = try ReceivingTests()
                other.clock.advance(seconds: 20)
                var mine = item("one", "secret", control, modified: date)
                mine.attributes?[.comment] = .text("mine")
                try other.receive([mine])
                var guess = guess
                guess.accessControl = rules[0]
                // The second item of one name makes a migration that asks add nothing.
                let received = try other.receive(
                    [guess, item("twice", group: "a"), item("twice", group: "b")], asksIfItemsRemain: asks)
                #expect(received.areAdded != asks)
                reports.append(received.report)
            }
        }
        #expect(reports.allSatisfy { $0 == reports[0] })
        #expect(reports[0].present == (later == 0 ? 1 : 0))
    }

    @Test func withEqualDatesTheItemOfThisKeychainRemains() throws {
        let date = clock.wallTime - 10
        try receive([item("one", "mine", modified: date)])
        let report = try receive([item("one", "theirs", modified: date)])
        #expect(report.present == 1 && report.moved == 0 && report.remaining.count == 0)
        #expect(try keychain.secret("one") == "mine")
    }

    @Test func ofTwoItemsTheOneModifiedLaterRemains() throws {
        let now = clock.wallTime
        try receive([item("one", "old", modified: now - 10), item("two", "new", modified: now - 10)])
        let report = try receive([item("one", "new", modified: now - 5), item("two", "old", modified: now - 15)])
        #expect(report.moved == 1 && report.replaced.named.map(\.account) == ["one"])
        #expect(
            report.remaining.named.map(\.account) == ["two"] && report.remaining.named.map(\.reason) == [.newerThere])
        #expect(try keychain.secret("one") == "new" && keychain.secret("two") == "new")
    }

    @Test func aReplacedItemThatNeededFewerKeysLeavesAnOldCopyToErase() throws {
        let now = clock.wallTime
        try receive([item("one", "old", modified: now - 10)])
        var stricter = item("one", "new", modified: now - 5)
        stricter.accessControl = rule(.whenUnlocked, .devicePasscode)
        #expect(!keychain.hasOldCopies)
        #expect(try receive([stricter]).replaced.count == 1)
        #expect(keychain.hasOldCopies)
    }

    @Test func aDateInTheFutureCountsAsNow() throws {
        try keychain.add("one", "mine")
        let report = try receive([item("one", "theirs", modified: clock.wallTime + 1_000_000_000)])
        #expect(report.present == 1 && report.moved == 0)
        #expect(try keychain.secret("one") == "mine")
    }

    @Test func twoItemsThatGetOneNameAreNotMixed() throws {
        let report = try receive([item("one", "first", group: "a"), item("one", "second", group: "b")])
        #expect(report.moved == 1 && report.remaining.named.map(\.reason) == [.nameTaken])
        #expect(report.remaining.named.map(\.group) == ["b"])
        #expect(try keychain.secret("one") == "first")
    }

    @Test func anItemUnderAnApplicationPasswordIsNeverReplaced() throws {
        let plain = SecretBytes("app".utf8)
        let control = rule(.whenUnlocked, [.applicationPassword])
        let request = Request.AddItem(
            attributes: named("one"), accessControl: control, secret: SecretBytes("mine".utf8))
        let password = try keychain.appPassword(plain, toAdd: control)
        _ = try keychain.add(request, caller: StoreOnDisk.caller, password: password)
        let report = try receive([item("one", "theirs", modified: clock.wallTime)])
        #expect(report.remaining.named.map(\.reason) == [.irreplaceableThere])
    }

    @Test func aMigrationThatAsksAddsNothingIfAnItemWouldBeKept() throws {
        try receive([item("old", "mine", modified: clock.wallTime - 5)])
        let items = [
            item("new"), item("old", "theirs", modified: clock.wallTime - 10), item("twice", "1", group: "a"),
            item("twice", "2", group: "b"),
        ]
        let asked = try receive(items, asksIfItemsRemain: true)
        #expect(!asked.areAdded)
        #expect(asked.report.remaining.named.map(\.reason) == [.newerThere, .nameTaken])
        #expect(try keychain.itemCount() == 1)
        let added = try receive(items, asksIfItemsRemain: false)
        #expect(added.areAdded && added.report == asked.report)
        #expect(try keychain.itemCount() == 3)
        // The log is intact after the transaction that was rolled back.
        #expect(try keychain.log(Request.Log(after: 0, limit: 1024, verifies: true)).finding == nil)
    }

    @Test func aMigrationThatAsksAddsItsItemsIfNoneWouldBeKept() throws {
        let received = try receive([item("one"), item("two")], asksIfItemsRemain: true)
        #expect(received.areAdded && received.report.moved == 2)
        #expect(try keychain.itemCount() == 2)
    }

    // MARK: - Items that another store must not send

    @Test func itemsThatCannotBeMovedAreKept() throws {
        var key = item("key")
        key.itemClass = .key
        key.attributes = [.accessGroup: .text("old"), .tokenID: .text(Keychain.enclaveToken), .publicKey: .data([4])]
        let bound = item("bound", "x", rule(.whenUnlocked, [.biometryCurrentSet]))
        let password = item("password", "x", rule(.whenUnlocked, [.applicationPassword]))
        let report = try receive([key, bound, password])
        #expect(report.remaining.named.map(\.reason) == [.inToken, .boundToEnrolment, .applicationPassword])
        #expect(try keychain.itemCount() == 0)
    }

    @Test func itemsOfThePasscodeClassAreSealedUnderThePasscodeHere() throws {
        let report = try receive([item("one", "hidden", rule(.whenPasscodeSetThisDeviceOnly))])
        #expect(report.rewrapped == 1 && report.moved == 0)
        keychain.tree.apply(LockState(isLocked: true, wasUnlocked: true))
        keychain.tree.apply(LockState())
        #expect(try keychain.secret("one") == nil, "it needs the passcode")
        #expect(try keychain.unlock(Self.passcode) && keychain.secret("one") == "hidden")
    }
}
