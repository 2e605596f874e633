// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyModel
import LatchkeySeams
import SimulatedDriver
import TestPromises
import TestSupport
import Testing

@testable import LatchkeyKeychain
@testable import SQLiteDriver

/// An attacker with `root.key` and all files opens nothing that was deleted or replaced: its bytes are in no file after a
/// clean stop, and after a reset before its answer.
@Suite struct DeletedRowsTests {
    private static let protected = rule(.whenUnlocked, .userPresence)
    private let clock = VirtualClock()
    private let events = CollectedEvents()
    private let store: StoreOnDisk

    init() throws { store = try StoreOnDisk(clock: clock) }

    private func start(_ keychain: Keychain) throws -> StartedService {
        try StartedService(keychain, clock: clock, log: events)
    }

    /// Adds items of many sizes, so that SQLite moves rows between pages and some secrets have pages of their own.
    private func fill(_ keychain: Keychain, count: Int = 90) throws {
        for number in 0..<count {
            let size = number % 9 == 0 ? 9000 : 20 * (1 + number % 40)
            let secret = String(repeating: "\(number % 10)", count: size)
            try keychain.add("item \(number)", secret, number.isMultiple(of: 3) ? Self.protected : rule(.whenUnlocked))
        }
    }

    /// Pieces of the envelopes of the rows that `isWanted` selects by their number.
    private func pieces(where isWanted: (Int) -> Bool = { _ in true }) throws -> [Data] {
        try store.rows().enumerated().filter { isWanted($0.offset) }.flatMap { _, row in
            [row.attributes, row.secret ?? []].flatMap { bytes in
                stride(from: 1, to: max(1, bytes.count - 24), by: 24).map { Data(bytes[$0..<$0 + 24]) }
            }
        }
    }

    /// How many of the pieces the files of the store contain.
    private func count(_ pieces: [Data]) throws -> Int {
        let wanted = Set(pieces)
        var found: Set<Data> = []
        for bytes in try store.files().values where bytes.count >= 24 {
            bytes.withUnsafeBytes { bytes in
                for start in 0...bytes.count - 24 {
                    let piece = Data(bytes[start..<start + 24])
                    if wanted.contains(piece) { found.insert(piece) }
                }
            }
        }
        return found.count
    }

    private var logBytes: Int { get throws { try store.files()["keychain.sqlite-wal"]?.count ?? 0 } }

    @Test(.promise("sealing.deleted")) func afterACleanStopNoFileHasWhatWasDeletedOrReplaced() throws {
        let keychain = try store.open()
        let service = try start(keychain)
        try fill(keychain)
        let (deleted, replaced) = (try pieces { $0 % 4 == 0 }, try pieces { $0 % 9 == 1 && $0 % 4 != 0 })
        let kept = try pieces { $0 % 4 != 0 && $0 % 9 != 1 }
        for number in stride(from: 0, to: 90, by: 4) {
            try keychain.delete(.account("item \(number)"), caller: StoreOnDisk.caller)
        }
        for number in stride(from: 1, to: 90, by: 9) where number % 4 != 0 {
            let done = try keychain.update(.account("item \(number)"), secret: "new", proof: .ofPasscode)
            #expect(done == .finished)
        }
        #expect(try count(deleted) > 0 && count(replaced) > 0, "the log has them until then")
        service.stop()
        #expect(try count(deleted) == 0)
        #expect(try count(replaced) == 0)
        // A piece at the end of a page continues on another one.
        #expect(try count(kept) > kept.count * 9 / 10)
        #expect(try logBytes == 0)
        #expect(!keychain.hasDeletedRows && events.entries.isEmpty)
        #expect(try keychain.findings() == [] && store.open().findings() == [])
    }

    @Test func afterACleanStopTheDatabaseAloneHasEverything() throws {
        do {
            let keychain = try store.open()
            let service = try start(keychain)
            try keychain.add("one")
            #expect(try logBytes > 0)
            service.stop()
            #expect(try logBytes == 0)
            try store.restore(store.files().filter { !$0.key.contains("-") })
        }
        let keychain = try store.open()
        #expect(try keychain.secret("one") == "secret")
        #expect(try keychain.findings() == [])
    }

