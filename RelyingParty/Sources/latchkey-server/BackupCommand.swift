// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import RelyingParty
internal import RelyingPartyJSON
internal import RelyingPartySQLite

/// The command `backup`: a copy of the database while the server runs.
enum BackupCommand {
    static func run(_ command: Invocation) throws {
        guard case .file(let database) = command.configuration.storage else {
            throw Usage(
                "backup is for a database in a file", hint: "Use pg_dump or pg_basebackup with PostgreSQL.")
        }
        let path = command.words[0]
        // SQLite would take another text as relative to a folder, or as an address.
        guard path.hasPrefix("/") else { throw Usage("the file of the backup is not an absolute path") }
        do {
            let source = try Files.asOwner(ofFolderOf: database) { try SQLiteBackup(of: database) }
            let rows = try Files.asOwner(ofFolderOf: path) { try write(to: path) { try source.write(to: path) } }
            command.write(
                "The backup is complete: \(rows) rows of the audit log were verified in it.",
                [("file", .string(path)), ("verifiedRows", .integer(rows))])
        } catch let failure as StorageFailure {
            throw Usage(failure.message)
        }
    }

    /// Makes the file of a copy, which only its owner can read, and leaves none if the function that writes it fails.
    static func write<Result>(to path: String, _ body: () throws -> Result) throws -> Result {
        // SQLite takes these for parts of the copy and deletes them.
        for name in ["-wal", "-shm", "-journal"].map({ path + $0 }) where !Files.isMissing(name) {
            throw Usage("\(name) exists", hint: "Choose another name for the backup.")
        }
        let file = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw Usage("\(path) cannot be made: \(String(cString: strerror(errno)))") }
        defer { close(file) }
        do {
            let result = try body()
            guard fsync(file) == 0 else {
                throw Usage("\(path) cannot be written: \(String(cString: strerror(errno)))")
            }
            try Files.synchronise(folder: Files.folder(of: path))
            return result
        } catch {
            unlink(path)
            throw error
        }
    }
}
