// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import SimulatedDriver
import TestPromises
import TestSupport
import Testing

@testable import LatchkeyKeychain

/// Entries that are cut off the end of the audit log while no daemon runs are reported for ever, also after later entries
/// have replaced the record of the end.
@Suite struct AuditCutTests {
    private let clock = VirtualClock()
    private let store: StoreOnDisk

    init() throws {
        store = try StoreOnDisk(clock: clock)
        let keychain = try store.open()
        try keychain.setPasscode(SecretBytes("1234".utf8))
        try keychain.add("one")
        for _ in 0..<3 { try keychain.record(.used, caller: StoreOnDisk.caller) }
    }

    /// What the store does to its files next; each writes an entry.
    enum Next: CaseIterable, Sendable {
        case use, add, update, delete, quarantine, event, lock

        func callAsFunction(_ keychain: Keychain) throws {
            switch self {
            case .use: try keychain.record(.used, caller: StoreOnDisk.caller)
            case .add: try keychain.add("two")
            case .update: #expect(try keychain.update(.account("one"), secret: "new") == .finished)
            case .delete: try keychain.delete(.account("one"), caller: StoreOnDisk.caller)
            case .quarantine:
                let row = try #require(
                    try keychain.store.read { (store) throws(Failure) in
                        var found: StoredRow?
                        try store.forEachRow(.all) { (row) throws(Failure) in
                            found = row
                            return false
                        }
                        return found
                    })
                try keychain.write { (store) throws(Failure) in try keychain.quarantine(row, in: store) }
            case .event: try keychain.moveAnchor(isTimed: false)
            case .lock: try keychain.persist(LockState(isLocked: true, wasUnlocked: true))
            }
        }
    }

    /// What `log --verify` and `check` report about the log.
    private func findings() throws -> (verified: Finding?, checked: [Finding]) {
        let keychain = try store.open()
        let checked = try keychain.findings().filter {
            [.entryMissing, .entryChanged, .trailCut, .trailEndUnknown, .trailWasCut].contains($0.kind)
        }
        return (try keychain.trail().1, checked)
    }

    @Test(.promise("audit.cut"), arguments: Next.allCases)
    func cutNewestEntryStaysReportedAfterLaterEntries(next: Next) throws {
        try store.execute("DELETE FROM audit WHERE sequence = 5")
        #expect(try findings() == (Finding(.trailCut, number: 5), [Finding(.trailCut, number: 5)]))
        try next(store.open())
        let lines = try store.open().trail(verifies: false).0
        #expect(lines.map(\.sequence).prefix(6) == [1, 2, 3, 4, 6, 7])
        #expect(lines[4].event == .trailCut && lines[4].caller.isEmpty && lines[5].event != .trailCut)
        for _ in 0..<2 {
            let found = try findings()
            #expect(found.verified == Finding(.entryMissing, number: 5))
            #expect(found.checked == [Finding(.entryMissing, number: 5), Finding(.trailWasCut, number: 6)])
            try store.open().record(.used, caller: StoreOnDisk.caller)
        }
        #expect(try store.open().trail(verifies: false).0.count { $0.event == .trailCut } == 1)
    }

    @Test func gapIsAsLargeAsTheCut() throws {
        try store.execute("DELETE FROM audit WHERE sequence > 2")
        try Next.use(store.open())
        #expect(try store.open().trail(verifies: false).0.map(\.sequence) == [1, 2, 6, 7])
    }

    @Test(
        .promise("audit.cut"),
        arguments: [
            "DELETE FROM record WHERE name = 'audit.end'",
            "UPDATE record SET value = zeroblob(60) WHERE name = 'audit.end'",
            "DELETE FROM audit WHERE sequence = 5; DELETE FROM record WHERE name = 'audit.end'",
        ])
    func destroyedRecordOfTheEndStaysReported(sql: String) throws {
        try store.execute(sql)
        #expect(try findings().verified == Finding(.trailEndUnknown))
        try Next.use(store.open())
        let found = try findings()
        #expect(found.verified?.kind == .trailWasCut)
        #expect(found.checked.map(\.kind) == [.trailWasCut])
    }

    @Test func recordOfTheEndIsMissedInALogThatNeverHadAnother() throws {
        let young = try StoreOnDisk(clock: clock)
        try young.open().add("one")
        try young.execute("DELETE FROM record WHERE name = 'audit.end'")
        try young.open().add("two")
        #expect(try young.open().trail().1 == Finding(.trailWasCut, number: 2))
    }

    @Test(.promise("audit.cut")) func cuttingTheReportIsReportedAgain() throws {
        try store.execute("DELETE FROM audit WHERE sequence = 5")
        try Next.use(store.open())
        try store.execute("DELETE FROM audit WHERE sequence > 4")
        try Next.use(store.open())
        let found = try findings()
        #expect(found.checked == [Finding(.entryMissing, number: 5), Finding(.trailWasCut, number: 8)])
    }

    @Test func changedNewestEntryIsReportedBeforeTheNext() throws {
        try store.execute("UPDATE audit SET chain = zeroblob(32) WHERE sequence = 5")
        try Next.use(store.open())
        #expect(try store.open().trail(verifies: false).0.map(\.event).suffix(2) == [.trailCut, .used])
        #expect(try findings().checked.map(\.kind).contains(.trailWasCut))
    }

    @Test(.promise("audit.cut")) func startOfTheDaemonRecordsTheCut() throws {
        try store.execute("DELETE FROM audit WHERE sequence = 5")
        let events = CollectedEvents()
        let service = try StartedService(store.open(), clock: clock, log: events)
        service.beginStoreCheck()
        #expect(events.entries.map(\.event) == [.trailCut])
        #expect(try store.open().trail(verifies: false).0.map(\.event).last == .trailCut)
        withExtendedLifetime(service) {}
    }

    @Test func startOnACompleteLogWritesNothing() throws {
        let service = try StartedService(store.open(), clock: clock, log: UnwatchedLog())
        service.beginStoreCheck()
        #expect(try store.open().trail().0.count == 5)
        withExtendedLifetime(service) {}
    }

    @Test func transactionThatFailsLeavesTheCutToTheNextOne() throws {
        try store.execute("DELETE FROM audit WHERE sequence = 5")
        let keychain = try store.open()
        #expect(status { try keychain.add("one") } == .duplicateItem)
        #expect(status { try keychain.write { (_) throws(Failure) in throw Failure(.internalFailure) } } != nil)
        try Next.use(keychain)
        #expect(try findings().checked.map(\.kind) == [.entryMissing, .trailWasCut])
    }

    @Test func acceptingTheStoreDoesNotHideTheCut() throws {
        try store.execute("DELETE FROM audit WHERE sequence = 5")
        try store.open().acceptStore(caller: StoreOnDisk.caller, proof: .ofPasscode)
        #expect(try findings().checked.map(\.kind) == [.entryMissing, .trailWasCut])
    }
}
