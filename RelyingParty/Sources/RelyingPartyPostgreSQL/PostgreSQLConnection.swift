// SPDX-License-Identifier: Apache-2.0

internal import CServerPostgreSQL
internal import Glibc
internal import RelyingParty

/// A connection to a server of PostgreSQL, and its prepared statements. Not safe for concurrent use.
final class PostgreSQLConnection: SQLConnection {
    /// How long a connection may take to be made, and the server to answer one statement, in seconds. The server itself ends
    /// statements earlier; this is for one that is not reachable any more.
    private static let connectSeconds = "3"
    private static let answerSeconds: Int64 = 8

    let node: String
    /// The version of the tables of this program.
    private let version: Int64
    private let handle: OpaquePointer
    private var statements: [String: String] = [:]
    private(set) var changedRowCount = 0
    /// Counts warnings of the server; has a stable address until `deinit`.
    private let warnings = UnsafeMutablePointer<CInt>.allocate(capacity: 1)
    /// Whether an answer was lost. Nothing more is sent then.
    private(set) var isLost = false
    /// The database that ``meetServer(known:lastSecond:)`` found last.
    var server: Server?
    /// Whether the tables are not those that were found, or this program must not use them. No other connection may be used
    /// then before it has found out the same.
    private(set) var isRefused = false

    /// Connects, as the connection string says. Blocks for three seconds at most for each host.
    init(
        _ conninfo: String, node: String, versions: [SchemaVersion] = PostgreSQLSchema.versions
    ) throws(StorageFailure) {
        (self.node, version) = (node, Int64(versions.count))
        warnings.initialize(to: 0)
        try Self.requireProtection(conninfo)
        guard let handle = latchkey_server_pg_connect(conninfo, Self.connectSeconds) else {
            throw StorageFailure("There is no memory for a connection.")
        }
        self.handle = handle
        latchkey_server_pg_count_warnings(handle, warnings)
        guard PQstatus(handle) == CONNECTION_OK else {
            // libpq's messages name hosts, users and databases, and never a password.
            let message = PQerrorMessage(handle).map { String(cString: $0) } ?? ""
            throw StorageFailure(
                "The database cannot be reached: \(message.split(separator: "\n").joined(separator: " "))")
        }
        guard isProtected else { throw Self.unprotected }
    }

    private static let unprotected = StorageFailure(
        "The connection to the database is neither on this machine nor protected; add sslmode=verify-full.")

    /// Refuses what would send the password to another machine that is not verified, before anything is sent. libpq itself
    /// says what it would use, because environment and service files count too.
    private static func requireProtection(_ conninfo: String) throws(StorageFailure) {
        guard let started = latchkey_server_pg_start(conninfo, connectSeconds) else {
            throw StorageFailure("There is no memory for a connection.")
        }
        defer { PQfinish(started) }
        guard let options = PQconninfo(started) else { throw StorageFailure("There is no memory for a connection.") }
        defer { PQconninfoFree(options) }
        func values(_ name: String) -> [Substring] {
            latchkey_server_pg_option(options, name).map {
                String(cString: $0).split(separator: ",", omittingEmptySubsequences: false)
            } ?? []
        }
        if values("sslmode") == ["verify-full"] { return }
        let (names, addresses) = (values("host"), values("hostaddr"))
        // An address goes before a name. Without both, libpq uses a socket of this machine.
        let areLocal =
            addresses.isEmpty || addresses == [""]
            ? names.allSatisfy { $0.isEmpty || $0.hasPrefix("/") || $0 == "127.0.0.1" || $0 == "::1" }
            : addresses.allSatisfy { $0 == "127.0.0.1" || $0 == "::1" }
        guard areLocal else { throw unprotected }
    }

    deinit {
        PQfinish(handle)
        warnings.deallocate()
    }

    /// Why a connection string cannot be used, if so. Never contains a part of it, which could be a password.
    static func fault(in conninfo: String) -> String? {
        guard let options = PQconninfoParse(conninfo, nil) else { return "is not a connection string of libpq" }
        defer { PQconninfoFree(options) }
        for secret in ["password", "sslpassword"] where latchkey_server_pg_option(options, secret) != nil {
            return "contains a password; put it into a file of mode 600 and name that with passfile"
        }
        return nil
    }

    /// Whether the server is on this machine, or its certificate was verified. Environment and service files count too.
    private var isProtected: Bool {
        guard let options = PQconninfo(handle) else { return false }
        defer { PQconninfoFree(options) }
        let text = { (text: UnsafePointer<CChar>?) in text.map { String(cString: $0) } ?? "" }
        return text(PQhost(handle)).hasPrefix("/") || ["127.0.0.1", "::1"].contains(text(PQhostaddr(handle)))
            || text(latchkey_server_pg_option(options, "sslmode")) == "verify-full"
    }

