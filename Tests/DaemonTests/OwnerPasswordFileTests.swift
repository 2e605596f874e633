// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import LatchkeyModel
import LatchkeySystem
import TestSupport
import Testing

/// The file with the password of the owner hierarchy is refused if other users can read or change it.
@Suite(.needs(.protectedFolder)) struct OwnerPasswordFileTests {
    private let folder: ProtectedFolder
    private var path: String { folder.path + "/owner" }

    init() throws { folder = try ProtectedFolder() }

    private func write(_ text: String, _ mode: mode_t = 0o640) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        try #require(chmod(path, mode) == 0)
    }

    private func read(group: UInt32 = getegid()) throws(Failure) -> SecretBytes {
        // The user of the test stands in for root.
        try OwnerPasswordFile.read(path, group: group, orOf: geteuid())
    }

    private func status(_ body: () throws(Failure) -> Void) -> Status? {
        do throws(Failure) { try body() } catch { return error.status }
        return nil
    }

    @Test(arguments: ["a password", "a password\n"]) func aPasswordIsReadWithoutItsLineBreak(_ text: String) throws {
        try write(text)
        #expect(try read() == SecretBytes("a password".utf8))
        try write(text, 0o400)
        #expect(try read() == SecretBytes("a password".utf8))
    }

    @Test(arguments: ["", "\n", "a\nb", "a\n\n", "a\u{0}", String(repeating: "a", count: 65)])
    func aFileWithoutOnePasswordIsRefused(_ text: String) throws {
        try write(text)
        #expect(status { () throws(Failure) in _ = try read() } == .invalidParameter)
    }

    @Test(arguments: [0o644, 0o641, 0o660, 0o642, 0o604] as [mode_t])
    func aFileThatOthersCanReadOrChangeIsRefused(_ mode: mode_t) throws {
        try write("a password", mode)
        #expect(status { () throws(Failure) in _ = try read() } == .peerNotTrusted)
    }

    @Test func aFileInAFolderThatOthersCanChangeIsRefused() throws {
        try write("a password")
        try #require(chmod(folder.path, 0o777) == 0)
        #expect(status { () throws(Failure) in _ = try read() } == .peerNotTrusted)
    }

    @Test func aLinkAndAMissingFileAreRefused() throws {
        #expect(status { () throws(Failure) in _ = try read() } == .invalidParameter)
        try write("a password")
        let link = folder.path + "/link"
        try #require(symlink(path, link) == 0)
        let refused = status { () throws(Failure) in
            _ = try OwnerPasswordFile.read(link, group: getegid(), orOf: geteuid())
        }
        #expect(refused == .peerNotTrusted)
    }

    @Test(.enabled(if: geteuid() == 0, "only root can give a file away"))
    func aFileOfAnotherOwnerOrGroupIsRefused() throws {
        try write("a password")
        try #require(chown(path, 0, 4711) == 0)
        #expect(status { () throws(Failure) in _ = try read() } == .peerNotTrusted)
        #expect(try read(group: 4711) == SecretBytes("a password".utf8))
        try #require(chown(path, 4711, 0) == 0)
        #expect(status { () throws(Failure) in _ = try read() } == .peerNotTrusted)
    }
}

/// A folder that no other user can change or replace, unlike those below the folder of all temporary files.
private final class ProtectedFolder: Sendable {
    let path: String

    init() throws {
        path = try #require(Self.place) + "/latchkey-owner-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// The folder of the built programs, or the home folder of the account, which a variable cannot move.
    static let place = [TestDaemon.programs, getpwuid(geteuid()).map { String(cString: $0.pointee.pw_dir) }]
        .compactMap(\.self).first { place in
            Files.parents(of: place + "/file").allSatisfy { path in
                var status = stat()
                return lstat(path, &status) == 0 && status.st_mode & 0o022 == 0
            }
        }
}

extension Need {
    fileprivate static let protectedFolder = Need("a folder that no other user can change") {
        ProtectedFolder.place != nil
    }
}
