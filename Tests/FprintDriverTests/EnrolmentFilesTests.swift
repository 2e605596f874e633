// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import LatchkeySystem
import TestSupport
import Testing

@testable import BusDrivers

/// The set of the enrolled fingers, as the files of fprintd are.
@Suite struct EnrolmentFilesTests {
    @Test func aFolderWhoseNameIsNoTextIsAPartOfTheSet() throws {
        let folder = try TemporaryFolder()
        let account = try #require(AccountName("ada"))
        let files = EnrolmentFiles(folder.path)
        for name in ["/ada", "/ada/driver", "/ada/driver/0"] {
            try #require(mkdir(folder.path + name, 0o700) == 0)
        }
        try Descriptor.open(folder.path + "/ada/driver/0/7", O_WRONLY | O_CREAT).write(all: [1])
        let set = try #require(try files.set(of: account))
        let device = Array((folder.path + "/ada/driver/caf").utf8) + [0xe9]
        try #require(mkdir(device.map { CChar(bitPattern: $0) } + [0], 0o700) == 0)
        #expect(try files.set(of: account) == set, "a folder without a finger")
        try Descriptor.open(FilePath(bytes: device + Array("/7".utf8)), O_WRONLY | O_CREAT).write(all: [2])
        #expect(try files.set(of: account) != set)
    }

    @Test func aNameWithASlashIsNoAccount() throws {
        let folder = try TemporaryFolder()
        try #require(mkdir(folder.path + "/a", 0o700) == 0 && mkdir(folder.path + "/a/\u{301}b", 0o700) == 0)
        try #require(mkdir(folder.path + "/a/\u{301}b/driver", 0o700) == 0)
        try #require(mkdir(folder.path + "/a/\u{301}b/driver/0", 0o700) == 0)
        try Descriptor.open(folder.path + "/a/\u{301}b/driver/0/7", O_WRONLY | O_CREAT).write(all: [1])
        // The mark and the slash are one character.
        #expect(try EnrolmentFiles(folder.path).set(of: try #require(AccountName("a/\u{301}b"))) == nil)
    }
}
