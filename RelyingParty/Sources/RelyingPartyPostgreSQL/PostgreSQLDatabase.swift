// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import RelyingParty

/// A database of PostgreSQL that several nodes use: a bounded number of connections, which are made when they are needed
/// and again after they were lost. Usable from any thread.
package final class PostgreSQLDatabase: SQLDatabase, @unchecked Sendable {
    /// How long a request waits for a connection, in milliseconds.
    private static let waitMilliseconds: Int64 = 2000
    /// After a failed attempt to connect, the next one is made so much later, twice as late each time.
    private static let pauses: ClosedRange<Int64> = 50...1000
    /// How old the measured time of the server may get, in milliseconds.
    private static let clockMilliseconds: Int64 = 10_000
    /// Longer than any request takes: one that had its effect in the database before may add to the list so much later.
    private static let comparisonMilliseconds: Int64 = 60_000

    private struct State {
        var idle: [PostgreSQLConnection] = []
        /// Connections that exist, idle or lent, or are being made.
        var count = 0
        var pause = PostgreSQLDatabase.pauses.lowerBound
        /// When the next attempt to connect may be made.
        var nextAttempt: Int64 = 0
        /// Why the last attempt failed, for the log; nil after one that did not.
        var failure: String?
        /// Whether it failed because the database is not one that may be used. Nothing waits for the next attempt then.
        var isRefused = false
        /// The database that was found last.
        var identity: String?
        /// The one that may be used. Connections to others are closed.
        var admitted: String?
        var comparison: (@Sendable (any SQLConnection) throws -> Void)?
        /// How often a comparison was demanded, whether one runs, and when the last one ended.
        var comparisons = 0
        var isComparing = false
        var lastComparison: Int64?
        /// The time of the server less that of `Monotonic`, in milliseconds, and when it was measured.
        var clockOffset: Int64 = 0
        var clockMeasured: Int64 = 0
        var accepted: Int64 = 0
        /// How many threads wait for a connection.
        var waiting = 0
    }

    private let conninfo: String
    private let node: String
    private let versions: [SchemaVersion]
    private let limit: Int
    // `state` is used with `mutex` only; both C objects have a stable address until `deinit`.
    private var state = State()
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let changed = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    /// Why a connection string cannot be used, if so. Never contains a part of it.
    package static func fault(in conninfo: String) -> String? { PostgreSQLConnection.fault(in: conninfo) }

    /// Connects, and makes or changes the tables.
    ///
    /// - Parameters:
    ///   - conninfo: a connection string of libpq.
    ///   - node: the name of this node, for its chain of the audit log.
    ///   - connections: the most connections, at least 1.
    ///   - versions: the versions of the tables.
    package init(
        _ conninfo: String, node: String, connections: Int, versions: [SchemaVersion] = PostgreSQLSchema.versions
    ) throws(StorageFailure) {
        (self.conninfo, self.versions) = (conninfo, versions)
        self.node = node
        limit = max(1, connections)
        pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(changed, &attributes)
        pthread_condattr_destroy(&attributes)
        let first = try PostgreSQLConnection(conninfo, node: node, versions: versions)
        try first.configure()
        try first.expand(to: versions)
        try meet(first)
        state.idle = [first]
        state.count = 1
    }

    /// Which database a connection string leads to, and the version of its tables. Changes nothing, and takes a database whose
    /// tables this program must not use.
    package static func find(_ conninfo: String) throws(StorageFailure) -> (identity: String, version: Int64) {
        let connection = try PostgreSQLConnection(conninfo, node: "")
        guard try connection.hasTables() else { throw StorageFailure.otherDatabase }
        let row = try connection.identify()
        guard let marks = row.marks else { throw StorageFailure.otherDatabase }
        return (row.identity, marks.version)
    }

    deinit {
        pthread_cond_destroy(changed)
        pthread_mutex_destroy(mutex)
        changed.deallocate()
        mutex.deallocate()
    }

    /// The time of the server, in seconds since 1970.
    package var now: Int64 { locked { (Monotonic.milliseconds + $0.clockOffset) / 1000 } }

    /// The time since which challenges are accepted, in seconds since 1970, as far as this process knows.
    package var accepted: Int64 { locked(\.accepted) }

    package func read<Result>(_ body: (any SQLConnection) throws -> Result) throws -> Result { try lend(body) }

    package func transaction<Result>(_ body: (any SQLConnection) throws -> Result) throws -> Result {
        let isOver = CurrentRequest.isOver
        return try lend { try $0.transaction(unless: isOver, body) }
    }

    package var use: DatabaseUse {
        locked { DatabaseUse(connections: limit, inUse: $0.count - $0.idle.count, waiting: $0.waiting) }
    }

    private func lend<Result>(_ body: (any SQLConnection) throws -> Result) throws -> Result {
        let connection = try borrow()
        defer { giveBack(connection) }
        return try body(connection)
    }

    /// Ends the use of the tables by programs of earlier versions.
    ///
    /// - Returns: whether there was anything to end.
    package func finishUpgrade() throws(StorageFailure) -> Bool {
        let connection = try borrow()
        defer { giveBack(connection) }
        return try connection.contract(to: versions)
    }

    package func maintain() throws(StorageFailure) {
        // A node whose connections the server has ended must learn soon since when challenges are accepted: until then it
        // issues ones that all nodes refuse. One that only reads must learn whether it still may. Transactions find out
        // both, so this waits for none of them unless the time has to be measured.
        let isBusy = locked { state in
            Monotonic.milliseconds - state.clockMeasured < Self.clockMilliseconds && state.count > 0
                && state.idle.isEmpty
        }
        if isBusy { return }
        let connection = try borrow()
        defer { giveBack(connection) }
        try meet(connection)
    }

    // MARK: - Replacements

    package func compareReplacements(_ body: @escaping @Sendable (any SQLConnection) throws -> Void) {
        locked { $0.comparison = body }
    }

    package func recompare() {
        locked { state in
            let isRecent = state.lastComparison.map { Monotonic.milliseconds - $0 < Self.comparisonMilliseconds }
            guard state.isComparing || isRecent == true else { return }
            state.comparisons += 1
            state.admitted = nil
        }
    }

    /// Admits the database of a connection, after the node has compared it with what it knows, once.
    private func admit(_ connection: PostgreSQLConnection, _ identity: String) throws(StorageFailure) {
        enum Step {
            case admitted, waiting
            case comparing((any SQLConnection) throws -> Void, Int)
        }
        let step = locked { state -> Step in
            if state.admitted == identity { return .admitted }
            guard let comparison = state.comparison else {
                state.admitted = identity
                return .admitted
            }
            if state.isComparing { return .waiting }
            (state.isComparing, state.admitted) = (true, nil)
            return .comparing(comparison, state.comparisons)
        }
        guard case .comparing(let compare, let number) = step else {
            if case .waiting = step { throw Self.incomparable }
            return
        }
        var failure: StorageFailure?
        do {
            try compare(connection)
        } catch {
            failure = error as? StorageFailure ?? Self.incomparable
            connection.refuse()
        }
        let isAdmitted = locked { state in
            (state.isComparing, state.lastComparison) = (false, Monotonic.milliseconds)
            // What was added to the list meanwhile may not have been compared.
            let isAdmitted = failure == nil && state.comparisons == number
            if isAdmitted { state.admitted = identity }
            return isAdmitted
        }
        guard isAdmitted else { throw failure ?? Self.incomparable }
    }

    private static let incomparable = StorageFailure(
        "The database took the place of another one, and is not yet compared with the list of revocations.")

    // MARK: - Connections

    private func borrow() throws(StorageFailure) -> PostgreSQLConnection {
        let deadline = Monotonic.milliseconds + Self.waitMilliseconds
        pthread_mutex_lock(mutex)
        state.waiting += 1
        defer {
            state.waiting -= 1
            pthread_mutex_unlock(mutex)
        }
        while true {
            // The one that was used last: it is the most likely to work.
            while let connection = state.idle.popLast() {
                if connection.isUsable, connection.server?.identity == state.admitted { return connection }
                state.count -= 1
            }
            let now = Monotonic.milliseconds
            guard now < deadline, !state.isRefused || now >= state.nextAttempt else {
                throw StorageFailure(state.failure ?? "No connection to the database became free in time.")
            }
            if state.count < limit, now >= state.nextAttempt {
                state.count += 1
                // One attempt at a time while the database does not answer.
                if state.pause > Self.pauses.lowerBound { state.nextAttempt = now + state.pause }
                pthread_mutex_unlock(mutex)
                let made = connect()
                pthread_mutex_lock(mutex)
                if let made { return made }
                continue
            }
            let wake = state.count < limit ? min(deadline, state.nextAttempt) : deadline
            wait(milliseconds: max(1, wake - now))
        }
    }

    /// A connection that is ready, or nil after a failure, whose consequences are noted.
    private func connect() -> PostgreSQLConnection? {
        var isRefused = false
        do throws(StorageFailure) {
            let made = try PostgreSQLConnection(conninfo, node: node, versions: versions)
            defer { isRefused = made.isRefused }
            try made.configure()
            try meet(made)
            locked { state in
                (state.pause, state.nextAttempt, state.failure) = (Self.pauses.lowerBound, 0, nil)
                state.isRefused = false
                pthread_cond_broadcast(changed)
            }
            return made
        } catch {
            locked { state in
                state.count -= 1
                (state.failure, state.isRefused) = (error.message, isRefused)
                state.nextAttempt = Monotonic.milliseconds + state.pause
                state.pause = min(Self.pauses.upperBound, state.pause * 2)
                pthread_cond_broadcast(changed)
            }
            return nil
        }
    }

    private func giveBack(_ connection: PostgreSQLConnection) {
        let isUsable = connection.isUsable
        locked { state in
            if isUsable {
                state.idle.append(connection)
            } else {
                state.count -= 1
                // Unless the one that took its place was admitted meanwhile.
                if connection.isRefused, connection.server?.identity == state.admitted { state.admitted = nil }
            }
            pthread_cond_signal(changed)
        }
    }

    /// Measures the time of the server, learns since when challenges are accepted, and admits the database.
    private func meet(_ connection: PostgreSQLConnection) throws(StorageFailure) {
        let (known, last) = locked { state in
            let isMeasured = state.clockMeasured != 0
            let now = isMeasured ? (state.clockOffset + Monotonic.milliseconds) / 1000 : 0
            return (state.identity, max(now, state.accepted))
        }
        let before = Monotonic.milliseconds
        let server = try connection.meetServer(known: known, lastSecond: last)
        locked { state in
            // Not each second: the time goes back a little when a request takes longer than the one before.
            if server.identity != state.identity || before - state.clockMeasured >= Self.clockMilliseconds {
                // The earliest possible moment: a node is never ahead of the server, and behind by the duration of a request.
                state.clockOffset = server.milliseconds - Monotonic.milliseconds
                state.clockMeasured = max(1, before)
            }
            state.identity = server.identity
            state.accepted = max(state.accepted, server.accepted)
        }
        connection.server = server
        try admit(connection, server.identity)
    }

    // MARK: - Locking

    private func locked<Result>(_ body: (inout State) throws -> Result) rethrows -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&state)
    }

    /// Waits, with the mutex held before and after, until a connection was given back or the time is over.
    private func wait(milliseconds: Int64) {
        var until = timespec()
        clock_gettime(CLOCK_MONOTONIC, &until)
        let nanoseconds = Int64(until.tv_nsec) + milliseconds * 1_000_000
        until.tv_sec += Int(nanoseconds / 1_000_000_000)
        until.tv_nsec = Int(nanoseconds % 1_000_000_000)
        pthread_cond_timedwait(changed, mutex, &until)
    }
}
