// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeySystem
import TestSupport
import Testing

/// Paths that are opened component by component.
@Suite struct PathWalkTests {
    private let folder: TemporaryFolder
    private let mounts: MountTable

    init() throws {
        folder = try TemporaryFolder()
        mounts = try MountTable()
        try #require(mkdir(folder.path + "/inner", 0o700) == 0)
        let file = open(folder.path + "/inner/file", O_WRONLY | O_CREAT | O_EXCL, 0o600)
        try #require(file >= 0 && write(file, "content", 7) == 7)
        close(file)
    }

    /// The code of the error; nil if there is none.
    private func refusal(_ path: String) -> Int32? {
        do throws(SystemError) {
            _ = try PathWalk(path, mounts) { _ in true }
            return nil
        } catch {
            return error.code
        }
    }

    @Test func theStatusesAreThoseOfTheFoldersOnTheWayAndOfTheFile() throws {
        let path = folder.path + "/inner/file"
        let walk = try PathWalk(path, mounts) { _ in true }
        #expect(walk.components.count == path.split(separator: "/").count + 1, "with /")
        #expect(walk.components.dropLast().allSatisfy { $0.status.kind == .folder })
        #expect(walk.components.last?.status.kind == .regularFile)
        #expect(try walk.open().readAll(limit: 100) == Array("content".utf8))
    }

    @Test(arguments: ["", "relative", "/a//b", "/a/./b", "/a/../b", "/a/", "/./a", "//a"])
    func aPathWithAnotherMeaningIsRefused(path: String) {
        #expect(refusal(path) == EINVAL)
    }

    @Test func aPathOfTooManyComponentsIsRefused() {
        #expect(refusal(String(repeating: "/a", count: 65)) == EINVAL)
        #expect(refusal(String(repeating: "/a", count: 64)) == ENOENT)
    }

    @Test func noComponentIsLookedUpThroughALink() throws {
        try #require(symlink("inner", folder.path + "/link") == 0)
        #expect(refusal(folder.path + "/link/file") == ENOTDIR)
        let walk = try PathWalk(folder.path + "/link", mounts) { _ in true }
        #expect(walk.components.last?.status.kind == .other, "the link itself")
        #expect(throws: SystemError.self) { try walk.open() }
    }

    @Test func theWalkEndsAtAComponentThatIsNotAllowed() throws {
        let walk = try PathWalk(folder.path + "/inner/file", mounts) { $0.status.owner != geteuid() }
        #expect(walk.components.last?.status.kind == .folder)
        #expect(walk.components.filter { $0.status.owner == geteuid() }.count == 1, "no look-up in what it refuses")
    }

    @Test func aFileThatReplacedTheOneOfTheWalkIsNotOpened() throws {
        let path = folder.path + "/inner/file"
        let walk = try PathWalk(path, mounts) { _ in true }
        let other = open(folder.path + "/other", O_WRONLY | O_CREAT | O_EXCL, 0o600)
        try #require(other >= 0)
        close(other)
        try #require(rename(folder.path + "/other", path) == 0)
        #expect(throws: SystemError("open", code: ESTALE)) { try walk.open() }
    }
}
