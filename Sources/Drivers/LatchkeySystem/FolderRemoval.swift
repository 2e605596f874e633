// SPDX-License-Identifier: Apache-2.0

import CLatchkeyLinux
import Glibc
package import LatchkeyModel

/// The removal of a folder that contains files only, all of one user.
///
/// The folder may belong to a user who controls its content, while this process is root. So every file is named
/// relative to an open folder, no link is followed, and the file that was opened is checked, not its name.
package struct FolderRemoval: Sendable {
    /// Maximum files of the folder.
    private static let files = 1024
    /// Bytes at the beginning of a file that are overwritten; files of secrets are smaller.
    private static let erasedBytes = 1 << 20

    private let path: String
    private let name: String
    private let owner: UInt32
    private let parent: Descriptor
    private let folder: Descriptor
    private let names: [FilePath]

    /// Opens the folder and checks it; nil if it does not exist.
    ///
    /// - Parameters:
    ///   - parent: the path of the folder above it.
    ///   - owner: the user to whom both folders and all files must belong.
    /// - Throws: `notPermitted` if a folder can be changed by another user, or if an entry is not a regular file with
    ///   one name; nothing was changed then.
    package init?(_ name: String, in parent: String, owner: UInt32) throws(Failure) {
        let path = parent + "/" + name
        guard
            let above = try Self.folder(
                parent,
                { () throws(SystemError) in
                    try Descriptor.open(parent, Self.asFolder)
                })
        else { return nil }
        try Self.check(above, .folder, owner, parent)
        guard
            let folder = try Self.folder(
                path,
                { () throws(SystemError) in
                    try Descriptor.open(name, below: above, Self.asFolder)
                })
        else { return nil }
        try Self.check(folder, .folder, owner, path)
        names = try Self.doing(path) { () throws(SystemError) in try folder.names(limit: Self.files) }
        for entry in names {
            let file = try Self.doing(path) { () throws(SystemError) in
                try Descriptor.open(entry, below: folder, latchkey_path_flag() | O_NOFOLLOW)
            }
            try Self.check(file, .regularFile, owner, "\(path)/\(entry)")
        }
        (self.path, self.name, self.owner, self.parent, self.folder) = (path, name, owner, above, folder)
    }

    private static let asFolder = O_RDONLY | O_DIRECTORY | O_NOFOLLOW

    /// Removes the folder and its files. After a failure or a crash, a second removal completes it.
    ///
    /// - Parameter secrets: the names of files whose content is overwritten with zeros first, as far as the file system
    ///   allows that. They are removed before all others, so that what remains after a crash cannot be decrypted.
    package func remove(erasing secrets: [String]) throws(Failure) {
        let first = secrets.map { FilePath($0) }.filter(names.contains)
        for name in first {
            try erase(name)
            try unlink(name)
        }
        try Self.doing(path) { () throws(SystemError) in try folder.synchronize() }
        for name in names where !first.contains(name) { try unlink(name) }
        try Self.doing(path) { () throws(SystemError) in
            guard unlinkat(parent.number, name, AT_REMOVEDIR) == 0 else { throw SystemError("unlinkat") }
            try parent.synchronize()
        }
    }

    private func erase(_ name: FilePath) throws(Failure) {
        let path = "\(path)/\(name)"
        let file = try Self.doing(path) { () throws(SystemError) in
            // Without O_NONBLOCK a FIFO that has taken the file's place would block.
            try Descriptor.open(name, below: folder, O_WRONLY | O_NOFOLLOW | O_NONBLOCK)
        }
        try Self.check(file, .regularFile, owner, path)
        try Self.doing(path) { () throws(SystemError) in
            let size = min(try file.status().size, Self.erasedBytes)
            try file.write(all: [UInt8](repeating: 0, count: size), at: 0)
            try file.synchronize()
        }
    }

    private func unlink(_ name: FilePath) throws(Failure) {
        try Self.doing("\(path)/\(name)") { () throws(SystemError) in
            guard name.call({ unlinkat(folder.number, $0, 0) }) == 0 else { throw SystemError("unlinkat") }
        }
    }

    // MARK: - Checking

    /// Throws unless the open file is of that type, and only the owner can change it. A file with a second name may be
    /// data of another place.
    private static func check(
        _ file: Descriptor, _ kind: FileStatus.Kind, _ owner: UInt32, _ path: String
    ) throws(Failure) {
        let status = try doing(path) { () throws(SystemError) in try FileStatus(of: file) }
        guard status.kind == kind, status.owner == owner, status.mode & 0o022 == 0,
            kind == .folder || status.links == 1
        else {
            let expected = kind == .folder ? "folder" : "file with one name"
            throw Failure(
                .notPermitted, "\(path) is not a \(expected) that only user \(owner) can change.",
                hint:
                    "Nothing was removed there. Look at it, and remove it yourself if it is not needed: ls -ln \(path)")
        }
    }

    /// Returns nil if the folder does not exist.
    private static func folder(
        _ path: String, _ open: () throws(SystemError) -> Descriptor
    ) throws(Failure) -> Descriptor? {
        do throws(SystemError) {
            return try open()
        } catch {
            switch error.code {
            case ENOENT: return nil
            // A link, or a file of another type.
            case ELOOP, ENOTDIR:
                throw Failure(
                    .notPermitted, "\(path) is not a folder.", hint: "Look at it: ls -ln \(path)", cause: error)
            default: throw failure(error, path)
            }
        }
    }

    private static func doing<R>(_ path: String, _ body: () throws(SystemError) -> R) throws(Failure) -> R {
        do throws(SystemError) { return try body() } catch { throw failure(error, path) }
    }

    private static func failure(_ error: SystemError, _ path: String) -> Failure {
        Failure(.storeReadOnly, "\(path) cannot be removed: \(error.description).", cause: error)
    }
}
