// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import RelyingParty

/// Runs transactions of many threads on one connection. Those that wait while one is made durable become one
/// transaction of the database: they share its write to the disk, which takes longer than all of their statements.
///
/// Each is undone alone when it fails, and returns only after the shared one is durable.
final class GroupedTransactions: @unchecked Sendable {
    /// The most that share a transaction, so that none of them waits long for the others.
    private static let mostTogether = 64
    /// How many groups run with a savepoint for each transaction after one of them failed. So at most one group of so many
    /// and one runs twice, however many transactions fail.
    static let cautiousGroups = 16

    /// A transaction that waits. Its owner blocks until it is done, so the function may be one that does not escape.
    private final class Waiting {
        /// Nil when it is done: the owner may return only when nothing else holds the function.
        var body: ((any SQLConnection) throws -> Void)?
        /// Whether its request is over, in which case it has no effect.
        let isOver = CurrentRequest.isOver
        var error: (any Error)?
        var isDone = false
        /// Whether its thread runs the next group, of which it is the first.
        var leads = false
        /// Signalled when `isDone` or `leads` changes. Has a stable address until `deinit`.
        let changed = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

        init(_ body: @escaping (any SQLConnection) throws -> Void) {
            self.body = body
            pthread_cond_init(changed, nil)
        }

        deinit {
            pthread_cond_destroy(changed)
            changed.deallocate()
        }

        /// Runs the function, unless the request is over.
        func run(on connection: any SQLConnection) throws {
            if isOver() { error = StorageFailure.requestIsOver } else { try body?(connection) }
        }
    }

    // `waiting`, `isRunning` and the states of `Waiting` are used with `mutex`; the connection, `cautiousLeft` and the
    // functions of a group by the thread that leads it. The mutex has a stable address until `deinit`.
    private let connection: any SQLConnection
    private var waiting: [Waiting] = []
    private var isRunning = false
    private var cautiousLeft = 0
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)

    /// - Parameter connection: used by nothing else from now on.
    init(_ connection: any SQLConnection) {
        self.connection = connection
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    /// How many transactions wait for another one.
    var waitingCount: Int {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return waiting.count
    }

    /// One connection writes; the others only read.
    var use: DatabaseUse {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return DatabaseUse(connections: 1, inUse: isRunning ? 1 : 0, waiting: waiting.count)
    }

    /// Runs a function within a transaction, on this thread or on that of another transaction. Blocks until the changes
    /// are durable.
    func run<Result>(_ body: (any SQLConnection) throws -> Result) throws -> Result {
        var result: Result?
        let storing = { (connection: any SQLConnection) in result = try body(connection) }
        try withoutActuallyEscaping(storing) { work in
            let own = Waiting(work)
            wait(for: own)
            if let error = own.error { throw error }
        }
        guard let result else { throw StorageFailure("A transaction did not run.") }
        return result
    }

    /// Runs a function that only reads, without a transaction, if the connection is not used now; nil otherwise.
    func readIfFree<Result>(_ body: (any SQLConnection) throws -> Result) throws -> Result? {
        pthread_mutex_lock(mutex)
        let isFree = !isRunning && waiting.isEmpty
        if isFree { isRunning = true }
        pthread_mutex_unlock(mutex)
        guard isFree else { return nil }
        defer {
            pthread_mutex_lock(mutex)
            let next = chooseNext()
            pthread_mutex_unlock(mutex)
            if let next { pthread_cond_signal(next.changed) }
        }
        return try body(connection)
    }

    /// The first one that waits leads the next group; if there is none, the connection is free. Call with `mutex`.
    private func chooseNext() -> Waiting? {
        guard let next = waiting.first else {
            isRunning = false
            return nil
        }
        next.leads = true
        return next
    }

    private func wait(for own: Waiting) {
        pthread_mutex_lock(mutex)
        waiting.append(own)
        if isRunning {
            while !own.isDone, !own.leads { pthread_cond_wait(own.changed, mutex) }
        } else {
            isRunning = true
        }
        guard !own.isDone else {
            pthread_mutex_unlock(mutex)
            return
        }
        let group = Array(waiting.prefix(Self.mostTogether))
        waiting.removeFirst(group.count)
        pthread_mutex_unlock(mutex)
        run(group)
        pthread_mutex_lock(mutex)
        for each in group { (each.body, each.isDone) = (nil, true) }
        let next = chooseNext()
        pthread_mutex_unlock(mutex)
        // Only those that have something to do wake up, and after the mutex is free.
        if let next { pthread_cond_signal(next.changed) }
        for each in group where each !== own { pthread_cond_signal(each.changed) }
    }

    private func run(_ group: [Waiting]) {
        if cautiousLeft > 0 {
            cautiousLeft -= 1
            if group.count > 1 { return runApart(group) }
        }
        var hasFailure = false
        do {
            try connection.transaction { connection in
                for each in group {
                    // Only now: BEGIN waits for other writers.
                    do {
                        try each.run(on: connection)
                    } catch {
                        hasFailure = true
                        throw error
                    }
                }
            }
        } catch {
            if hasFailure { cautiousLeft = Self.cautiousGroups }
            // A failure is not to undo the others, which a savepoint for each prevents. That is slower, so a group runs
            // without while nothing fails. Clients can make transactions fail, such as by sending a proof twice.
            if hasFailure, group.count > 1 { return runApart(group) }
            for each in group where each.error == nil { each.error = error }
        }
    }

    private func runApart(_ group: [Waiting]) {
        do {
            try connection.transaction { connection in
                for each in group where each.error == nil { try run(each, on: connection) }
            }
        } catch {
            // Nothing was stored. What had failed before keeps its own reason.
            for each in group where each.error == nil { each.error = error }
        }
    }

    /// Runs one transaction of several. Throws if the others cannot continue, such as when the disk is full: the database
    /// may have ended the whole transaction.
    private func run(_ each: Waiting, on connection: any SQLConnection) throws {
        _ = try connection.run("SAVEPOINT one", [])
        do {
            try each.run(on: connection)
        } catch {
            cautiousLeft = Self.cautiousGroups
            _ = try connection.run("ROLLBACK TO one", [])
            each.error = error
        }
        _ = try connection.run("RELEASE one", [])
    }
}
