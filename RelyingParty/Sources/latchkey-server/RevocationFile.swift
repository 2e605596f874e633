// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import RelyingParty

/// The list of revocations in a file, to which the server and the commands append lines.
struct RevocationFile: RevocationList {
    private let path: String
    private let owner: uid_t?
    /// About a million lines.
    private static let limit = 64 << 20

    /// - Parameters:
    ///   - path: the file.
    ///   - owner: to whom root gives the file when the first line makes it; nil for this user.
    init(_ path: String, owner: uid_t?) { (self.path, self.owner) = (path, owner) }

    func append(_ entries: [RevocationEntry]) throws(StorageFailure) {
        let file = try opened()
        // Closing releases the lock.
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw StorageFailure("\(path) is not a regular file.")
        }
        let bytes = Array(entries.map { $0.line + "\n" }.joined().utf8)
        // The lock: a line that is cut off below must not be one of another process.
        guard flock(file, LOCK_EX) == 0 else { throw failure() }
        let end = lseek(file, 0, SEEK_END)
        guard end >= 0 else { throw failure() }
        var last: UInt8 = 0x0a
        guard end == 0 || pread(file, &last, 1, end - 1) == 1 else { throw failure() }
        // What follows would become a part of this line, and both would be lost.
        guard last == 0x0a else { throw incomplete }
        let count = write(file, bytes, bytes.count)
        guard count == bytes.count, fsync(file) == 0 else {
            let failure = failure()
            // A full disk: no part of a line stays.
            ftruncate(file, end)
            throw failure
        }
    }

    func entries() throws(StorageFailure) -> [RevocationEntry] {
        guard !Files.isMissing(path) else { return [] }
        let bytes: [UInt8]
        do throws(Usage) {
            bytes = try Files.read(path, isSecret: true, owner: owner, limit: Self.limit)
        } catch {
            throw Self.failure(error)
        }
        guard bytes.last ?? 0x0a == 0x0a else { throw incomplete }
        var entries: [RevocationEntry] = []
        for (offset, line) in bytes.split(separator: 0x0a).enumerated() {
            guard let text = String(validating: line, as: UTF8.self), let entry = RevocationEntry(line: text) else {
                throw StorageFailure("Line \(offset + 1) of \(path) is not an entry of a revocation.")
            }
            entries.append(entry)
        }
        return entries
    }

    /// Opens the file, and makes it if there is none.
    private func opened() throws(StorageFailure) -> CInt {
        let place = try place()
        defer { place.close() }
        // Not waiting for the reader of a FIFO, which is refused.
        let flags = O_RDWR | O_APPEND | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK
        var file = openat(place.folder, place.name, flags)
        if file < 0, errno == ENOENT {
            let made = openat(place.folder, place.name, flags | O_CREAT | O_EXCL, 0o600)
            guard made < 0 else {
                // Otherwise the server could neither append nor start after root's first revocation.
                guard Files.give(made, to: owner) else {
                    let failure = failure()
                    close(made)
                    throw failure
                }
                return made
            }
            // Another process has made it meanwhile.
            if errno == EEXIST { file = openat(place.folder, place.name, flags) }
        }
        guard file >= 0 else { throw failure() }
        return file
    }

    private func place() throws(StorageFailure) -> FilePlace {
        do throws(Usage) {
            return try FilePlace(path)
        } catch {
            throw Self.failure(error)
        }
    }

    private static func failure(_ usage: Usage) -> StorageFailure {
        StorageFailure(usage.hint.isEmpty ? usage.message : "\(usage.message). \(usage.hint)")
    }

    private var incomplete: StorageFailure {
        StorageFailure(
            "The last line of \(path) has no end: it was edited, or its writing was interrupted. Complete or remove it."
        )
    }

    private func failure() -> StorageFailure {
        StorageFailure("\(path) cannot be written: \(String(cString: strerror(errno)))")
    }
}
