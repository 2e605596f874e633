// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Files that are written, and are complete on the disk when a function returns.
extension Files {
    /// Whether nothing has this name. A name that cannot be examined counts as one that exists, and fails when it is read.
    static func isMissing(_ path: String) -> Bool { access(path, F_OK) != 0 && errno == ENOENT }

    /// The folder of a file.
    static func folder(of path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// Makes the names in a folder durable.
    static func synchronise(folder path: String, in start: CInt = AT_FDCWD) throws(Usage) {
        let folder = openat(start, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { throw Usage("\(path) cannot be opened: \(String(cString: strerror(errno)))") }
        defer { close(folder) }
        guard fsync(folder) == 0 else { throw Usage("\(path) cannot be written: \(String(cString: strerror(errno)))") }
    }

    /// The owner of a file, also of one that is a symbolic link; nil if it cannot be examined.
    static func owner(ofFile path: String) -> uid_t? {
        var status = stat()
        return lstat(path, &status) == 0 ? status.st_uid : nil
    }

    /// The owner of a folder, or of the one to which a symbolic link leads; nil if it cannot be examined.
    static func owner(ofFolder path: String) -> uid_t? {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_uid : nil
    }

    /// Puts bytes into a file that only its owner can read, in one step: a reader finds the old bytes or the new ones.
    ///
    /// - Parameter owner: to whom root gives the file; nil for this user.
    static func replace(_ path: String, with bytes: [UInt8], owner: uid_t?) throws(Usage) {
        let place = try FilePlace(path)
        defer { place.close() }
        let new = place.name + ".new"
        // What an interrupted run left behind.
        unlinkat(place.folder, new, 0)
        let file = openat(place.folder, new, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw Usage("\(path).new cannot be made: \(String(cString: strerror(errno)))") }
        let isWritten =
            give(file, to: owner) && write(file, bytes, bytes.count) == bytes.count && fsync(file) == 0
        close(file)
        guard isWritten, renameat(place.folder, new, place.folder, place.name) == 0 else {
            let failure = Usage("\(path) cannot be written: \(String(cString: strerror(errno)))")
            unlinkat(place.folder, new, 0)
            throw failure
        }
        try synchronise(folder: folder(of: place.name), in: place.folder)
    }

    /// Gives a file that root has just made to its owner, and returns whether that succeeded.
    static func give(_ file: CInt, to owner: uid_t?) -> Bool {
        guard let owner else { return true }
        return fchown(file, owner, gid_t.max) == 0
    }
}
