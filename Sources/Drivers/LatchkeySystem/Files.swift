// SPDX-License-Identifier: Apache-2.0

import Glibc
package import LatchkeyModel

/// Files and private folders of one user.
package enum Files {
    /// Whether a file of any type exists at `path`; does not follow a symbolic link there.
    package static func exists(_ path: String) -> Bool { exists(FilePath(path)) }

    /// The same for a path that need not be text.
    package static func exists(_ path: FilePath) -> Bool {
        var status = stat()
        return path.call { lstat($0, &status) } == 0
    }

    /// Reads the whole file; nil when it does not exist. Does not follow a symbolic link at `path`, and does not wait for a
    /// pipe.
    ///
    /// - Throws: `SystemError` with EFBIG when the file has more than `limit` bytes, and with EINVAL for a pipe, a socket or a
    ///   device.
    package static func read(_ path: String, limit: Int) throws(SystemError) -> SecretBytes? {
        let file: Descriptor
        do throws(SystemError) {
            // A pipe without a writer would block otherwise.
            file = try Descriptor.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
        } catch {
            if error.code == ENOENT { return nil }
            throw error
        }
        let status = try file.status()
        guard status.isType(S_IFREG) || status.isType(S_IFDIR) else { throw SystemError("read", code: EINVAL) }
        let size = status.size
        guard size <= limit else { throw SystemError("read", code: EFBIG) }
        var count = 0
        let bytes = try SecretBytes(count: size) { (target) throws(SystemError) in
            while count < size {
                let piece = UnsafeMutableRawBufferPointer(rebasing: target[count...])
                let step = try file.read(into: piece)
                if step == 0 { break }
                count += step
            }
        }
        return count == size
            ? bytes : bytes.withBytes { SecretBytes(copying: UnsafeRawBufferPointer(rebasing: $0[..<count])) }
    }

    /// Opens the file that is replaced, to overwrite its content; nil if there is none, or a pipe, a socket or a device.
    private static func oldFile(_ path: String) throws(SystemError) -> Descriptor? {
        var status = stat()
        guard lstat(path, &status) == 0, [S_IFREG, S_IFDIR, S_IFLNK].contains(status.st_mode & S_IFMT) else {
            return nil
        }
        return try Descriptor.open(path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK)
    }

    /// Replaces `path` atomically and durably by a file with these bytes and mode 0600: after a crash, either the old
    /// or the new file exists.
    ///
    /// Afterwards overwrites the content of the old file with zeros, as far as the file system allows that.
    package static func replace(_ path: String, with bytes: SecretBytes) throws(SystemError) {
        let old = try oldFile(path)
        let temporary = path + ".new"
        unlink(temporary)
        let file = try Descriptor.open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW)
        try bytes.withBytes { (bytes) throws(SystemError) in try file.write(all: bytes) }
        try file.synchronize()
        try rename(temporary, to: path)
        guard let old else { return }
        let zeros = SecretBytes(count: try old.status().size) { _ in }
        try zeros.withBytes { (bytes) throws(SystemError) in try old.write(all: bytes) }
        try old.synchronize()
    }

    package static func remove(_ path: String) { remove(FilePath(path)) }

    /// The same for a path that need not be text.
    package static func remove(_ path: FilePath) { _ = path.call(unlink) }

    /// Renames a file and synchronises the folder of `path`.
    package static func rename(_ from: String, to path: String) throws(SystemError) {
        try rename(FilePath(from), to: FilePath(path))
    }

    /// The same for paths that need not be text.
    package static func rename(_ from: FilePath, to path: FilePath) throws(SystemError) {
        guard from.call({ old in path.call { Glibc.rename(old, $0) } }) == 0 else { throw SystemError("rename") }
        try Descriptor.open(path.folder, O_RDONLY | O_DIRECTORY).synchronize()
    }

    /// Makes creations, renames and removals in the folder of `path` durable.
    package static func synchronizeFolder(of path: String) throws(SystemError) {
        try Descriptor.open(folder(of: path), O_RDONLY | O_DIRECTORY).synchronize()
    }

    /// The path before its last slash; "." when it has none.
    package static func folder(of path: String) -> String { FilePath(path).folder.description }

    /// The folders above an absolute path, the root folder first.
    package static func parents(of path: String) -> [String] {
        var folders = ["/"]
        for part in folder(of: path).parts(at: "/") {
            folders.append((folders.last == "/" ? "" : folders.last ?? "") + "/" + part)
        }
        return folders
    }

    /// The path after its last slash.
    package static func name(of path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return path }
        return String(path[path.utf8.index(after: slash)...])
    }

    /// Creates a folder and its parents with mode 0700, then checks it as `checkPrivateFolder` does.
    package static func makePrivateFolder(_ path: String) throws(Failure) {
        var built = ""
        for part in path.parts(at: "/") {
            built += "/" + part
            if mkdir(built, 0o700) != 0, errno != EEXIST {
                let code = errno
                // mkdir may fail with EACCES or EROFS below a parent that cannot be written, although the folder
                // exists.
                if exists(built) { continue }
                throw folderFailure(path, code)
            }
        }
        try checkPrivateFolder(path)
    }

    /// The nearest folder above `path` that exists, and its owner; nil if it cannot be determined.
    package static func nearestParent(of path: String) -> (path: String, owner: UInt32)? {
        var parent = path[...]
        while let slash = parent.utf8.lastIndex(of: UInt8(ascii: "/")) {
            parent = parent[..<slash]
            let folder = parent.isEmpty ? "/" : String(parent)
            var status = stat()
            if stat(folder, &status) == 0 { return (folder, status.st_uid) }
        }
        return nil
    }

    /// Throws unless `path` is a folder that belongs to this user and gives no permission to its group or to others.
    package static func checkPrivateFolder(_ path: String) throws(Failure) {
        var status = stat()
        guard lstat(path, &status) == 0 else { throw folderFailure(path, errno) }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            throw Failure(
                .storeUnreadable, "\(path) is not a folder.",
                hint: hint(
                    "Move it away or set LATCHKEY_HOME.", orOfService: "Ask an administrator to move it away.",
                    about: path))
        }
        guard status.st_uid == geteuid() else {
            throw Failure(
                .storeOfAnotherUser, "\(path) belongs to user \(status.st_uid), not to you (\(geteuid())).",
                hint: hint(
                    "Set LATCHKEY_HOME to a folder of your own.",
                    orOfService: "Ask an administrator to give it to the user of the service.", about: path))
        }
        guard status.st_mode & 0o077 == 0 else {
            throw Failure(
                .storeOfAnotherUser, "\(path) can be read or changed by other users.", hint: "Run: chmod 700 \(path)")
        }
    }

    /// What to do about the folder that a failure names. A service of the system does not read LATCHKEY_HOME; systemd gives
    /// it the path of its folder in STATE_DIRECTORY (systemd.exec(5)), and an app that is a service the path of another one.
    fileprivate static func hint(_ text: Phrase, orOfService advice: Phrase, about words: String) -> Phrase {
        guard let folder = Environment.value("STATE_DIRECTORY"), words.contains(folder) else { return text }
        return advice
    }

    fileprivate static func hintForUnwritable(_ words: String) -> Phrase {
        hint(
            "Set LATCHKEY_HOME to a folder you may write.",
            orOfService: "Ask an administrator to make the folder and its file system writable.", about: words)
    }

    private static func folderFailure(_ path: String, _ code: CInt) -> Failure {
        switch code {
        case EROFS, EACCES, EPERM:
            Failure(
                .storeReadOnly, "\(path) cannot be written: \(String(cString: strerror(code))).",
                hint: hintForUnwritable(path))
        case ENOSPC, EDQUOT:
            Failure(.diskFull, "There is no space left for \(path).", hint: "Free some space and try again.")
        default:
            Failure(
                .storeUnreadable, "\(path) cannot be used: \(String(cString: strerror(code))).",
                hint: hintForUnwritable(path))
        }
    }
}

extension Failure {
    /// Translates a failed system call on the store. A full disk and a folder that cannot be written have codes of
    /// their own.
    package init(_ error: SystemError, _ action: Phrase, file: String = #fileID, line: UInt = #line) {
        let message = action + ": \(String(cString: strerror(error.code)))"
        let (status, hint): (Status, Phrase) =
            switch error.code {
            case ENOSPC, EDQUOT: (.diskFull, "Free some space and try again.")
            case EROFS, EACCES, EPERM: (.storeReadOnly, Files.hintForUnwritable(action.description))
            default: (.storeUnreadable, "")
            }
        self.init(status, message, hint: hint, cause: error, file: file, line: line)
    }
}

extension Sequence<UInt8> {
    /// FNV-1a with 64 bits: tells values apart that no attacker chooses.
    package var shortHash: UInt64 { reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 } }
}
