// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import RelyingParty
internal import RelyingPartyJSON
internal import RelyingPartyPostgreSQL
internal import RelyingPartySQLite

/// The command `rehearse COPY`: a restore and an upgrade, on a copy of the database.
enum RehearseCommand {
    static func run(_ command: Invocation) throws {
        do {
            switch command.configuration.storage {
            case .file(let database): try run(command, database, in: command.words[0])
            case .postgresql(let conninfo, let node, _):
                let copy = command.words[0]
                if let fault = PostgreSQLDatabase.fault(in: copy) { throw Usage("the connection string \(fault)") }
                let (used, found) = try (PostgreSQLDatabase.find(conninfo), PostgreSQLDatabase.find(copy))
                // The rehearsal ends all sessions.
                guard used.identity != found.identity else {
                    throw Usage(
                        "this is the database of the configuration",
                        hint: "Restore a dump into another database or schema, and name that.")
                }
                try rehearse(command, .postgresql(conninfo: copy, node: node, connections: 2), version: found.version)
            }
        } catch let failure as StorageFailure {
            throw Usage(failure.message)
        }
    }

    /// Copies a database in a file, and removes the copy at the end.
    private static func run(_ command: Invocation, _ database: String, in folder: String) throws {
        // SQLite would take another text as relative to a folder, or as an address.
        guard folder.hasPrefix("/") else { throw Usage("the folder of the copy is not an absolute path") }
        let path = folder + "/latchkey-rehearsal.sqlite"
        let source = try Files.asOwner(ofFolderOf: database) { try SQLiteBackup(of: database) }
        try Files.asOwner(ofFolderOf: path) {
            try BackupCommand.write(to: path) { try source.copy(to: path) }
        }
        let outcome = Result { try rehearse(command, .file(path), version: source.version) }
        // It has names of users, also after a failure.
        try Files.asOwner(ofFolderOf: path) {
            for name in ["", "-wal", "-shm"].map({ path + $0 }) where unlink(name) != 0 && errno != ENOENT {
                throw Usage("\(name) cannot be removed: \(String(cString: strerror(errno)))")
            }
        }
        try outcome.get()
    }

    private static func rehearse(_ command: Invocation, _ copy: StorageChoice, version: Int64) throws {
        // The first one expands the tables, as the start of a server does.
        let service = try command.service(copy)
        try verifyAudit(service)
        let missing = try service.missingRevocations()
        let rows = try service.rowCounts()
        try service.finishUpgrade()
        guard try service.rowCounts().elementsEqual(rows, by: ==) else {
            throw Usage("the upgrade changed the number of rows")
        }
        let summary = try service.restore()
        guard try service.missingRevocations() == 0 else { throw Usage("the restored copy lacks revocations") }
        try service.checkStorage()
        let verified = try verifyAudit(service)
        let now = try service.schemaVersion()
        let counted = rows.map { "\($0.table) \($0.count)" }.joined(separator: ", ")
        command.write(
            ([
                "version of the tables: \(version), and \(now) after the upgrade", "rows: \(counted)",
                "verified rows of the audit log: \(verified)",
            ]
                + (command.configuration.revocationsFile == nil ? [] : ["revocations that the copy lacked: \(missing)"])
                + RestoredCommand.lines(summary, command.configuration)
                + ["The rehearsal succeeded. The database of the configuration was not changed."])
                .joined(separator: "\n"),
            [
                ("version", .integer(version)), ("versionAfterUpgrade", .integer(now)),
                ("rows", .object(rows.map { ($0.table, .integer($0.count)) })), ("verifiedRows", .integer(verified)),
                ("missingRevocations", .integer(Int64(missing))),
            ] + RestoredCommand.members(summary))
    }

    @discardableResult private static func verifyAudit(_ service: RelyingPartyService) throws -> Int64 {
        let (count, firstWrong) = try service.verifyAudit()
        if let firstWrong {
            throw Usage("row \(firstWrong.number) of the audit log is missing or was changed in the copy")
        }
        return count
    }
}
