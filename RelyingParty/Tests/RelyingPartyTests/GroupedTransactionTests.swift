// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc
import RelyingParty
import Synchronization
import Testing

@testable import RelyingPartySQLite

/// Transactions that wait while another one runs share one commit.
@Suite struct GroupedTransactionTests {
    private struct Refusal: Error, Equatable {}

    private let connection: CountingConnection
    private let transactions: GroupedTransactions

    init() throws {
        connection = CountingConnection(try SQLiteConnection(":memory:"))
        _ = try connection.run("CREATE TABLE numbers (number INTEGER PRIMARY KEY) STRICT", [])
        transactions = GroupedTransactions(connection)
    }

    /// Runs transactions on threads of their own while another one, which inserts -1, is not finished.
    ///
    /// - Parameter over: those whose requests are over when the first one has ended.
    /// - Returns: whether each one failed.
    private func together(
        _ count: Int64, over: Set<Int64> = [],
        _ body: @escaping @Sendable (Int64, any SQLConnection) throws -> Void
    ) throws -> [Int64: Bool] {
        let (began, ended, done) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchGroup())
        let failed = Mutex<[Int64: Bool]>([:])
        let hasEnded = Mutex(false)
        let firstFailure = Mutex<(any Error)?>(nil)
        let transactions = transactions
        DispatchQueue(label: "first").async(group: done) {
            do {
                try transactions.run { connection in
                    try Self.insert(-1, connection)
                    began.signal()
                    ended.wait()
                }
            } catch {
                firstFailure.withLock { $0 = error }
                // The test fails; it must not wait for a transaction that is over.
                began.signal()
            }
        }
        began.wait()
        if let failure = firstFailure.withLock(\.self) { throw failure }
        for number in 0..<count {
            // A queue of its own each: a queue that is shared may not run so many at once.
            DispatchQueue(label: "\(number)").async(group: done) {
                var hasFailed = false
                do {
                    let isOver = { @Sendable in over.contains(number) && hasEnded.withLock(\.self) }
                    try CurrentRequest.run(unless: isOver) { try transactions.run { try body(number, $0) } }
                } catch {
                    hasFailed = true
                }
                failed.withLock { $0[number] = hasFailed }
            }
        }
        while transactions.waitingCount < count { sched_yield() }
        hasEnded.withLock { $0 = true }
        ended.signal()
        #expect(done.wait(timeout: .now() + 60) == .success)
        return failed.withLock(\.self)
    }

    private static func insert(_ number: Int64, _ connection: any SQLConnection) throws {
        _ = try connection.run("INSERT INTO numbers VALUES ($1)", [.integer(number)])
    }

    private func stored() throws -> [Int64] {
        try transactions.run { connection in
            try connection.run("SELECT number FROM numbers ORDER BY number", []).compactMap {
                if case .integer(let number)? = $0.first { number } else { nil }
            }
        }
    }

    @Test func transactionsThatWaitShareOneCommit() throws {
        let failed = try together(10) { number, connection in try Self.insert(number, connection) }
        #expect(connection.commits == 2)
        #expect(failed.count == 10 && !failed.values.contains(true))
        #expect(try stored() == [-1] + Array(0..<10))
    }

    @Test func aTransactionThatFailsIsUndoneAlone() throws {
        let failed = try together(4) { number, connection in
            try Self.insert(number, connection)
            if number == 2 { throw Refusal() }
        }
        #expect(failed == [0: false, 1: false, 2: true, 3: false])
        #expect(try stored() == [-1, 0, 1, 3])
    }

    @Test func aTransactionWhoseRequestIsOverWhenItsTurnComesHasNoEffect() throws {
        let failed = try together(4, over: [0, 2]) { number, connection in
            try Self.insert(number, connection)
        }
        #expect(failed == [0: true, 1: false, 2: true, 3: false])
        #expect(connection.commits == 2, "the others still share one commit")
        #expect(try stored() == [-1, 1, 3])
    }

    @Test func aTransactionWhoseRequestEndsMeanwhileIsUndone() throws {
        let state = Mutex(false)
        let isOver = { state.withLock(\.self) }
        #expect(throws: StorageFailure.self) {
            try connection.transaction(unless: isOver) { connection in
                try Self.insert(1, connection)
                state.withLock { $0 = true }
            }
        }
        #expect(throws: StorageFailure.self) { try connection.transaction(unless: isOver) { try Self.insert(2, $0) } }
        #expect(connection.commits == 0)
        #expect(try stored() == [])
    }

    @Test func aCommitThatFailsFailsForAllThatShareIt() throws {
        connection.failingCommit = 2
        let failed = try together(4) { number, connection in try Self.insert(number, connection) }
        #expect(failed == [0: true, 1: true, 2: true, 3: true])
        #expect(try stored() == [-1])
    }

    @Test func aDatabaseThatEndsTheTransactionFailsForAllThatShareIt() throws {
        // SQLite does this after some failures, such as a full disk.
        let failed = try together(4) { number, connection in
            try Self.insert(number, connection)
            guard number == 1 else { return }
            _ = try connection.run("ROLLBACK", [])
            throw Refusal()
        }
        #expect(failed == [0: true, 1: true, 2: true, 3: true])
        #expect(try stored() == [-1])
    }

    @Test func whatWaitsForAReadRunsAfterIt() throws {
        let (done, transactions) = (DispatchGroup(), transactions)
        let number: Int? = try transactions.readIfFree { _ in
            for number in 0..<3 {
                DispatchQueue(label: "\(number)").async(group: done) {
                    try? transactions.run { try Self.insert(Int64(number), $0) }
                }
            }
            while transactions.waitingCount < 3 { sched_yield() }
            return connection.commits
        }
        #expect(number == 0)
        #expect(done.wait(timeout: .now() + 60) == .success)
        #expect(try stored() == [0, 1, 2])
    }

    @Test func manyFailuresRepeatFewTransactions() throws {
        let (rounds, size): (Int64, Int64) = (34, 8)
        let runs = Mutex(0 as Int64)
        for round in 0..<rounds {
            let failed = try together(size) { number, connection in
                if number == 0 {
                    runs.withLock { $0 += 1 }
                    throw Refusal()
                }
                try Self.insert(round * size + number, connection)
            }
            #expect(failed.filter(\.value).map(\.key) == [0])
            _ = try transactions.run { try $0.run("DELETE FROM numbers WHERE number = -1", []) }
        }
        #expect(runs.withLock(\.self) == rounds + 1, "only the first group runs twice")
        #expect(try stored().count == rounds * (size - 1))
    }

    @Test func oneGroupOfManyRunsTwiceHoweverFailuresAreSpread() throws {
        let rounds = 3
        let runs = Mutex(0)
        for round in 0..<rounds {
            let first = Int64(round * 2)
            _ = try together(2) { number, connection in
                if number == 0 {
                    runs.withLock { $0 += 1 }
                    throw Refusal()
                }
                try Self.insert(first + number, connection)
            }
            // As many as run with savepoints: the next group runs without again.
            for _ in 0..<GroupedTransactions.cautiousGroups {
                _ = try transactions.run { try $0.run("DELETE FROM numbers WHERE number = -1", []) }
            }
        }
        #expect(runs.withLock(\.self) == rounds * 2)
    }

    @Test func theErrorOfATransactionReachesItsOwner() throws {
        #expect(throws: Refusal()) { try transactions.run { _ in throw Refusal() } }
    }
}