    /// Whether the connection can begin a transaction: the server has not closed it while nothing used it.
    var isUsable: Bool {
        guard !isLost, !isRefused, PQtransactionStatus(handle) == PQTRANS_IDLE else { return false }
        var socket = pollfd(fd: PQsocket(handle), events: Int16(POLLIN), revents: 0)
        // A server that stops sends a message and closes the connection, so there is something to read.
        if poll(&socket, 1, 0) != 0 { PQconsumeInput(handle) }
        return PQstatus(handle) == CONNECTION_OK
    }

    /// Ends the use of the database until it is found again.
    func refuse() { isRefused = true }

    // MARK: - Transactions

    // Every statement sees what was committed before it began; `lock` makes what is read stay true.
    static let beginning = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"

    /// The lock comes before the marks, and every statement sees what was committed before it: what the marks say is true
    /// until the end, because who changes them for earlier programs waits for the lock.
    private static let admission = [
        beginning, locking("' version'", "pg_advisory_xact_lock_shared"),
        "SELECT \(SchemaMarks.columns), pg_relation_filenode('server')::bigint",
    ]

    func begin() throws(StorageFailure) {
        let row = try runTogether(Self.admission)
        guard row.count == 3, case .integer(let table) = row[2] else { throw StorageFailure.otherDatabase }
        try admit(SchemaMarks(Array(row[..<2])), table: table)
    }

    func requireVersion() throws(StorageFailure) {
        let found = try identify()
        try admit(found.marks, table: found.table)
    }

    /// Refuses tables that are not for this program, or that have taken the place of the ones that were found before.
    ///
    /// - Parameter table: which file has the table `server`.
    func admit(_ marks: SchemaMarks?, table: Int64) throws(StorageFailure) {
        isRefused = true
        guard let marks else { throw StorageFailure.otherDatabase }
        try marks.require(version)
        guard server == nil || table == server?.table else {
            throw StorageFailure(isRepeatable: true, "The tables were replaced.")
        }
        isRefused = false
    }

    func commit() throws(StorageFailure) {
        let before = warnings.pointee
        do {
            _ = try run("COMMIT", [], isCommit: true)
        } catch {
            guard isLost else { throw error }
            throw StorageFailure("The connection was lost in a commit: it is unknown whether the change was stored.")
        }
        // After a failed statement, COMMIT is a ROLLBACK that succeeds.
        guard isCommitted else { throw StorageFailure("The transaction had failed before its commit.") }
        // A wait for a synchronous standby that is cancelled ends with a warning and nothing else.
        guard warnings.pointee == before else {
            throw StorageFailure("The commit has a warning: it is unknown whether the standby has stored the change.")
        }
    }

    private var isCommitted = false

    func lock(_ lock: StorageLock) throws(StorageFailure) {
        switch lock {
        case .user(let user): _ = try run(Self.locking("' user ' || $1"), [.text(user)])
        case .audit: _ = try run(Self.locking("' audit ' || $1"), [.text(node)])
        case .epochs: _ = try run(Self.locking("' epochs'"), [])
        }
    }

    /// Two names with the same hash share a lock, which costs time only.
    static func locking(_ name: String, _ function: String = "pg_advisory_xact_lock") -> String {
        "SELECT \(function)(hashtextextended(current_schema() || \(name), 0))"
    }

    func createSpent(_ epoch: Int64) -> [String] { PostgreSQLSchema.createSpent(epoch) }

    // MARK: - Statements

    func run(_ sql: String, _ values: [SQLValue]) throws(StorageFailure) -> [[SQLValue]] {
        try run(sql, values, isCommit: false)
    }

    private func run(_ sql: String, _ values: [SQLValue], isCommit: Bool) throws(StorageFailure) -> [[SQLValue]] {
        guard !isLost else { throw lost() }
        let name = try prepare(sql)
        let parameters = Parameters(values)
        let result = try answer(
            parameters.withPointers { pointers, lengths, formats in
                PQsendQueryPrepared(handle, name, CInt(clamping: values.count), pointers, lengths, formats, 1)
            })
        defer { PQclear(result) }
        if isCommit { isCommitted = String(cString: PQcmdStatus(result)) == "COMMIT" }
        changedRowCount = Int(String(cString: PQcmdTuples(result))) ?? 0
        return try Self.rows(result)
    }

