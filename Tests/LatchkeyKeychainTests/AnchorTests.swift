// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyModel
import LatchkeyPolicy
import LatchkeySeams
import LatchkeyService
import LatchkeySystem
import SQLiteDriver
import Synchronization
import SystemDriver
import TestPromises
import TestSupport
import Testing

@testable import LatchkeyKeychain

/// A security event is written in the order P (prepared anchor), C (commit in the database), F (finished anchor).
/// Each test opens the store with the files as they were when the daemon was killed at one of these points.
@Suite struct AnchorTests {
    /// Where the daemon is killed.
    enum Point: CaseIterable, Sendable { case beforePreparation, beforeCommit, beforeFinish, afterFinish }

    enum Event: CaseIterable, Sendable {
        case setPasscode, changePasscode, removePasscode, enrolment, lockout, discard, move

        func callAsFunction(_ keychain: Keychain) throws(Failure) {
            switch self {
            case .setPasscode: try keychain.setPasscode(AnchorTests.new)
            case .changePasscode: try keychain.changePasscode(to: AnchorTests.new)
            case .removePasscode: try keychain.removePasscode(caller: StoreOnDisk.caller, proof: .ofPasscode)
            case .enrolment: _ = try keychain.apply(AnchorTests.second)
            case .lockout: try keychain.recordLockout(caller: nil)
            case .discard: try keychain.discardProtected(caller: StoreOnDisk.caller, proof: .ofPasscode)
            case .move: try keychain.moveAnchor(isTimed: false)
            }
        }
    }

    private static let old = SecretBytes("1234".utf8)
    private static let new = SecretBytes("4321".utf8)
    private static let first = EnrolmentSet([1])
    private static let second = EnrolmentSet([2])
    private static let match = Authorisation.testOnly(
        [.biometry, .passcode], enrolment: first, by: StoreOnDisk.caller)
    private let store: StoreOnDisk

    init() throws { store = try StoreOnDisk() }

    /// Fills the store with one item of each kind, and sets a passcode unless the event sets the first one.
    private func fill(for event: Event) throws {
        let keychain = try store.open()
        _ = try keychain.apply(Self.first)
        if event != .setPasscode {
            try keychain.setPasscode(Self.old)
            try keychain.add("passcode", "three", rule(.whenPasscodeSetThisDeviceOnly))
        }
        try keychain.add("bound", "one", rule(.whenUnlocked, .biometryCurrentSet))
        try keychain.add("free", "four")
    }

