// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import RelyingParty

/// The list of revocations in a file, to which the server and the commands append lines.
struct RevocationFile: RevocationList {
    private let path: String
    /// About a million lines.
    private static let limit = 64 << 20

    init(_ path: String) { self.path = path }

    func append(_ entries: [RevocationEntry]) throws(StorageFailure) {
        // Not waiting for the reader of a FIFO, which is refused.
        let file = open(path, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0o600)
        guard file >= 0 else { throw failure() }
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
            bytes = try Files.read(path, isSecret: true, limit: Self.limit)
        } catch {
            throw StorageFailure(error.hint.isEmpty ? error.message : "\(error.message). \(error.hint)")
        }
        guard bytes.last ?? 0x0a == 0x0a else { throw incomplete }
        var entries: [RevocationEntry] = []
        for (offset, line) in String(decoding: bytes, as: UTF8.self).split(separator: "\n").enumerated() {
            guard let entry = RevocationEntry(line: line) else {
                throw StorageFailure("Line \(offset + 1) of \(path) is not an entry of a revocation.")
            }
            entries.append(entry)
        }
        return entries
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
