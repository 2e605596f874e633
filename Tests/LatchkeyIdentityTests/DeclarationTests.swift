// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import LatchkeyIdentity

/// The format of a declaration, and the rules about several files.
@Suite struct DeclarationTests {
    @Test func everyKeyIsRead() throws {
        let text =
            "# An app.\n\n name=Notes & more \nprogram = /usr/bin/notes\n\tprogram\t=\t/opt/notes/sync\ngroup = shared=1\n"
        let app = try AppDeclaration(parsing: Array(text.utf8))
        #expect(app.name == "Notes & more" && app.programs == ["/usr/bin/notes", "/opt/notes/sync"])
        #expect(app.groups == ["shared=1"])
    }

    @Test(arguments: [
        ("name = A\nprogram = /a\ncolour = red\n", 3, "The key is not `name`, `program` or `group`."),
        ("name = A\nprogram /a\n", 2, "The line is not of the form `key = value`."),
        ("name = A\nprogram =\n", 2, "`program` has no value."),
        ("Name = A\n", 1, "The key is not `name`, `program` or `group`."),
        ("name = A\nname = B\nprogram = /a\n", 2, "The file has a second `name`."),
        ("name = A\nprogram = /a\nprogram = /a\n", 3, "The program is in the file twice."),
        ("name = A\nprogram = /a\ngroup = g\ngroup = g\n", 4, "The group is in the file twice."),
        ("name = A\nprogram = /a\ngroup = A\n", 0, "The file has its `name` as a `group`; it is one already."),
        ("program = /a\n", 0, "The file has no `name`."), ("name = A\n", 0, "The file has no `program`."),
        ("", 0, "The file has no `name`."),
        ("name = A\nprogram = a\n", 2, "`program` is not an absolute path without `//`, `.` and `..`."),
        ("name = A\nprogram = /a/../b\n", 2, "`program` is not an absolute path without `//`, `.` and `..`."),
        ("name = A\nprogram = /a//b\n", 2, "`program` is not an absolute path without `//`, `.` and `..`."),
        ("name = A\nprogram = /a/\n", 2, "`program` is not an absolute path without `//`, `.` and `..`."),
        ("name = A\nprogram = /\n", 2, "`program` is not an absolute path without `//`, `.` and `..`."),
        ("name = A\nprogram = /ä\n", 2, "`program` has a character that is not ASCII."),
        ("name = A\nprogram = /a\r\n", 2, "`program` has a character that is not ASCII."),
        ("name = /a\n", 1, "`name` begins with `/`, which is reserved for programs without a declaration."),
        ("name = unit:a\n", 1, "`name` begins with `unit:`, which is reserved for programs without a declaration."),
        (
            "name = A\ngroup = user:1\n", 2,
            "`group` begins with `user:`, which is reserved for programs without a declaration."
        ),
        ("name = A\ngroup = com.apple.token\n", 2, "`group` is the group of smart cards."),
        ("name = A\u{202e}B\n", 1, "`name` contains an invisible or unassigned character."),
        ("name = A\u{0}B\n", 1, "`name` contains an invisible or unassigned character."),
        ("name = \(String(repeating: "a", count: 256))\n", 1, "`name` has more than 255 bytes."),
        ("name = A\nprogram = /\(String(repeating: "a", count: 255))\n", 2, "`program` has more than 255 bytes."),
    ])
    func malformedLineIsRefusedWithItsNumber(text: String, line: Int, message: String) {
        let expected = AppDeclaration.Malformation(line: line, message: message)
        #expect(throws: expected) { try AppDeclaration(parsing: Array(text.utf8)) }
        let table = AppDeclarations(files: [
            ("/d/a.conf", Array(text.utf8)), ("/d/b.conf", Array("name = B\nprogram = /b".utf8)),
        ])
        #expect(table.problems == [.init(file: "/d/a.conf", line: line, message: message)])
        #expect(table.declaration(ofProgram: "/a") == nil)
        #expect(table.declaration(ofProgram: "/b")?.name == "B", "only the file itself is refused")
    }

    @Test func bytesThatAreNotUTF8AreRefused() {
        #expect(throws: AppDeclaration.Malformation(line: 1, message: "The line is not UTF-8.")) {
            try AppDeclaration(parsing: Array("name = ".utf8) + [0xff, 0x0a])
        }
    }

    @Test func numbersOfProgramsAndGroupsAreLimited() throws {
        func text(_ programs: Int, _ groups: Int) -> [UInt8] {
            let lines = (0..<programs).map { "program = /p\($0)" } + (0..<groups).map { "group = g\($0)" }
            return Array((["name = A"] + lines).joined(separator: "\n").utf8)
        }
        _ = try AppDeclaration(parsing: text(64, 31))
        #expect(throws: AppDeclaration.Malformation(line: 66, message: "The file has more than 64 programs.")) {
            try AppDeclaration(parsing: text(65, 0))
        }
        #expect(throws: AppDeclaration.Malformation(line: 34, message: "The file has more than 31 groups.")) {
            try AppDeclaration(parsing: text(1, 32))
        }
    }

    @Test func filesWithTheSameNameAreAllRefused() {
        let table = AppDeclarations(files: [
            ("/d/a", Array("name = A\nprogram = /a".utf8)), ("/d/b", Array("name = A\nprogram = /b".utf8)),
            ("/d/c", Array("name = C\nprogram = /c".utf8)),
        ])
        #expect(
            table.problems.map(\.description) == [
                "/d/a: /d/b declares the same name, A.", "/d/b: /d/a declares the same name, A.",
            ])
        #expect(["/a", "/b"].allSatisfy { table.declaration(ofProgram: $0) == nil })
        #expect(table.declaration(ofProgram: "/c") != nil)
    }

    @Test func filesWithTheSameProgramAreAllRefused() {
        let table = AppDeclarations(files: [
            ("/d/a", Array("name = A\nprogram = /a\nprogram = /x".utf8)),
            ("/d/b", Array("name = B\nprogram = /x".utf8)),
        ])
        #expect(
            table.problems.map(\.description) == [
                "/d/a: /d/b declares the same program, /x.", "/d/b: /d/a declares the same program, /x.",
            ])
        #expect(["/a", "/x"].allSatisfy { table.declaration(ofProgram: $0) == nil })
    }
}

