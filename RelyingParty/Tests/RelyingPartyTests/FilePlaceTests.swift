// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing

@testable import latchkey_server

/// Where root finds a file: path and links are divided into names as the kernel divides them.
struct FilePlaceTests {
    /// A combining mark joins the slash before it as a character, so that a link of another user would be a part of a name.
    @Test(.enabled(if: geteuid() == 0)) func aMarkAfterASlashHidesNoLink() throws {
        var template = Array("/tmp/latchkey-place-XXXXXX".utf8CString)
        try #require(mkdtemp(&template) != nil)
        let folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        defer { for name in ["/link", "/real/\u{301}x", "/real", ""] where remove(folder + name) != 0 { continue } }
        try #require(mkdir(folder + "/real", 0o700) == 0 && mkdir(folder + "/real/\u{301}x", 0o700) == 0)
        try #require(symlink("real", folder + "/link") == 0)
        let own = try FilePlace(folder + "/link/\u{301}x/file")
        #expect(own.name == "file")
        own.close()
        try #require(lchown(folder + "/link", 64_321, 64_321) == 0)
        #expect(throws: Usage.self) { try FilePlace(folder + "/link/\u{301}x/file") }
    }

    @Test func theFolderOfAFileEndsAtTheLastSlash() {
        #expect(Files.folder(of: "/a/\u{301}b").utf8.elementsEqual("/a".utf8))
        #expect(Files.folder(of: "/\u{301}b") == "/" && Files.folder(of: "b") == ".")
    }
}
