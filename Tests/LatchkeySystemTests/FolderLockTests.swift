// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeySystem
import TestSupport
import Testing

/// The lock that the services of a system share.
@Suite struct FolderLockTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test func severalHoldersShareTheLock() throws {
        let first = try FolderLock.share(folder.path)
        let second = try FolderLock.share(folder.path)
        withExtendedLifetime((first, second)) {}
    }

    @Test func theLockIsNotTakenAloneWhileItIsShared() throws {
        var shared: FolderLock? = try FolderLock.share(folder.path)
        #expect(try FolderLock.takeAlone(folder.path) == nil)
        withExtendedLifetime(shared) {}
        shared = nil
        #expect(try FolderLock.takeAlone(folder.path) != nil)
    }

    @Test func theLockThatOneHasAloneIsNotTakenAgain() throws {
        let alone = try #require(try FolderLock.takeAlone(folder.path))
        #expect(try FolderLock.takeAlone(folder.path) == nil)
        withExtendedLifetime(alone) {}
    }

    /// Another user could have replaced the folder by a link to one of theirs.
    @Test func aLinkToAFolderIsRefused() throws {
        let link = folder.path + "/link"
        try #require(symlink(folder.path, link) == 0)
        #expect(throws: SystemError.self) { try FolderLock.share(link) }
        #expect(throws: SystemError.self) { try FolderLock.takeAlone(link) }
    }
}
