// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import LatchkeySystem

/// Parsing of the kernel's records, and walking of paths.
@Suite struct KernelRecordTests {
    private static let fields =
        "S 1 42 42 34816 43 4194304 99 0 0 0 1 0 0 0 20 0 1 0 8765 5632000 225 18446744073709551615 11 12 13 0 0 0 0 0 0 0"
        + " 0 0 17 1 0 0 0 0 0 21 22 23 24 25 26 27 0\n"

    @Test(arguments: ["cat", "a) S 1 2 3", "a\n)", "()", ""]) func recordIsReadWhateverTheProgramIsNamed(
        name: String
    ) throws {
        let record = try #require(ProcessRecord(Array("7 (\(name)) \(Self.fields)".utf8)))
        #expect(record.startTime == 8765 && record.terminal == 34_816 && record.state == "S")
        #expect(record.processGroup == "42" && record.terminalGroup == "43" && record.hasEnvironment)
        #expect(record.layout == ["11", "12", "13", "21", "22", "23", "24", "25", "26", "27"])
    }

    @Test func recordDuringExecutionHasNoEnvironment() throws {
        let record = try #require(
            ProcessRecord(Array("7 (cat) \(Self.fields)".replacing(" 27 0\n", with: " 0 0\n").utf8)))
        #expect(!record.hasEnvironment)
    }

    @Test(arguments: ["", "7", "7 (cat)", "7 (cat) S 1 42", "7 cat S 1"]) func malformedRecordIsRefused(text: String) {
        #expect(ProcessRecord(Array(text.utf8)) == nil)
    }

    @Test func recordWithNameCutWithinACharacterIsRead() {
        #expect(ProcessRecord(Array("7 (gr".utf8) + [0xc3] + Array(") \(Self.fields)".utf8))?.startTime == 8765)
    }

    @Test func mountTableHasTypeAndWhetherOwnersCount() {
        let table = MountTable(
            Array(
                """
                22 27 0:21 / /proc rw,relatime - proc proc rw
                36 35 98:0 /m /mnt\\0401 rw,nosuid,nodev master:1 shared:2 - fuse.sshfs - rw
                37 35 98:0 / /- rw,nosuidx - ext4 /dev/- rw
                38 35 98:0 / /x rw
                x 35 98:0 / /x rw - ext4 - rw

                """.utf8))
        #expect(table[22] == .init(fileSystem: "proc"))
        #expect(table[36] == .init(fileSystem: "fuse.sshfs", ignoresOwners: true))
        #expect(table[37] == .init(fileSystem: "ext4"))
        #expect(table[38] == nil && table[99] == nil)
    }

    @Test func walkFollowsNoSymbolicLinkAndStopsWhereItIsNotAllowed() throws {
        let folder = try TemporaryFolder()
        #expect(mkdir(folder.path + "/real", 0o755) == 0 && symlink("real", folder.path + "/link") == 0)
        #expect(mkdir(folder.path + "/real/inner", 0o755) == 0)
        let mounts = try MountTable()
        let depth = folder.path.split(separator: "/").count
        let whole = try PathWalk(folder.path + "/real/inner", mounts) { _ in true }
        #expect(whole.components.count == depth + 3 && whole.components.allSatisfy { $0.mount != nil })
        #expect(try PathWalk(folder.path + "/link", mounts) { _ in true }.components.last?.status.kind == .other)
        #expect(throws: SystemError("openat", code: ENOTDIR)) {
            try PathWalk(folder.path + "/link/inner", mounts) { _ in true }
        }
        #expect(try PathWalk(folder.path + "/missing/x", mounts) { _ in false }.components.count == 1)
        for path in ["", "real", "/../etc", "/etc/./passwd", "//etc", "/etc/"] {
            #expect(throws: SystemError("openat", code: EINVAL)) { try PathWalk(path, mounts) { _ in true } }
        }
    }
}