    private static func rows(_ result: OpaquePointer) throws(StorageFailure) -> [[SQLValue]] {
        var rows: [[SQLValue]] = []
        for row in 0..<PQntuples(result) {
            var cells: [SQLValue] = []
            for column in 0..<PQnfields(result) { cells.append(try SQLValue(result, row, column)) }
            rows.append(cells)
        }
        return rows
    }

    /// Sends statements without values at once, and waits once. They are prepared: one message with their texts costs the
    /// server more than the waits that it saves.
    ///
    /// - Returns: the first row of the last one.
    private func runTogether(_ statements: [String]) throws(StorageFailure) -> [SQLValue] {
        guard !isLost else { throw lost() }
        // Otherwise the last of them could end the first.
        if self.statements.count + statements.count > Self.mostStatements { try forgetStatements() }
        let names = try statements.map { statement throws(StorageFailure) in try prepare(statement) }
        guard PQenterPipelineMode(handle) == 1,
            names.allSatisfy({ PQsendQueryPrepared(handle, $0, 0, nil, nil, nil, 1) == 1 }),
            PQpipelineSync(handle) == 1
        else { throw lost() }
        let deadline = Monotonic.milliseconds + Self.answerSeconds * 1000
        var (row, failure): ([SQLValue], StorageFailure?) = ([], nil)
        while true {
            // Nil ends the results of one statement.
            guard let result = try nextResult(deadline) else {
                guard PQstatus(handle) == CONNECTION_OK else { throw lost() }
                continue
            }
            defer { PQclear(result) }
            let status = PQresultStatus(result)
            if status == PGRES_PIPELINE_SYNC { break }
            if status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK {
                row = try Self.rows(result).first ?? []
            } else if failure == nil {
                // Those that follow one that failed are not run.
                failure = Self.failure(result)
            }
        }
        guard PQexitPipelineMode(handle) == 1 else { throw lost() }
        if let failure { throw failure }
        return row
    }

    private func prepare(_ sql: String) throws(StorageFailure) -> String {
        if let known = statements[sql] { return known }
        if statements.count >= Self.mostStatements { try forgetStatements() }
        let name = "s\(statements.count)"
        PQclear(try answer(PQsendPrepare(handle, name, sql, 0, nil)))
        statements[sql] = name
        return name
    }

    /// Statements of epochs have the epoch in their text; those of old ones must not accumulate.
    private static let mostStatements = 64

    private func forgetStatements() throws(StorageFailure) {
        PQclear(try answer(PQsendQuery(handle, "DEALLOCATE ALL")))
        statements.removeAll()
    }

    /// Waits for the result of what was sent, which the caller frees.
    private func answer(_ sent: CInt) throws(StorageFailure) -> OpaquePointer {
        guard sent == 1 else { throw lost() }
        let deadline = Monotonic.milliseconds + Self.answerSeconds * 1000
        var first: OpaquePointer?
        do throws(StorageFailure) {
            // Nil ends the results of one statement.
            while let result = try nextResult(deadline) {
                if first == nil { first = result } else { PQclear(result) }
            }
        } catch {
            PQclear(first)
            throw error
        }
        guard let first else { throw lost() }
        let status = PQresultStatus(first)
        if status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK { return first }
        defer { PQclear(first) }
        guard PQstatus(handle) == CONNECTION_OK else { throw lost() }
        throw Self.failure(first)
    }

    /// Waits for the next result, which the caller frees.
    private func nextResult(_ deadline: Int64) throws(StorageFailure) -> OpaquePointer? {
        while PQisBusy(handle) == 1 {
            var socket = pollfd(fd: PQsocket(handle), events: Int16(POLLIN), revents: 0)
            let left = deadline - Monotonic.milliseconds
            let ready = left > 0 ? poll(&socket, 1, CInt(clamping: left)) : 0
            if ready < 0, errno == EINTR { continue }
            guard ready > 0, PQconsumeInput(handle) == 1 else { throw lost() }
        }
        return PQgetResult(handle)
    }

    /// Nothing was committed unless COMMIT had been sent, so the transaction may be run again; `commit` says otherwise.
    private func lost() -> StorageFailure {
        isLost = true
        return StorageFailure(isRepeatable: true, "The connection to the database was lost.")
    }

    /// The message of the server can contain values, so only its code is kept (PostgreSQL, appendix A).
    private static func failure(_ result: OpaquePointer) -> StorageFailure {
        // The number of PG_DIAG_SQLSTATE, a character that Swift does not import.
        let code = PQresultErrorField(result, CInt(UInt8(ascii: "C"))).map { String(cString: $0) } ?? "unknown"
        return StorageFailure(
            isDuplicate: code == "23505", isRepeatable: code == "40001" || code == "40P01",
            "The database reports: SQLSTATE \(code).")
    }
}
