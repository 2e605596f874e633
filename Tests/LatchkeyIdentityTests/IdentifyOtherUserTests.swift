// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc
import LatchkeyIdentity
import LatchkeyModel
import LatchkeySystem
import Synchronization
import TestPromises
import TestSupport
import Testing

/// The identity of real processes of other users, and of programs in a folder that only root can change.
@Suite(.needs(.root), .needs(.protectedFolder)) struct IdentifyOtherUserTests {
    /// User ids without accounts.
    private static let (user, second): (uid_t, uid_t) = (64_321, 64_322)
    private let folder: RootFolder

    init() throws { folder = try RootFolder() }

    private func identity(_ path: String) throws -> ProgramIdentity {
        let child = try Child(as: Self.user, path)
        try child.awaitEcho()
        return try child.identity(user: Self.user)
    }

    @Test func programOfTheSystemIsIdentifiedForEveryUser() throws {
        let path = try folder.copy(of: "/usr/bin/cat", "echo-app")
        let identity = try identity(path)
        #expect(identity.label == "echo-app" && identity.groups == [path] && identity.strength == .program)
    }

    /// Each change of the copy that gives another user power over it.
    @Test(.promise("attacker.other-app"), arguments: ["owner", "group", "others", "folder", "folderOwner", "sticky"])
    func programThatAnotherUserCanChangeHasTheIdentityOfItsUser_abuse6(defect: String) throws {
        let path = try folder.copy(of: "/usr/bin/cat", "echo-app")
        switch defect {
        case "owner": #expect(chown(path, Self.second, 0) == 0)
        case "group": #expect(chmod(path, 0o775) == 0)
        case "others": #expect(chmod(path, 0o757) == 0)
        case "folder": #expect(chmod(folder.path, 0o777) == 0)
        case "folderOwner": #expect(chown(folder.path, Self.second, 0) == 0)
        default: #expect(chmod(folder.path, 0o1777) == 0)
        }
        let identity = try identity(path)
        #expect(identity.groups == ["user:\(Self.user)"] && identity.strength == .user)
    }

    @Test func deletedExecutableHasTheIdentityOfItsUser() throws {
        let path = try folder.copy(of: "/usr/bin/cat", "echo-app")
        let child = try Child(as: Self.user, path)
        try child.awaitEcho()
        #expect(try child.identity(user: Self.user).groups == [path])
        #expect(unlink(path) == 0)
        #expect(try child.identity(user: Self.user).groups == ["user:\(Self.user)"])
        // Another file at the path is another program, also one whose name ends as the kernel's remark does.
        _ = try folder.copy(of: "/usr/bin/cat", "echo-app")
        _ = try folder.copy(of: "/usr/bin/cat", "echo-app (deleted)")
        #expect(try child.identity(user: Self.user).groups == ["user:\(Self.user)"])
    }

    @Test func interpreterIsRecognisedByTheNameOfItsFileNotOfTheLink() throws {
        let path = try folder.copy(of: "/usr/bin/cat", "python3.99")
        #expect(symlink(path, folder.path + "/honest-app") == 0)
        #expect(try identity(folder.path + "/honest-app").groups == ["user:\(Self.user)"])
    }

    @Test func programThroughALinkHasThePathOfItsFile() throws {
        let path = try folder.copy(of: "/usr/bin/cat", "echo-app")
        #expect(symlink(path, folder.path + "/other-name") == 0)
        #expect(try identity(folder.path + "/other-name").groups == [path])
    }

    @Test func programThatActsForTwoUsersHasTheIdentityOfItsUser_abuse8() throws {
        let path = try folder.copy(of: "/usr/bin/cat", "echo-app")
        // Set-user-ID of root leaves the file protected.
        #expect(chmod(path, 0o4755) == 0)
        let child = try Child(as: Self.user, path)
        try child.awaitEcho()
        #expect(try child.identity(user: Self.user).groups == ["user:\(Self.user)"])
        #expect(try child.identity(user: 0).groups == ["user:0"])
    }

    @Test func declaredProgramHasTheNameAndGroupsOfItsDeclaration() throws {
        let path = try folder.copy(of: "/usr/bin/cat", "echo-app")
        try folder.write("echo.conf", "name = Echo\nprogram = \(path)\ngroup = org.example.shared\n")
        let child = try Child(as: Self.user, path)
        try child.awaitEcho()
        let identity = try child.identity(user: Self.user, DeclarationFolder(folder.path))
        #expect(identity.label == "Echo" && identity.application == "Echo" && identity.program == path)
        #expect(identity.groups == ["Echo", "org.example.shared"] && identity.strength == .program)
    }

    /// Runs `body` on a thread that has these effective capabilities alone, as `latchkey-authd` has. It must not hold a
    /// `Child`: without a capability the thread could not end the process of another user.
    private func withCapabilities<R: Sendable>(
        _ numbers: [Int], _ body: @escaping @Sendable () throws -> R
    ) throws -> R {
        typealias Capset = @convention(c) (UnsafeMutableRawPointer, UnsafeMutableRawPointer) -> CInt
        let result = Mutex<Result<R, any Error>?>(nil)
        let ended = DispatchSemaphore(value: 0)
        let symbol = try #require(dlsym(nil, "capset"))
        let capset = unsafeBitCast(symbol, to: Capset.self)
        Processes.detachThread {
            // _LINUX_CAPABILITY_VERSION_3; effective, permitted and inheritable of the lower and the upper 32 numbers.
            var header: [UInt32] = [0x2008_0522, 0]
            let mask = numbers.reduce(UInt32(0)) { $0 | 1 << UInt32($1) }
            var data: [UInt32] = [mask, mask, 0, 0, 0, 0]
            if capset(&header, &data) == 0 { result.withLock { $0 = Result { try body() } } }
            ended.signal()
        }
        ended.wait()
        return try #require(result.withLock { $0 }, "capset failed").get()
    }

    @Test func serviceNeedsTwoCapabilities() throws {
        let child = try Child(as: Self.user, "/usr/bin/cat")
        try child.awaitEcho()
        let (ptrace, setUID) = (19, 7)
        let name = try child.name(user: Self.user)
        let identifier = ProgramIdentifier(reference: getpid())
        #expect(try withCapabilities([ptrace, setUID]) { try identifier.identify(name) }.label == "cat")
        for lacking in [[ptrace], [setUID], []] {
            #expect(throws: Failure(.daemonUnavailable), "\(lacking)") {
                try withCapabilities(lacking) { try identifier.identify(name) }
            }
        }
        withExtendedLifetime(child) {}
    }

    @Test func variablesOfAnotherUsersProcessAreRead_abuse9() throws {
        for isUndumpable in [false, true] {
            let program = isUndumpable ? try folder.copy(of: "/usr/bin/cat", "secretive") : "/usr/bin/cat"
            // The kernel gives the entries of a process to root whose program its user cannot read.
            if isUndumpable { #expect(chmod(program, 0o711) == 0) }
            for (variable, isIdentified) in [("LD_LIBRARY_PATH=/x", false), ("HOME=/x", true)] {
                let child = try Child(as: Self.user, program, environment: [variable])
                try child.awaitEcho()
                let name = try child.name(user: Self.user)
                let identity = try withCapabilities([19, 7]) {
                    try ProgramIdentifier(reference: getpid()).identify(name)
                }
                withExtendedLifetime(child) {}
                #expect((identity.strength == .program) == isIdentified, "\(program) \(variable)")
            }
        }
    }

    @Test func terminalOfAnotherUserDoesNotCount() throws {
        let terminal = try PseudoTerminal()
        let child = try Child(
            "/usr/bin/setpriv",
            ["--reuid=\(Self.user)", "--regid=\(Self.user)", "--clear-groups", "/usr/bin/cat"], terminal: terminal.path)
        try child.awaitProgram("/usr/bin/cat")
        #expect(Terminal.controlling(child.processID) != 0)
        #expect(try child.identity(user: Self.user).terminal == 0)
    }
}
