// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import RelyingParty
internal import RelyingPartyHTTP
internal import RelyingPartyPostgreSQL
internal import RelyingPartySQLite

/// The database of the configuration: a file of this server, or a database of PostgreSQL that several nodes share.
enum StorageChoice {
    case file(String)
    case postgresql(conninfo: String, node: String, connections: Int64)

    /// - Parameter values: the values of the configuration by their names.
    init(_ values: [String: String]) throws(Usage) {
        switch (values["database"], values["postgresql"]) {
        case (let path?, nil):
            // SQLite would take another text as the name of a database in memory, or relative to a folder.
            guard path.hasPrefix("/") else { throw Usage("database is not an absolute path") }
            for name in ["node", "postgresql_connections"] where values[name] != nil {
                throw Usage("\(name) is for postgresql; a file has one server")
            }
            self = .file(path)
        case (nil, let conninfo?):
            if let fault = PostgreSQLDatabase.fault(in: conninfo) { throw Usage("postgresql \(fault)") }
            guard let node = values["node"] else {
                throw Usage("the configuration has no node, which postgresql needs")
            }
            // Names appear in the audit log and its heads.
            let isName = node.utf8.allSatisfy { byte in
                (0x61...0x7a).contains(byte) || (0x30...0x39).contains(byte) || byte == UInt8(ascii: "-")
            }
            guard isName, (1...32).contains(node.utf8.count), !node.hasPrefix("-") else {
                throw Usage("node is not 1 to 32 characters a-z, 0-9 and -, which is not the first")
            }
            let connections = try Configuration.number(values, "postgresql_connections", 1...64, 8)
            self = .postgresql(conninfo: conninfo, node: node, connections: connections)
        case (nil, nil): throw Usage("the configuration has neither database nor postgresql")
        default: throw Usage("the configuration has database and postgresql; one server has one database")
        }
    }

    /// The user whose server uses a file that root makes or reads: the owner of the database, or, with PostgreSQL or before
    /// there is a database, the owner of the folder of the file, who can replace it anyway. Nil unless root runs the
    /// program: no other user can give a file away.
    func owner(of path: String) -> uid_t? {
        guard geteuid() == 0 else { return nil }
        if case .file(let database) = self, let owner = Files.owner(ofFile: database) { return owner }
        return Files.owner(ofFolder: Files.folder(of: path))
    }

    /// The name of this node; empty for a file, which one server uses.
    var node: String {
        switch self {
        case .file: ""
        case .postgresql(_, let node, _): node
        }
    }

    /// How many threads answer requests, if the configuration does not say it.
    var threads: Int64 {
        switch self {
        // Transactions that wait for the disk together share one write to it.
        case .file: 16
        // Each waits for a connection; two more answer what needs none.
        case .postgresql(_, _, let connections): connections + 2
        }
    }
}

/// A database that is open, and its clock.
struct OpenStorage {
    let storage: Storage
    /// The time in seconds since 1970.
    let clock: @Sendable () -> Int64
    /// The time since which challenges are accepted, in seconds since 1970.
    let notBefore: @Sendable () -> Int64
    /// How far the clocks of two nodes may differ, in seconds.
    let tolerance: Int64

    /// Opens the database. Blocks while it is made or changed.
    init(_ choice: StorageChoice) throws(Usage) {
        do {
            switch choice {
            case .file(let path):
                // The next second: this one may have begun before the database was restored.
                let started = Int64(time(nil)) + 1
                storage = try Files.asOwner(ofFolderOf: path) {
                    try Files.checkDatabase(path)
                    return Storage(try SQLiteDatabase(path))
                }
                clock = { Int64(time(nil)) }
                notBefore = { started }
                tolerance = 0
            case .postgresql(let conninfo, let node, let connections):
                let database = try PostgreSQLDatabase(conninfo, node: node, connections: Int(connections))
                storage = Storage(database)
                // Nodes measure the time of the same server, at most a second and the duration of a request apart.
                clock = { database.now }
                notBefore = { database.accepted }
                tolerance = 5
            }
        } catch let failure as StorageFailure {
            throw Usage(failure.message)
        } catch let usage as Usage {
            throw usage
        } catch {
            throw Usage("the database cannot be opened")
        }
    }
}
