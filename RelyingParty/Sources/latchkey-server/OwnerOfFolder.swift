// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Files of the server's user, opened by root.
extension Files {
    /// Runs `body` as the user who owns the folder of a file, if root runs the program.
    ///
    /// SQLite opens the files of a database by their paths. Who owns their folder could replace one of them by a link to a file
    /// that only root may change, and root would change it. A link on the way to the folder is followed as `FilePlace` says.
    ///
    /// - Throws: `Usage` if the folder cannot be opened, or root may not act as its owner; what `body` throws.
    static func asOwner<Result>(ofFolderOf path: String, _ body: () throws -> Result) throws -> Result {
        guard geteuid() == 0 else { return try body() }
        let place = try FilePlace(path)
        defer { place.close() }
        var status = stat()
        guard fstat(place.folder, &status) == 0 else {
            throw Usage("the folder of \(path) cannot be examined: \(String(cString: strerror(errno)))")
        }
        guard status.st_uid != 0 else { return try body() }
        let group = getegid()
        var groups = [gid_t](repeating: 0, count: Int(max(0, getgroups(0, nil))))
        let count = getgroups(CInt(groups.count), &groups)
        // The user last: no other user may change the groups.
        guard count >= 0, setgroups(0, nil) == 0, setegid(status.st_gid) == 0, seteuid(status.st_uid) == 0 else {
            throw Usage("the folder of \(path) belongs to another user, as whom this program cannot act")
        }
        defer {
            // A program that is root only in part would fail later, and in another place.
            guard seteuid(0) == 0, setegid(group) == 0, setgroups(Int(count), groups) == 0 else {
                fatalError("root could not become root again")
            }
        }
        return try body()
    }
}
