// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyIdentity
import LatchkeyModel
import LatchkeySystem
import TestPromises
import TestSupport
import Testing

/// The access group that items of a user's own store get in the system's keychain.
@Suite(.needs(.root), .needs(.protectedFolder)) struct InstalledGroupsTests {
    private let folder: RootFolder

    init() throws { folder = try RootFolder() }

    private func target(of group: String, programs: Set<String> = []) throws -> String {
        let groups = InstalledGroups(
            declarations: DeclarationFolder(folder.path), folders: ["/bin-one", "/bin-two"]
        ) { programs.contains($0) }
        return try groups.target(of: group, userID: 1000)
    }

    @Test func aDeclaredNameOrGroupStays() throws {
        try folder.write("notes.conf", "name = Notes\nprogram = /usr/bin/notes\ngroup = team.notes\n")
        #expect(try target(of: "Notes") == "Notes" && target(of: "team.notes") == "team.notes")
        #expect(try target(of: "notes") == "user:1000")
    }

    @Test func theNameOfAProgramBecomesItsPath() throws {
        #expect(try target(of: "notes", programs: ["/bin-two/notes"]) == "/bin-two/notes")
        #expect(try target(of: "notes", programs: ["/bin-two/notes", "/bin-one/notes"]) == "/bin-one/notes")
        #expect(try target(of: "other", programs: ["/bin-one/notes"]) == "user:1000")
    }

    @Test func aDeclaredProgramHasTheNameOfItsDeclaration() throws {
        try folder.write("notes.conf", "name = Notes\nprogram = /bin-one/notes\n")
        #expect(try target(of: "notes", programs: ["/bin-one/notes"]) == "Notes")
    }

    @Test(arguments: [
        "/usr/bin/notes", "unit:notes.service", "user:0", "user:1000", "com.apple.token", "", ".", "..", "a/b",
        "../bin-one/notes", "a b", "n\u{f6}tes", "a\u{0}b", String(repeating: "a", count: 256),
    ])
    func anyOtherNameBecomesTheGroupOfUndeterminedPrograms(group: String) throws {
        let groups = InstalledGroups(declarations: DeclarationFolder(folder.path), folders: ["/bin-one"]) { _ in true }
        #expect(try groups.target(of: group, userID: 1000) == "user:1000")
    }

    // MARK: - Programs

    @Test func aFileThatOnlyRootCanChangeIsAProgram() throws {
        #expect(try InstalledProgram.exists(at: folder.copy(of: "/usr/bin/true", "notes")))
    }

    @Test func filesThatAreNoIdentityAreNoPrograms() throws {
        let program = try folder.copy(of: "/usr/bin/true", "notes")
        #expect(chmod(program, 0o775) == 0)
        #expect(try !InstalledProgram.exists(at: program), "its group can change it")
        #expect(chmod(program, 0o755) == 0 && chown(program, 1000, 0) == 0)
        #expect(try !InstalledProgram.exists(at: program), "another user can change it")
        #expect(chown(program, 0, 0) == 0 && symlink(program, folder.path + "/link") == 0)
        #expect(try !InstalledProgram.exists(at: folder.path + "/link"))
        try folder.write("script", "#!/bin/sh\n", mode: 0o755)
        #expect(try !InstalledProgram.exists(at: folder.path + "/script"))
        #expect(try !InstalledProgram.exists(at: folder.copy(of: "/usr/bin/true", "python3")), "an interpreter")
        #expect(try !InstalledProgram.exists(at: folder.path + "/missing") && !InstalledProgram.exists(at: folder.path))
        #expect(chmod(folder.path, 0o777) == 0)
        #expect(try !InstalledProgram.exists(at: program), "its folder can be changed")
    }

    /// Every program of the user reads the items of the group of undetermined programs.
    @Test(.promise("identity.errors")) func whatCannotBeReadNowIsAnErrorAndNoOtherGroup() throws {
        let program = try folder.copy(of: "/usr/bin/true", "notes")
        for code in [EMFILE, ENFILE, ENOMEM, EACCES, EIO] {
            let calls = SystemCalls { call, path in call == "openat" && path == "notes" ? code : nil }
            #expect(throws: Failure(.daemonUnavailable)) { try InstalledProgram.exists(at: program, calls) }
            let groups = InstalledGroups(
                declarations: DeclarationFolder(folder.path + "/none"), folders: [folder.path]
            ) { (path) throws(Failure) in try InstalledProgram.exists(at: path, calls) }
            #expect(throws: Failure(.daemonUnavailable)) { try groups.target(of: "notes", userID: 1000) }
        }
    }
}
