// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Where a file is: an open folder, and a name in it, for calls such as openat(2). Close it.
///
/// Root follows a symbolic link on the way only if root owns it and the folder that it is in. The user of the server could
/// replace a folder by a link otherwise, and root would read and write files where that user may not.
struct FilePlace {
    /// The folder; the current one unless root runs the program, and then the name is a path.
    let folder: CInt
    let name: String
    /// As many as the kernel follows (path_resolution(7)).
    private static let mostLinks = 40

    init(_ path: String) throws(Usage) {
        guard geteuid() == 0 else {
            (folder, name) = (AT_FDCWD, path)
            return
        }
        folder = Self.open(folder: Files.folder(of: path))
        guard folder >= 0 else {
            let isLink = errno == ELOOP
            throw Usage(
                "the folder of \(path) cannot be opened: \(String(cString: strerror(errno)))",
                hint: isLink ? "Root follows only symbolic links that root owns, in folders that root owns." : "")
        }
        name = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[path.utf8.index(after: $0)...]) } ?? path
    }

    func close() {
        if folder >= 0 { Glibc.close(folder) }
    }

    private static let flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC

    /// Opens a folder component by component.
    ///
    /// - Returns: -1 with `errno` if it cannot be opened, ELOOP for a link that is not followed.
    private static func open(folder path: String) -> CInt {
        let slash = UInt8(ascii: "/")
        var folder = Glibc.open(path.utf8.first == slash ? "/" : ".", flags)
        // The components that are left, in bytes as the kernel divides them; the next one is the last one of the array.
        var names: [[UInt8]] = path.utf8.split(separator: slash).reversed().map(Array.init)
        var links = 0
        while folder >= 0, let name = names.popLast().map({ $0.map { CChar(bitPattern: $0) } + [0] }) {
            let next = openat(folder, name, flags | O_NOFOLLOW)
            if next >= 0 {
                Glibc.close(folder)
                folder = next
                continue
            }
            // A link is no folder, or one too many, as the kernel puts it.
            let reason = errno
            links += 1
            guard [ENOTDIR, ELOOP].contains(reason), let target = target(of: name, in: folder) else {
                return failure(closing: folder, reason)
            }
            guard links <= mostLinks, isRoots(name, in: folder) else { return failure(closing: folder, ELOOP) }
            names += target.split(separator: slash).reversed().map(Array.init)
            guard target.first == slash else { continue }
            Glibc.close(folder)
            folder = Glibc.open("/", flags)
        }
        return folder
    }

    /// Whether root owns a link and its folder, in which only root can replace it.
    private static func isRoots(_ link: [CChar], in folder: CInt) -> Bool {
        var (own, parent) = (stat(), stat())
        guard fstat(folder, &parent) == 0, fstatat(folder, link, &own, AT_SYMLINK_NOFOLLOW) == 0 else { return false }
        return own.st_uid == 0 && parent.st_uid == 0
    }

    /// The text of a symbolic link; nil for what is none, or has a text that is longer than a path can be.
    private static func target(of link: [CChar], in folder: CInt) -> [UInt8]? {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlinkat(folder, link, &bytes, bytes.count)
        // A text that fills the buffer may be cut off.
        guard (1..<bytes.count).contains(count) else { return nil }
        return bytes[..<count].map(UInt8.init(bitPattern:))
    }

    private static func failure(closing folder: CInt, _ number: CInt) -> CInt {
        Glibc.close(folder)
        errno = number
        return -1
    }
}
