// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyModel
import LatchkeyPolicy
import LatchkeySeams
import SQLiteDriver
import SeamStandIns
import SystemDriver
import TestSupport
import Testing

@testable import LatchkeyKeychain

/// A store whose vault has a monotonic counter: even a copy of all its files is refused when it is older than the
/// counter. The counter is a stand-in for that of a security chip.
@Suite struct StoreCounterTests {
    private static let passcode = SecretBytes("1234".utf8)
    private static let set = EnrolmentSet([1])
    private let store: StoreOnDisk
    private let chip: ChipCounter

    /// Makes a store on a chip on which counters have existed before.
    init() throws {
        store = try StoreOnDisk()
        chip = ChipCounter(largest: 40)
        let first = try chip.create()
        try store.folder.prepare { [store] () throws(Failure) in
            try store.random.bytes(32)
        } build: { [store] (path, rootKey) throws(Failure) in
            try StoreOnDisk.identity.create(
                in: SQLiteItemStore.create(at: path), rootKey: rootKey, generation: first, random: store.random)
        }
        let keychain = try open()
        #expect(keychain.anchor.condition == .clean && keychain.anchor.record?.committed == 41)
        _ = try keychain.apply(Self.set)
        try keychain.setPasscode(Self.passcode)
        try keychain.add("free", "four")
    }

    private func open(_ wrap: (any KeyVault) -> any KeyVault = { $0 }) throws(Failure) -> Keychain {
        let vault = wrap(ChipVault(FileKeyVault(store.folder), chip))
        return try StoreOnDisk.identity.open(
            SQLiteItemStore.open(store.folder.database), vault: vault, clock: store.clock, random: store.random)
    }

    private func refusal(_ keychain: Keychain) -> Status? { status { _ = try keychain.secret("free") } }

    // MARK: - The table

    /// The second table in `docs/reference/store-format.md`: D, committed, prepared, number of the counter.
    @Test(
        arguments: [
            (5, 5, nil, 5, AnchorCondition.clean, AnchorCondition.Step.none), (5, 5, 6, 5, .clean, .drop),
            (6, 5, 6, 5, .clean, .finish), (6, 5, 6, 6, .clean, .finish), (4, 4, nil, 5, .rolledBack, .none),
            (4, 5, nil, 5, .rolledBack, .none), (4, 3, 4, 6, .rolledBack, .none), (6, 5, nil, 5, .anchorOld, .none),
            (6, 4, 5, 5, .anchorOld, .none), (5, 4, nil, 5, .anchorOld, .none), (6, 4, nil, 6, .anchorOld, .none),
            (6, 6, nil, 5, .tpmReplaced, .none), (7, 5, nil, 5, .tpmReplaced, .none),
            (7, 5, 7, 5, .tpmReplaced, .none), (5, 6, nil, 5, .tpmReplaced, .none), (9, 9, nil, 2, .tpmReplaced, .none),
            (5, 5, nil, nil, .anchorGone, .none), (nil, 5, nil, 5, .rolledBack, .none),
        ] as [(UInt64?, UInt64, UInt64?, UInt64?, AnchorCondition, AnchorCondition.Step)])
    func everyRowOfTheTableHasItsAction(
        database: UInt64?, committed: UInt64, prepared: UInt64?, number: UInt64?, condition: AnchorCondition,
        step: AnchorCondition.Step
    ) {
        let found = found(database, committed, prepared, .passcodeChanged, number)
        #expect(found.condition == condition)
        #expect(found.step == step)
    }

    @Test(arguments: [(SecurityEvent.accepted, 2, true), (.protectedDiscarded, 2, true), (.accepted, 9, false)])
    func anEventThatEndsAConditionMakesTheCounterCatchUpButNeverAccepts(
        event: SecurityEvent, number: UInt64, finishes: Bool
    ) {
        let found = found(8, 7, 8, event, number)
        #expect(found.step == (finishes ? .finish : .none))
        #expect(found.condition == (finishes ? .clean : .rolledBack))
    }

    private func found(
        _ database: UInt64?, _ committed: UInt64, _ prepared: UInt64?, _ event: SecurityEvent, _ number: UInt64?
    ) -> (condition: AnchorCondition, step: AnchorCondition.Step) {
        let contents = AnchorRecord.Contents(
            slot: nil, enrolmentGeneration: 1, set: nil,
            enrolmentKey: .clear(SecretBytes([UInt8](repeating: 0, count: 32))))
        let preparation = prepared.map {
            AnchorRecord.Preparation(generation: $0, event: event, contents: contents)
        }
        let record = AnchorRecord(
            committed: committed, contents: contents, preparation: preparation, bootID: [], countersSerial: 0)
        return AnchorCondition.found(
            database: database, record, witness: 0, number: number.map { .counter($0) } ?? .missing)
    }

    // MARK: - Stores

    @Test func theCounterFollowsEveryEvent() throws {
        let keychain = try open()
        let before = try #require(chip.number)
        try keychain.moveAnchor(isTimed: false)
        try keychain.recordLockout(caller: nil)
        #expect(chip.number == before + 2)
        #expect(keychain.anchor.record?.committed == before + 2)
        #expect(try open().findings() == [])
    }

