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
}
