// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Files that are written, and are complete on the disk when a function returns.
extension Files {
    /// Whether nothing has this name. A name that cannot be examined counts as one that exists, and fails when it is read.
    static func isMissing(_ path: String) -> Bool { access(path, F_OK) != 0 && errno == ENOENT }

    /// The folder of a file.
    static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// Makes the names in a folder durable.
    static func synchronise(folder path: String) throws(Usage) {
        let folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { throw Usage("\(path) cannot be opened: \(String(cString: strerror(errno)))") }
        defer { close(folder) }
        guard fsync(folder) == 0 else { throw Usage("\(path) cannot be written: \(String(cString: strerror(errno)))") }
    }

    /// Puts bytes into a file that only its owner can read, in one step: a reader finds the old bytes or the new ones.
    static func replace(_ path: String, with bytes: [UInt8]) throws(Usage) {
        let new = path + ".new"
        // What an interrupted run left behind.
        unlink(new)
        let file = open(new, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw Usage("\(new) cannot be made: \(String(cString: strerror(errno)))") }
        let isWritten = write(file, bytes, bytes.count) == bytes.count && fsync(file) == 0
        close(file)
        guard isWritten, rename(new, path) == 0 else {
            unlink(new)
            throw Usage("\(path) cannot be written: \(String(cString: strerror(errno)))")
        }
        try synchronise(folder: folder(of: path))
    }
}