/// The folder of declarations, which only root may be able to change.
@Suite(.needs(.root), .needs(.protectedFolder)) struct DeclarationFolderTests {
    private let folder: RootFolder
    private let declarations: DeclarationFolder

    init() throws {
        folder = try RootFolder()
        declarations = DeclarationFolder(folder.path)
    }

    private func isDeclared(_ program: String) throws -> Bool {
        try declarations.declarations.declaration(ofProgram: program) != nil
    }
    private var problems: [String] {
        get throws {
            try declarations.declarations.problems.map { String($0.description.dropFirst(folder.path.utf8.count)) }
        }
    }

    @Test func changesOfFilesAndFolderAreSeen() throws {
        #expect(try !isDeclared("/a") && problems.isEmpty)
        try folder.write("a.conf", "name = A\nprogram = /a\n")
        try folder.write("a.conf.dpkg-new", "name = A\nprogram = /a\n")
        #expect(try isDeclared("/a") && problems.isEmpty, "other names are not read")
        try folder.write("a.conf", "name = A\nprogram = /b\n")
        #expect(try !isDeclared("/a") && isDeclared("/b"))
        try folder.write("c.conf", "nonsense\n")
        #expect(try isDeclared("/b") && problems == ["/c.conf:1: The line is not of the form `key = value`."])
        #expect(unlink(folder.path + "/c.conf") == 0 && unlink(folder.path + "/a.conf") == 0)
        #expect(try !isDeclared("/b") && problems.isEmpty)
    }

    @Test func oldFilesAreReadAgainAfterAChange() throws {
        try folder.write("a.conf", "name = A\nprogram = /a\n")
        // The time of the last change of status cannot be set, so the folder is read until the files are old enough.
        let deadline = time(nil) + 4
        while time(nil) < deadline { #expect(try isDeclared("/a")) }
        try folder.write("a.conf", "name = A\nprogram = /b\n")
        #expect(try isDeclared("/b") && !isDeclared("/a"))
        #expect(chmod(folder.path + "/a.conf", 0o666) == 0)
        #expect(try !isDeclared("/b"))
    }

    @Test func fileThatAnotherUserCanChangeIsRefused() throws {
        let message = ["/a.conf: The file can be changed by other users than root."]
        try folder.write("a.conf", "name = A\nprogram = /a\n", mode: 0o664)
        #expect(try !isDeclared("/a") && problems == message)
        try folder.write("a.conf", "name = A\nprogram = /a\n", mode: 0o646)
        #expect(try !isDeclared("/a") && problems == message)
        try folder.write("a.conf", "name = A\nprogram = /a\n")
        #expect(chown(folder.path + "/a.conf", 64_321, 0) == 0)
        #expect(try !isDeclared("/a") && problems == message)
        #expect(chown(folder.path + "/a.conf", 0, 0) == 0)
        #expect(try isDeclared("/a"))
    }

    @Test func folderThatAnotherUserCanChangeIsRefused() throws {
        try folder.write("a.conf", "name = A\nprogram = /a\n")
        #expect(mkdir(folder.path + "/sub", 0o755) == 0)
        let inner = DeclarationFolder(folder.path + "/sub")
        #expect(try inner.declarations.problems.isEmpty)
        for mode in [0o775, 0o757, 0o1777] as [mode_t] {
            #expect(chmod(folder.path, mode) == 0)
            #expect(try problems == [": The folder or one above it can be changed by other users than root."])
            #expect(try !isDeclared("/a") && DeclarationFolder(folder.path + "/sub").declarations.problems.count == 1)
        }
    }

    @Test func filesThatCannotBeReadArePreciselyNamed() throws {
        try folder.write("large.conf", String(repeating: "#", count: 64 << 10) + "\n")
        try folder.write("other", "name = A\nprogram = /a\n")
        #expect(symlink(folder.path + "/other", folder.path + "/link.conf") == 0)
        #expect(mkfifo(folder.path + "/pipe.conf", 0o644) == 0)
        #expect(mkdir(folder.path + "/sub.conf", 0o755) == 0)
        #expect(
            try problems == [
                "/large.conf: The file has more than 65536 bytes.", "/link.conf: The file is a symbolic link.",
                "/pipe.conf: The file is not a regular file.",
                "/sub.conf: The file is not a regular file.",
            ])
    }

    @Test func folderWithTooManyFilesIsRefused() throws {
        for number in 0...1000 { try folder.write("\(number).conf", "name = A\(number)\nprogram = /a\(number)\n") }
        #expect(try problems == [": The folder has more than 1000 files."] && !isDeclared("/a1"))
        #expect(unlink(folder.path + "/0.conf") == 0)
        #expect(try problems.isEmpty && isDeclared("/a1000"))
    }

    @Test func missingFolderDeclaresNothing() throws {
        #expect(try DeclarationFolder(folder.path + "/none").declarations == AppDeclarations())
    }
}