    /// Database, anchor and counters of failed tries are all of one earlier time; files alone cannot show it.
    @Test func aRestoredCopyOfTheWholeFolderIsRefused_abuse29() throws {
        let copy = try store.files()
        try open().moveAnchor(isTimed: false)
        try store.restore(copy)
        let keychain = try open()
        #expect(keychain.anchor.condition == .rolledBack)
        #expect(refusal(keychain) == .storeRolledBack)
        try keychain.acceptStore(caller: StoreOnDisk.caller, proof: .ofPasscode)
        #expect(refusal(keychain) == nil)
        let reopened = try open()
        #expect(reopened.anchor.condition == .clean && reopened.anchor.record?.committed == chip.number)
        #expect(try reopened.unlock(Self.passcode))
    }

    @Test func anOlderAnchorBesideTheCounterIsRefused() throws {
        let copy = try store.files()
        try open().moveAnchor(isTimed: false)
        var mixed = try store.files()
        mixed["anchor"] = copy["anchor"]
        try store.restore(mixed)
        let keychain = try open()
        #expect(keychain.anchor.condition == .anchorOld)
        #expect(refusal(keychain) == .anchorOld)
    }

    @Test func anotherChipIsNamedUntilTheStoreIsAccepted() throws {
        chip.number = 3
        let keychain = try open()
        #expect(refusal(keychain) == .tpmReplaced)
        #expect(status { try keychain.setPasscode(Self.passcode) } == .tpmReplaced)
        #expect(chip.number == 3)
        try keychain.acceptStore(caller: StoreOnDisk.caller, proof: .ofPasscode)
        #expect(refusal(keychain) == nil)
        #expect(chip.number == keychain.anchor.record?.committed, "the counter has caught up")
        #expect(try open().anchor.condition == .clean)
    }

    @Test func aRemovedCounterIsNamedAndReplacedOnlyWhenTheStoreIsAccepted() throws {
        let running = try open()
        chip.number = nil
        #expect(status { try running.moveAnchor(isTimed: false) } == .anchorGone)
        let keychain = try open()
        #expect(refusal(keychain) == .anchorGone)
        #expect(status { _ = try keychain.apply(EnrolmentSet([2])) } == .anchorGone)
        #expect(chip.number == nil)
        try keychain.acceptStore(caller: StoreOnDisk.caller, proof: .ofPasscode)
        #expect(refusal(keychain) == nil)
        #expect(try open().anchor.condition == .clean)
    }

    @Test func aChipThatDoesNotAnswerIsNotAMissingOne() throws {
        chip.condition = .unavailable
        let files = try store.files()
        #expect(status { _ = try open() } == .vaultUnavailable)
        chip.condition = .cleared
        #expect(status { _ = try open() } == .rootKeyMissing)
        #expect(try store.files() == files, "nothing is replaced")
        chip.condition = .ready
        #expect(try open().anchor.condition == .clean)
    }

    // MARK: - Interruptions

    @Test func protectedItemsStayClosedUntilTheCounterIsIncremented() throws {
        let keychain = try open()
        try keychain.add("any", "two", rule(.whenUnlocked, .biometryAny))
        chip.failIncrements(true)
        #expect(status { try keychain.recordLockout(caller: nil) } == .vaultUnavailable)
        let match = Authorisation.testOnly([.biometry], enrolment: Self.set, by: StoreOnDisk.caller)
        #expect(refusal(keychain) == nil)
        #expect(status { _ = try keychain.secret("any", proof: match) } == .eventUnfinished)
        chip.failIncrements(false)
        #expect(try keychain.secret("any", proof: match) == "two")
        #expect(chip.number == keychain.anchor.record?.committed)
    }

    /// The daemon is killed before and after each write of the anchor and each increment.
    @Test(arguments: [SecurityEvent.passcodeChanged, .enrollmentChanged, .protectedDiscarded, .anchored])
    func anEventIsCompleteOrAbsentAfterAKill_abuse35(event: SecurityEvent) throws {
        typealias Moment = (files: [String: Data], number: UInt64?)
        let moments = Recorder<Moment>()
        let note: @Sendable () -> Void = { [store, chip] in
            let files = (try? store.files()) ?? [:]
            moments.add((files, chip.number))
        }
        chip.observeIncrements(note)
        let keychain = try open { CopyingVault($0, copy: note) }
        let before = try #require(keychain.anchor.record?.committed)
        #expect(try keychain.unlock(Self.passcode))
        switch event {
        case .passcodeChanged: try keychain.changePasscode(to: SecretBytes("4321".utf8))
        case .enrollmentChanged: _ = try keychain.apply(EnrolmentSet([2]))
        case .protectedDiscarded: try keychain.discardProtected(caller: StoreOnDisk.caller, proof: .ofPasscode)
        default: try keychain.moveAnchor(isTimed: false)
        }
        chip.observeIncrements(nil)
        let made = moments.all
        #expect(made.count == 6, "P, I and F")
        for (index, moment) in made.enumerated() {
            try store.restore(moment.files)
            chip.number = moment.number
            let keychain = try open()
            #expect(keychain.anchor.condition == .clean, "\(index)")
            #expect(keychain.anchor.record?.committed == (index < 2 ? before : before + 1), "\(index)")
            #expect(chip.number == keychain.anchor.record?.committed, "\(index)")
            #expect(refusal(keychain) == nil)
            try keychain.moveAnchor(isTimed: false)
            #expect(try open().anchor.condition == .clean)
        }
    }
}
