// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc
import LatchkeyIdentity
import LatchkeyModel
import LatchkeySystem
import Synchronization
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

    // MARK: - What cannot be examined

    private static let obstacles = [EACCES, EPERM, EMFILE, ENFILE, ENOMEM, EIO, ELOOP, ESTALE, EAGAIN]

    @Test(arguments: obstacles) func aProgramThatCannotBeExaminedIsAnErrorAndNotTheCommonGroup(code: CInt) {
        let groups = InstalledGroups(declarations: DeclarationFolder(folder.path), folders: ["/bin-one"]) {
            _ throws(SystemError) in throw SystemError("open", code: code)
        }
        let failure = #expect(throws: Failure.self) { try groups.target(of: "notes", userID: 1000) }
        #expect(failure?.status == .daemonUnavailable)
        #expect(failure?.message.hasPrefix("/bin-one/notes cannot be examined") == true, "\(failure?.message ?? "")")
    }

    /// Otherwise a declared program would get its path as group, or the common one, as if the folder were empty.
    @Test(arguments: obstacles) func declarationsThatCannotBeReadAreAnErrorForEveryName(code: CInt) {
        let groups = InstalledGroups(
            declarations: DeclarationFolder(folder.path), folders: ["/bin-one"],
            isProgram: { _ in true },
            checkDeclarations: { () throws(SystemError) in throw SystemError("openat", code: code) })
        for group in ["notes", "team.notes", "a b"] {
            let failure = #expect(throws: Failure.self) { try groups.target(of: group, userID: 1000) }
            #expect(failure?.status == .daemonUnavailable && failure?.message.contains("declarations") == true)
        }
    }

    /// Runs `body` on a thread whose access to files is that of a user without rights, as AppArmor or modes restrict a
    /// service.
    private func withoutRights<R: Sendable>(_ body: @escaping @Sendable () throws -> R) throws -> R {
        typealias SetFileUser = @convention(c) (uid_t) -> CInt
        let result = Mutex<Result<R, any Error>?>(nil)
        let ended = DispatchSemaphore(value: 0)
        let symbol = try #require(dlsym(nil, "setfsuid"))
        let setFileUser = unsafeBitCast(symbol, to: SetFileUser.self)
        Processes.detachThread {
            // Only of this thread; it removes the capabilities that ignore modes.
            _ = setFileUser(64_321)
            result.withLock { $0 = Result { try body() } }
            ended.signal()
        }
        ended.wait()
        return try #require(result.withLock { $0 }).get()
    }

    @Test func aProgramThatThisProcessMayNotReadIsNotTakenForNone() throws {
        let program = try folder.copy(of: "/usr/bin/true", "notes")
        #expect(try withoutRights { try InstalledProgram.exists(at: program) })
        #expect(chmod(program, 0o711) == 0)
        #expect(throws: SystemError("open", code: EACCES)) {
            try withoutRights { try InstalledProgram.exists(at: program) }
        }
        #expect(chmod(program, 0o755) == 0 && chmod(folder.path, 0o700) == 0)
        #expect(throws: SystemError.self) { try withoutRights { try InstalledProgram.exists(at: program) } }
    }

    @Test func aFolderOfDeclarationsThatCannotBeListedIsNotTakenForAnEmptyOne() throws {
        let path = folder.path
        try InstalledGroups.checkFolder(path)
        try InstalledGroups.checkFolder(path + "/missing")
        #expect(chmod(path, 0o711) == 0)
        #expect(throws: SystemError("openat", code: EACCES)) {
            try withoutRights { try InstalledGroups.checkFolder(path) }
        }
        // Refused as a whole, and no declaration counts: nothing is unknown.
        #expect(chmod(path, 0o777) == 0)
        try InstalledGroups.checkFolder(path)
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
        #expect(try !InstalledProgram.exists(at: program + "/below"), "a file is no folder")
        #expect(chmod(folder.path, 0o777) == 0)
        #expect(try !InstalledProgram.exists(at: program), "its folder can be changed")
    }
}
