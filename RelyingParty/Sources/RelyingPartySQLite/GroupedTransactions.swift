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

    /// A transaction that waits. Its owner blocks until it is done, so the function may be one that does not escape.
    private final class Waiting {
        /// Nil when it is done: the owner may return only when nothing else holds the function.
        var body: ((any SQLConnection) throws -> Void)?
        var error: (any Error)?
        var isDone = false

        init(_ body: @escaping (any SQLConnection) throws -> Void) { self.body = body }
    }

    // `waiting`, `isRunning` and the states of `Waiting` are used with `mutex`, the connection and the states of a group
    // by the thread that set `isRunning`. Both C objects have a stable address until `deinit`.
    private let connection: any SQLConnection
    private var waiting: [Waiting] = []
    private var isRunning = false
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let changed = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    /// - Parameter connection: used by nothing else from now on.
    init(_ connection: any SQLConnection) {
        self.connection = connection
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(changed, nil)
    }

    deinit {
        pthread_cond_destroy(changed)
        pthread_mutex_destroy(mutex)
        changed.deallocate()
        mutex.deallocate()
    }

    /// How many transactions wait for another one.
    var waitingCount: Int {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return waiting.count
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
            isRunning = false
            pthread_cond_broadcast(changed)
            pthread_mutex_unlock(mutex)
        }
        return try body(connection)
    }

    private func wait(for own: Waiting) {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        waiting.append(own)
        while !own.isDone {
            if isRunning {
                pthread_cond_wait(changed, mutex)
                continue
            }
            isRunning = true
            let group = Array(waiting.prefix(Self.mostTogether))
            waiting.removeFirst(group.count)
            pthread_mutex_unlock(mutex)
            run(group)
            pthread_mutex_lock(mutex)
            for each in group { (each.body, each.isDone) = (nil, true) }
            isRunning = false
            pthread_cond_broadcast(changed)
        }
    }

    private func run(_ group: [Waiting]) {
        do {
            try connection.transaction { connection in
                guard group.count > 1 else { return try group.first?.body?(connection) }
                for each in group { try run(each, on: connection) }
                return ()
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
            try each.body?(connection)
        } catch {
            _ = try connection.run("ROLLBACK TO one", [])
            each.error = error
        }
        _ = try connection.run("RELEASE one", [])
    }
}