    /// Returns the files at each point of an event.
    private func files(_ event: Event) throws -> [Point: [String: Data]] {
        try fill(for: event)
        let copies = Recorder<[String: Data]>()
        let store = store
        let vault = CopyingVault(FileKeyVault(store.folder)) {
            let files = (try? store.files()) ?? [:]
            copies.add(files)
        }
        let keychain = try StoreOnDisk.identity.open(
            SQLiteItemStore.open(store.folder.database), vault: vault, clock: store.clock, random: store.random)
        if event != .setPasscode { #expect(try keychain.unlock(Self.old)) }
        try event(keychain)
        let made = copies.all
        // The files are copied before and after each of the two writes of the anchor.
        try #require(made.count == 4, "P and F write the anchor")
        return Dictionary(uniqueKeysWithValues: zip(Point.allCases, made))
    }

    @Test(.promise("event.atomic"), arguments: Event.allCases, Point.allCases)
    func anEventIsCompleteOrAbsentAfterAKill_abuse35(event: Event, point: Point) throws {
        try store.restore(try #require(try files(event)[point]))
        let keychain = try store.open()
        #expect(keychain.anchor.condition == .clean)
        #expect(keychain.anchor.record?.preparation == nil)
        let happened = point == .beforeFinish || point == .afterFinish
        let rows = try store.rows().count
        switch event {
        case .setPasscode: #expect(keychain.isPasscodeSet == happened)
        case .changePasscode: #expect(try keychain.unlock(Self.new) == happened)
        case .removePasscode:
            #expect(keychain.isPasscodeSet == !happened)
            #expect(rows == (happened ? 2 : 3), "removing the passcode deletes the items of its class")
        case .enrolment: #expect(keychain.anchor.set == (happened ? Self.second : Self.first))
        case .discard:
            #expect(keychain.isPasscodeSet == !happened)
            #expect(rows == (happened ? 1 : 3))
        case .lockout, .move: #expect(rows == 3)
        }
        #expect(try keychain.secret("free") == "four")
        #expect(try keychain.findings() == [])
        // The next event succeeds, so nothing is unfinished.
        try keychain.moveAnchor(isTimed: false)
        #expect(try store.open().anchor.condition == .clean)
    }

    @Test(.promise("event.unfinished")) func afterAnInterruptedChangeBothPasscodesOpenUntilOneIsEntered() throws {
        try store.restore(try #require(try files(.changePasscode)[.beforeFinish]))
        let files = try store.files()
        for (right, other) in [(Self.old, Self.new), (Self.new, Self.old)] {
            try store.restore(files)
            do { #expect(try store.open().unlock(right)) }
            let keychain = try store.open()
            #expect(try !keychain.unlock(other))
            #expect(try keychain.unlock(right))
            #expect(try keychain.secret("passcode") == "three")
        }
    }

    @Test func onlyAFinishedChangeOfThePasscodeDropsTheOldSlot() throws {
        try store.restore(try #require(try files(.changePasscode)[.afterFinish]))
        #expect(try !store.open().unlock(Self.old))
    }

    // MARK: - Enrolment generation and store generation

    @Test(.promise("rollback.events"), arguments: [Event.changePasscode, .lockout, .move])
    func boundItemsSurviveEveryEventExceptAnEnrolmentChange(event: Event) throws {
        try fill(for: event)
        let keychain = try store.open()
        #expect(try keychain.unlock(Self.old))
        let generation = keychain.anchor.enrolmentGeneration
        let committed = try #require(keychain.anchor.record?.committed)
        try event(keychain)
        #expect(keychain.anchor.enrolmentGeneration == generation)
        #expect(keychain.anchor.record?.committed == committed + 1)
        #expect(try keychain.secret("bound", proof: Self.match) == "one")
        let reopened = try store.open()
        #expect(try reopened.secret("bound", proof: Self.match) == "one")
    }

    // MARK: - Databases and anchors of different times

    /// Returns the files before and after an event.
    private func generations(_ event: Event) throws -> (before: [String: Data], after: [String: Data]) {
        try fill(for: event)
        let before = try store.files()
        do {
            let keychain = try store.open()
            if event != .setPasscode { #expect(try keychain.unlock(Self.old)) }
            try event(keychain)
        }
        return (before, try store.files())
    }

    @Test(.promise("rollback.refused", "abuse.29"), arguments: Event.allCases)
    func anOlderDatabaseIsRefusedUntilItIsAccepted_abuse29(event: Event) throws {
        let (before, after) = try generations(event)
        var mixed = before
        for name in ["anchor", "counters"] { mixed[name] = after[name] }
        try store.restore(mixed)
        let keychain = try store.open()
        #expect(keychain.anchor.condition == .rolledBack)
        #expect(status { _ = try keychain.secret("free") } == .storeRolledBack)
        #expect(status { try keychain.add("new") } == .storeRolledBack)
        #expect(status { try keychain.setPasscode(Self.new) } == .storeRolledBack)
        if event == .changePasscode { #expect(try !keychain.unlock(Self.old), "the old passcode opens nothing") }
        try keychain.acceptStore(caller: StoreOnDisk.caller, proof: .ofPasscode)
        #expect(try keychain.secret("free") == "four")
        #expect(status { _ = try keychain.secret("bound", proof: Self.match) } == .itemNotFound)
        #expect(try store.open().anchor.condition == .clean)
    }

    @Test(.promise("rollback.refused"), arguments: Event.allCases)
    func anOlderAnchorIsRefusedUntilItIsAccepted(event: Event) throws {
        let (before, after) = try generations(event)
        var mixed = after
        mixed["anchor"] = before["anchor"]
        try store.restore(mixed)
        let keychain = try store.open()
        #expect(keychain.anchor.condition == .anchorOld)
        #expect(status { _ = try keychain.secret("free") } == .anchorOld)
        #expect(try store.files()["anchor"] == before["anchor"], "nothing is overwritten")
        try keychain.acceptStore(caller: StoreOnDisk.caller, proof: .ofPasscode)
        #expect(try keychain.secret("free") == "four")
        #expect(try store.open().anchor.condition == .clean)
    }

    /// Restoring database and anchor of the same earlier time is detected if the counters are newer.
    @Test(.promise("rollback.refused", "abuse.29"), arguments: Event.allCases)
    func anOlderDatabaseAndAnchorWithNewerCountersAreRefusedUntilAccepted_abuse29(event: Event) throws {
        let (before, after) = try generations(event)
        var mixed = before
        mixed["counters"] = after["counters"]
        try store.restore(mixed)
        let keychain = try store.open()
        #expect(keychain.anchor.condition == .rolledBack)
        #expect(status { _ = try keychain.secret("free") } == .storeRolledBack)
        #expect(status { try keychain.setPasscode(Self.new) } == .storeRolledBack)
        #expect(status { _ = try keychain.storedCounters() } == .storeUnreadable, "the counters are refused")
        #expect(try store.files()["anchor"] == before["anchor"], "nothing is overwritten")
        #expect(try store.open().anchor.condition == .rolledBack, "also after a restart")
        try keychain.acceptStore(caller: StoreOnDisk.caller, proof: .ofPasscode)
        #expect(try keychain.secret("free") == "four")
        #expect(status { _ = try keychain.secret("bound", proof: Self.match) } == .itemNotFound)
        #expect(try store.open().anchor.condition == .clean)
    }

    /// The limit of the detection: an older copy of the whole folder is consistent.
    @Test(.promise("rollback.whole")) func restoringAWholeOlderStoreIsNotDetected() throws {
        let (before, _) = try generations(.lockout)
        try store.restore(before)
        #expect(try store.open().anchor.condition == .clean)
    }

    /// Storing the store generation in refused counters would make them accepted.
    @Test func olderCountersStayRefusedAfterAnEvent() throws {
        try fill(for: .lockout)
        let old = try #require(try store.files()["counters"])
        do {
            let keychain = try store.open()
            try keychain.persist(PolicyCounters(biometryFailures: 5, passcodeFailures: 6, passcodeBlockedUntil: 1))
            try keychain.record(.tryFailed, caller: nil)
        }
        try store.setFile("counters", old)
        let keychain = try store.open()
        for _ in 1...3 { try keychain.moveAnchor(isTimed: false) }
        #expect(status { _ = try keychain.storedCounters() } == .storeUnreadable)
        #expect(status { _ = try store.open().storedCounters() } == .storeUnreadable)
    }

    @Test(.promise("anchor.missing")) func aLostAnchorIsNotAcceptedButItsItemsCanBeDiscarded() throws {
        try fill(for: .lockout)
        try store.setFile("anchor", nil)
        let keychain = try store.open()
        #expect(!keychain.isPasscodeSet)
        #expect(status { try keychain.setPasscode(Self.new) } == .anchorMissing, "not without an anchor")
        #expect(
            status { try keychain.acceptStore(caller: StoreOnDisk.caller, proof: .ofPasscode) } == .anchorMissing)
        #expect(try keychain.findings().contains { $0.kind == .anchor })
        try keychain.discardProtected(caller: StoreOnDisk.caller, proof: .ofPasscode)
        #expect(try keychain.secret("free") == "four")
        #expect(try store.rows().count == 1)
        try keychain.setPasscode(Self.new)
        let reopened = try store.open()
        #expect(reopened.anchor.condition == .clean)
        #expect(try reopened.findings() == [])
    }

    @Test(.promise("rollback.passcode")) func acceptingAndDiscardingRequireThePasscodeIfOneIsSet() throws {
        try fill(for: .lockout)
        let keychain = try store.open()
        let finger = Authorisation.testOnly([.biometry], enrolment: Self.first, by: StoreOnDisk.caller)
        for proof in [Authorisation.none, finger] {
            #expect(
                status { try keychain.acceptStore(caller: StoreOnDisk.caller, proof: proof) }
                    == .itemAuthenticationFailed)
            #expect(
                status { try keychain.discardProtected(caller: StoreOnDisk.caller, proof: proof) }
                    == .itemAuthenticationFailed)
        }
        #expect(try store.rows().count == 3)
        #expect(keychain.isPasscodeSet)
    }

    @Test(.promise("anchor.missing")) func everyByteOfTheAnchorIsAuthenticated() throws {
        try fill(for: .lockout)
        let file = try #require(try store.files()["anchor"])
        for offset in file.indices {
            var changed = file
            changed[offset] ^= 4
            try store.setFile("anchor", changed)
            #expect(try store.open().anchor.condition == .anchorMissing, "byte \(offset)")
        }
    }

    /// The table in `docs/reference/store-format.md`: store generations of database, anchor and counters, and the
    /// prepared one.
    @Test(
        .promise("event.atomic"),
        arguments: [
            (5, 5, nil, 5, AnchorCondition.clean, AnchorCondition.Step.none), (5, 5, 6, 5, .clean, .drop),
            (6, 5, 6, 5, .clean, .finish), (5, 5, 5, 5, .clean, .finish), (4, 5, nil, 5, .rolledBack, .none),
            (4, 5, 6, 5, .rolledBack, .none), (6, 5, nil, 5, .anchorOld, .none), (7, 5, 6, 5, .anchorOld, .none),
            (7, 5, nil, 5, .anchorOld, .none), (nil, 5, nil, 5, .rolledBack, .none),
            // The counters are behind after a kill before F, and equal to the anchor after a kill in F.
            (5, 5, nil, 4, .clean, .none), (6, 5, 6, 6, .clean, .finish), (5, 5, nil, 6, .rolledBack, .none),
            (5, 5, 6, 6, .rolledBack, .none), (6, 5, 6, 7, .rolledBack, .none), (6, 5, nil, 7, .anchorOld, .none),
        ] as [(UInt64?, UInt64, UInt64?, UInt64, AnchorCondition, AnchorCondition.Step)])
    func everyRowOfTheTableHasItsAction(
        database: UInt64?, committed: UInt64, prepared: UInt64?, witness: UInt64, condition: AnchorCondition,
        step: AnchorCondition.Step
    ) {
        let contents = AnchorRecord.Contents(
            slot: nil, enrolmentGeneration: 1, set: nil,
            enrolmentKey: .clear(SecretBytes([UInt8](repeating: 0, count: 32))))
        let preparation = prepared.map {
            AnchorRecord.Preparation(generation: $0, event: .passcodeChanged, contents: contents)
        }
        let record = AnchorRecord(
            committed: committed, contents: contents, preparation: preparation, bootID: [], countersSerial: 0)
        let found = AnchorCondition.found(
            database: database, record, witness: witness, number: .ofTheAnchor)
        #expect(found.condition == condition)
        #expect(found.step == step)
    }

    // MARK: - Disk failures

    @Test(.promise("event.unfinished")) func whileAnEventIsUnfinishedProtectedItemsStayClosed() throws {
        try fill(for: .changePasscode)
        let vault = CopyingVault(FileKeyVault(store.folder)) {}
        let keychain = try StoreOnDisk.identity.open(
            SQLiteItemStore.open(store.folder.database), vault: vault, clock: store.clock, random: store.random)
        #expect(try keychain.unlock(Self.old))
        // P is written, but not F.
        vault.failWrites(after: 1)
        #expect(status { try keychain.changePasscode(to: Self.new) } == .diskFull)
        #expect(keychain.anchor.condition == .unfinished)
        #expect(status { _ = try keychain.secret("bound", proof: Self.match) } == .eventUnfinished)
        #expect(status { _ = try keychain.secret("passcode", proof: Self.match) } == .eventUnfinished)
        #expect(try keychain.secret("free") == "four")
        vault.failWrites(after: nil)
        #expect(try keychain.secret("bound", proof: Self.match) == "one")
        #expect(keychain.anchor.condition == .clean)
        #expect(try store.open().unlock(Self.new))
    }

    /// A failed commit may still be on the disk. The next start would find it with the preparation of the following
    /// event: here without the items that removing the passcode deletes, but with a passcode.
    @Test(.promise("event.atomic"), arguments: [0, 1], FaultPlan.Fault.allCases)
    func aCommitThatFailedIsOverwrittenBeforeTheNextEvent_abuse36(call: Int, fault: FaultPlan.Fault) throws {
        try fill(for: .removePasscode)
        let plan = FaultPlan()
        FaultyFiles.plan(plan, for: store.folder.path)
        defer { FaultyFiles.plan(nil, for: store.folder.path) }
        let copies = Recorder<[String: Data]>()
        let store = store
        let vault = CopyingVault(FileKeyVault(store.folder)) {
            let files = (try? store.files()) ?? [:]
            copies.add(files)
        }
        do {
            let keychain = try StoreOnDisk.identity.open(
                SQLiteItemStore.open(store.folder.database), vault: vault, clock: store.clock, random: store.random)
            #expect(try keychain.unlock(Self.old))
            try keychain.add("later", "five")
            // A commit makes two calls: if the write fails, nothing is on the disk; if the sync fails, the whole
            // transaction is.
            plan.fail(at: call, fault, goesOn: false)
            let failure = status { try Event.removePasscode(keychain) }
            #expect(failure == (fault == .inputOutputError ? .storeUnreadable : .diskFull) && plan.hasFailed)
            #expect(keychain.isPasscodeSet)
            copies.removeAll()
            try Event.lockout(keychain)
        }
        // The daemon was killed after the lockout was prepared, before its commit.
        let prepared = copies.all[1]
        FaultyFiles.plan(nil, for: store.folder.path)
        try store.restore(prepared)
        let reopened = try store.open()
        #expect(reopened.anchor.condition == .clean)
        #expect(try reopened.isPasscodeSet && reopened.unlock(Self.old))
        #expect(try reopened.secret("passcode") == "three")
        let events = try reopened.log(Request.Log(after: 0, limit: 1000, verifies: true)).lines.map(\.event)
        #expect(!events.contains(.passcodeRemoved) && !events.contains(.lockedOut))
        #expect(try reopened.findings() == [])
    }

    @Test(.promise("enrolment.durable")) func anEnrolmentChangeThatCannotBePreparedChangesNothing() throws {
        try fill(for: .enrolment)
        let vault = CopyingVault(FileKeyVault(store.folder)) {}
        let keychain = try StoreOnDisk.identity.open(
            SQLiteItemStore.open(store.folder.database), vault: vault, clock: store.clock, random: store.random)
        vault.failWrites(after: 0)
        #expect(status { _ = try keychain.apply(Self.second) } == .diskFull)
        #expect(keychain.anchor.set == Self.first)
        // A match of a set that could not be stored opens nothing bound to the old set.
        let other = Authorisation.testOnly([.biometry], enrolment: Self.second, by: StoreOnDisk.caller)
        #expect(try keychain.secret("bound", proof: other) == nil)
        #expect(try keychain.secret("bound", proof: Self.match) == "one")
    }

    @Test func aCheckWaitsForAnEventThatIsBeingWritten() throws {
        try fill(for: .changePasscode)
        let opened = Mutex<Keychain?>(nil)
        let found = Recorder<Status?>()
        let (began, ended) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let writes = Recorder<Void>()
        let vault = CopyingVault(FileKeyVault(store.folder)) {
            writes.add(())
            // The preparation is written, and the database is not.
            guard writes.all.count == 2, let keychain = opened.withLock({ $0 }) else { return }
            Processes.detachThread {
                began.signal()
                found.add(status { try keychain.anchor.check() })
                ended.signal()
            }
            began.wait()
        }
        let keychain = try StoreOnDisk.identity.open(
            SQLiteItemStore.open(store.folder.database), vault: vault, clock: store.clock, random: store.random)
        opened.withLock { $0 = keychain }
        #expect(try keychain.unlock(Self.old))
        try Event.changePasscode(keychain)
        ended.wait()
        #expect(found.all == [nil])
    }

    // MARK: - Moves without an event

    @Test func timedMovesOfTheStoreGenerationAreLimitedTo24ADay() throws {
        let clock = BootClock(boot: "monday", uptimeSeconds: 100)
        let keychain = try store.open(clock: clock)
        try keychain.add("free")
        let start = try #require(keychain.anchor.record?.committed)
        for _ in 0..<30 { try keychain.moveAnchor(isTimed: true) }
        #expect(keychain.anchor.record?.committed == start + 24)
        clock.advance(seconds: 86_400)
        try keychain.moveAnchor(isTimed: true)
        #expect(keychain.anchor.record?.committed == start + 25)
    }

    @Test func theFirstWriteOfABootIsDetected() throws {
        do {
            let keychain = try store.open(clock: BootClock(boot: "monday"))
            #expect(keychain.isFirstOfBoot)
            try keychain.moveAnchor(isTimed: false)
            #expect(!keychain.isFirstOfBoot)
        }
        #expect(try !store.open(clock: BootClock(boot: "monday")).isFirstOfBoot)
        #expect(try store.open(clock: BootClock(boot: "tuesday")).isFirstOfBoot)
        #expect(try store.open(clock: BootClock(boot: "")).isFirstOfBoot, "an empty boot identifier matches no boot")
    }
}