    @Test(.promise("sealing.deleted")) func resetErasesBeforeItIsAnswered() throws {
        let keychain = try store.open()
        try keychain.setPasscode(SecretBytes("right".utf8))
        #expect(try keychain.unlock(SecretBytes("right".utf8)))
        try fill(keychain)
        let protected = try pieces { $0 % 3 == 0 }
        let service = try start(keychain)
        #expect(service.reset() == nil)
        #expect(try count(protected) == 0)
        #expect(try keychain.itemCount() == 60 && logBytes < 40_000)
        #expect(!keychain.hasDeletedRows && events.entries.isEmpty)
        #expect(try keychain.secret("item 1") != nil)
    }

    /// A disk that is full at each of the calls in turn, from there on.
    @Test(.promise("sealing.deleted")) func resetThatCouldNotEraseSaysSo() throws {
        var saidSo = 0
        for number in 0..<400 {
            let store = try StoreOnDisk(clock: clock)
            let plan = FaultPlan()
            try store.prepare()
            FaultyFiles.plan(plan, for: store.folder.path)
            defer { FaultyFiles.plan(nil, for: store.folder.path) }
            let keychain = try store.open()
            try keychain.setPasscode(SecretBytes("right".utf8))
            try keychain.add("door", "key", Self.protected)
            let service = try StartedService(keychain, clock: clock, log: events)
            plan.fail(at: number, .diskFull, goesOn: true)
            let status = service.reset()
            let hasFailed = plan.hasFailed
            plan.fail(at: .max, .diskFull, goesOn: true)
            let isDeleted = try keychain.itemCount() == 0
            if !hasFailed {
                #expect(status == nil && isDeleted && !keychain.hasDeletedRows)
                #expect(saidSo > 0)
                return
            }
            #expect(status != nil || !keychain.hasDeletedRows, "call \(number)")
            if isDeleted, status != nil { saidSo += 1 }
        }
        Issue.record("the reset makes more calls")
    }

    @Test(.promise("sealing.deleted")) func rowThatIsReplacedByANewItemIsErased() throws {
        let keychain = try store.open()
        _ = try keychain.apply(EnrolmentSet([1]))
        let service = try start(keychain)
        try keychain.add("bound", "old", rule(.whenUnlocked, .biometryCurrentSet))
        let old = try pieces()
        _ = try keychain.apply(EnrolmentSet([2]))
        try keychain.add("bound", "new")
        service.stop()
        #expect(try count(old) == 0)
    }

    @Test(.promise("sealing.deleted")) func afterAKillTheNextCleanStopErases() throws {
        let killed = try StoreOnDisk(clock: clock)
        let keychain = try killed.open()
        try keychain.add("one")
        try keychain.add("two")
        let row = try #require(try killed.rows().first)
        try keychain.delete(.account("one"), caller: StoreOnDisk.caller)
        try store.prepare()
        // The files as they are while the daemon runs: its exit would merge the log.
        let files = try withExtendedLifetime(keychain) { try killed.files() }
        try store.restore(files.filter { !$0.key.hasSuffix("-shm") })
        let old = [Data(row.attributes[1..<25])]
        let next = try store.open()
        #expect(try next.hasDeletedRows && count(old) == 1)
        let service = try start(next)
        service.beginStoreCheck()
        clock.advance(seconds: 120)
        #expect(next.hasDeletedRows, "no erasure while the daemon runs")
        service.stop()
        #expect(try count(old) == 0)
        #expect(try store.open().hasDeletedRows == false)
    }

    @Test func stopWithoutADeletionBuildsNothingAgain() throws {
        let plan = FaultPlan()
        try store.prepare()
        FaultyFiles.plan(plan, for: store.folder.path)
        defer { FaultyFiles.plan(nil, for: store.folder.path) }
        let keychain = try store.open()
        let service = try start(keychain)
        try fill(keychain, count: 30)
        service.stop()
        let calls = plan.calls
        service.stop()
        #expect(plan.calls <= calls + 2, "nothing is left to merge")
        #expect(!keychain.hasDeletedRows)
    }
}
