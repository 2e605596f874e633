// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import LatchkeySystem
import Testing

@Suite struct FilesTests {
    private static func scratch() throws -> String {
        var template = Array("/tmp/latchkey-files-XXXXXX".utf8CString)
        try #require(mkdtemp(&template) != nil)
        return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Opening a pipe waits for its other end, for ever if there is none.
    @Test func aPipeInPlaceOfAFileIsRefusedAtOnceAndReplaced() throws {
        let folder = try Self.scratch()
        let path = folder + "/file"
        defer {
            unlink(path)
            rmdir(folder)
        }
        try #require(mkfifo(path, 0o600) == 0)
        #expect(throws: SystemError("read", code: EINVAL)) { try Files.read(path, limit: 100) }
        try Files.replace(path, with: SecretBytes([1, 2, 3]))
        #expect(try Files.read(path, limit: 100) == SecretBytes([1, 2, 3]))
    }

    @Test func aDeviceInPlaceOfAFileIsRefused() throws {
        #expect(throws: SystemError("read", code: EINVAL)) { try Files.read("/dev/zero", limit: 100) }
    }

    @Test func aFolderInPlaceOfAFileIsRefused() throws {
        #expect(throws: SystemError.self) { try Files.read("/tmp", limit: 1 << 20) }
    }

    // MARK: - Paths of any bytes

    private static let latin1 = FilePath(bytes: Array("caf".utf8) + [0xe9])
    /// What the name would be if it were repaired.
    private static let repaired = FilePath("caf\u{fffd}")

    @Test func aFolderListsTheNamesThatItHas() throws {
        let folder = try Self.scratch()
        let path = FilePath(bytes: Array((folder + "/").utf8) + Self.latin1.bytes)
        let opened = try Descriptor.open(folder, O_RDONLY | O_DIRECTORY)
        try Descriptor.open(path, O_WRONLY | O_CREAT).write(all: [7])
        #expect(try opened.names(limit: 10) == [Self.latin1])
        #expect(try Descriptor.open(Self.latin1, below: opened, O_RDONLY).readAll(limit: 10) == [7])
        #expect(throws: SystemError("openat", code: ENOENT)) {
            try Descriptor.open(Self.repaired, below: opened, O_RDONLY)
        }
        #expect(path.description == folder + "/caf\\xE9")
        Files.remove(path)
        #expect(try opened.names(limit: 10).isEmpty)
        rmdir(folder)
    }

    @Test func aFolderIsRemovedWithFilesWhoseNamesAreNoText() throws {
        let folder = try Self.scratch()
        try #require(mkdir(folder + "/store", 0o700) == 0)
        let path = FilePath(bytes: Array((folder + "/store/").utf8) + Self.latin1.bytes)
        try Descriptor.open(path, O_WRONLY | O_CREAT).write(all: [7])
        try #require(try FolderRemoval("store", in: folder, owner: geteuid())).remove(erasing: [])
        #expect(!Files.exists(folder + "/store"))
        rmdir(folder)
    }

    @Test func aZeroByteEndsNoPath() throws {
        let folder = try Self.scratch()
        defer { rmdir(folder) }
        #expect(throws: SystemError("open", code: EINVAL)) {
            try Descriptor.open(folder + "\0/missing", O_RDONLY | O_DIRECTORY)
        }
        #expect(!Files.exists(folder + "\0"))
    }

    @Test func aMarkAfterASlashBeginsAName() {
        let path = "/a/\u{301}b/c"
        #expect(Files.folder(of: "/a/\u{301}b").hasBytes(of: "/a"))
        #expect(Files.name(of: "/a/\u{301}b").hasBytes(of: "\u{301}b"))
        #expect(Files.parents(of: path).map { $0.utf8.count } == [1, 2, 6])
    }
}