/// A connection that counts commits, and lets one of them fail.
private final class CountingConnection: SQLConnection, @unchecked Sendable {
    // Used by one thread at a time, which `GroupedTransactions` promises.
    private let real: SQLiteConnection
    private(set) var commits = 0
    /// The number of the commit that fails; none by default.
    var failingCommit = 0

    init(_ real: SQLiteConnection) { self.real = real }

    var node: String { real.node }
    var changedRowCount: Int { real.changedRowCount }

    func run(_ sql: String, _ values: [SQLValue]) throws(StorageFailure) -> [[SQLValue]] { try real.run(sql, values) }
    func hasTables() throws(StorageFailure) -> Bool { try real.hasTables() }
    func isEmpty() throws(StorageFailure) -> Bool { try real.isEmpty() }
    func beginChange(alone: Bool) throws(StorageFailure) { try real.beginChange(alone: alone) }
    func requireVersion() throws(StorageFailure) { try real.requireVersion() }
    func begin() throws(StorageFailure) { try real.begin() }
    func lock(_ lock: StorageLock) throws(StorageFailure) { real.lock(lock) }
    func createSpent(_ epoch: Int64) -> [String] { real.createSpent(epoch) }

    func commit() throws(StorageFailure) {
        commits += 1
        if commits == failingCommit { throw StorageFailure("The disk is full.") }
        try real.commit()
    }
}
