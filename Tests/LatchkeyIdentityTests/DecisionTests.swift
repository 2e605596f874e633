// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import TestPromises
import Testing

@testable import LatchkeyIdentity
@testable import LatchkeySystem

/// The decision about made-up facts.
@Suite struct DecisionTests {
    private static let (login, service): (UInt32, UInt32) = (1000, 114)
    private static let name = ProcessName(processID: 7, startTime: 99, userID: login)

    private static func component(
        _ kind: FileStatus.Kind, inode: UInt64, owner: UInt32 = 0, mode: UInt32 = 0o755, links: UInt32 = 1,
        mount: MountTable.Mount? = .init(fileSystem: "ext4")
    ) -> PathWalk.Component {
        .init(
            status: .init(
                kind: kind, owner: owner, mode: mode, links: links, file: .init(device: 1, inode: inode), mount: 5),
            mount: mount)
    }

    /// A program of the system, started in the second login session of its user.
    private static func facts(
        user: UInt32 = login, group: String = "/user.slice/user-1000.slice/session-2.scope"
    )
        -> ProcessFacts
    {
        ProcessFacts(
            userIDs: [user, user, user, user], executable: .init(device: 1, inode: 4),
            program: .init(
                path: "/usr/bin/notes",
                components: [
                    component(.folder, inode: 1), component(.folder, inode: 2), component(.folder, inode: 3),
                    component(.regularFile, inode: 4),
                ], isELF: true),
            isInSystemNamespaces: true, isTraced: false, loadsForeignCode: false, controlGroup: group,
            terminal: 34_816, ownsTerminal: true)
    }

    /// A change of the facts that takes the identity of the program away.
    struct Defect: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let apply: @Sendable (inout ProcessFacts) -> Void

        init(_ description: String, _ apply: @escaping @Sendable (inout ProcessFacts) -> Void) {
            testDescription = description
            self.apply = apply
        }

        static func component(
            _ index: Int, _ name: String, _ change: @escaping @Sendable (inout PathWalk.Component) -> Void
        )
            -> Defect
        {
            Defect("component \(index): \(name)") { facts in
                guard var program = facts.program else { return }
                change(&program.components[index])
                facts.program = program
            }
        }

        static func renamed(_ path: String) -> Defect { Defect("path \(path)") { $0.program?.path = path } }
    }

    private static let defects: [Defect] =
        [
            Defect("other effective user") { $0.userIDs[1] = 0 }, Defect("other saved user") { $0.userIDs[2] = 0 },
            Defect("other file system user") { $0.userIDs[3] = 0 },
            Defect("three user ids") { $0.userIDs.removeLast() },
            Defect("other namespaces") { $0.isInSystemNamespaces = false }, Defect("traced") { $0.isTraced = true },
            Defect("a variable for foreign code") { $0.loadsForeignCode = true },
            Defect("no executable") { $0.executable = nil }, Defect("no path") { $0.program = nil },
            Defect("other file at the path") { $0.executable = .init(device: 1, inode: 5) },
            Defect("same inode of another device") { $0.executable = .init(device: 2, inode: 4) },
            Defect("not ELF") { $0.program?.isELF = false },
            Defect("walk ended early") { $0.program?.components.removeLast() },
            Defect("no components") { $0.program?.components = [] },
            Defect("a file as a folder") { $0.program?.components[2].status.kind = .regularFile },
            Defect("a folder as the program") { $0.program?.components[3].status.kind = .folder },
            Defect("a device as the program") { $0.program?.components[3].status.kind = .other },
        ]
        + (0...3).flatMap { index in
            [
                Defect.component(index, "owner") { $0.status.owner = 1000 },
                .component(index, "group may write") { $0.status.mode = 0o775 },
                .component(index, "others may write") { $0.status.mode = 0o757 },
                .component(index, "sticky") { $0.status.mode = 0o1777 },
                .component(index, "deleted") { $0.status.links = 0 },
                .component(index, "mount unknown") { $0.mount = nil },
                .component(index, "mount of a medium") { $0.mount = .init(fileSystem: "ext4", ignoresOwners: true) },
            ]
                + [
                    "fuse", "fuse.sshfs", "fuseblk", "nfs4", "cifs", "9p", "virtiofs", "vfat", "exfat", "iso9660",
                    "new",
                ]
                .map { type in .component(index, type) { $0.mount = .init(fileSystem: type) } }
        }
        + [
            "", "usr/bin/notes", "/usr/bin/notes (deleted)", "/usr/bin/n\u{202e}otes", "/usr/bin/not\nes",
            "/usr/bin/nötes",
            "/" + String(repeating: "n", count: 255), "/memfd:notes (deleted)",
        ].map(Defect.renamed)
        + [
            "python3", "python3.11", "python3.11-dbg", "perl", "perl5.36.0", "ruby3.1", "node", "nodejs", "deno", "bun",
            "java", "sh", "dash", "bash", "zsh", "fish", "ksh", "ksh93", "mksh", "lua5.4", "luajit-2.1.0", "php8.2",
            "guile-3.0", "gdb", "lldb-17", "strace", "busybox", "env", "sudo", "su", "pkexec", "doas", "qemu-x86_64",
            "qemu-system-arm", "ld-linux-x86-64.so.2", "ld-linux.so.2", "ld-musl-x86_64.so.1", "ld.so", "ld-2.31.so",
            "script", "tmux", "screen", "make", "gjs", "dotnet", "wish8.6",
        ].map { .renamed("/usr/bin/" + $0) }

    @Test func programOfTheSystemIsIdentifiedByItsPath() {
        let identity = Self.facts().identity(of: Self.name, AppDeclarations())
        let expected = ProgramIdentity(
            label: "notes", program: "/usr/bin/notes", application: "/usr/bin/notes", groups: ["/usr/bin/notes"],
            strength: .program, terminal: 34_816, session: "2")
        #expect(identity == expected)
    }

    @Test func theExecutableOfAnUndeterminedProgramIsNamedForPeople() {
        var facts = Self.facts()
        facts.isTraced = true
        #expect(facts.identity(of: Self.name, AppDeclarations()).executable == "/usr/bin/notes")
        // A path of another file system, or with characters that look like others, would name another program.
        facts.isInSystemNamespaces = false
        #expect(facts.identity(of: Self.name, AppDeclarations()).executable.isEmpty)
        facts.isInSystemNamespaces = true
        facts.program?.path = "/usr/bin/n\u{43e}tes"
        #expect(facts.identity(of: Self.name, AppDeclarations()).executable.isEmpty)
    }

    @Test(.promise("secrets.sandboxes")) func aSandboxNamesAnUndeterminedProgramAndGivesItNothing() throws {
        let app = try #require(SandboxedApp(owner: "flatpak:org.example.App"))
        var facts = Self.facts()
        facts.isInSystemNamespaces = false
        let before = facts.identity(of: Self.name, AppDeclarations())
        facts.sandbox = .app(app)
        var identity = facts.identity(of: Self.name, AppDeclarations())
        #expect(identity.sandbox == app && identity.strength == .user && identity.groups == ["user:1000"])
        let caller = identity.caller(Self.name)
        #expect(caller.label == Caller.undetermined && caller.ownName == "org.example.App (Flatpak)")
        identity.sandbox = nil
        #expect(identity == before)
        facts.sandbox = .malformed
        #expect(facts.identity(of: Self.name, AppDeclarations()) == before)
        // A program with set-user-ID acts for two users.
        facts.sandbox = .app(app)
        facts.userIDs[1] = 0
        #expect(facts.identity(of: Self.name, AppDeclarations()).sandbox == nil)
    }

    @Test(arguments: defects)
    func eachDefectLeavesTheIdentityOfTheUser_abuse5_abuse6(defect: Defect) throws {
        var facts = Self.facts()
        defect.apply(&facts)
        // A declaration of the program changes nothing.
        let declarations = AppDeclarations(files: [
            ("a", Array("name = Notes\nprogram = /usr/bin/notes\nprogram = /usr/bin/python3\n".utf8))
        ])
        #expect(declarations.problems.isEmpty)
        for declarations in [AppDeclarations(), declarations] {
            let identity = facts.identity(of: Self.name, declarations)
            #expect(identity.strength == .user && identity.groups == ["user:1000"])
            #expect(identity.label == Caller.undetermined && identity.program.isEmpty)
            #expect(identity.application == "user:1000")
        }
    }

    @Test(arguments: [
        "notes", "lualatex", "perlbrew", "phpmyadmin", "rubyripper", "javaws-viewer", "shotwell", "susan", "envelope",
    ])
    func programWithSimilarNameAsAnInterpreterIsIdentified(name: String) {
        var facts = Self.facts()
        facts.program?.path = "/usr/bin/" + name
        #expect(facts.identity(of: Self.name, AppDeclarations()).label == name)
    }

    @Test func declarationGivesNameAndGroups() {
        let declarations = AppDeclarations(files: [
            ("a", Array("name = Notes\nprogram = /usr/bin/notes\ngroup = shared\n".utf8))
        ])
        let identity = Self.facts().identity(of: Self.name, declarations)
        #expect(identity.label == "Notes" && identity.application == "Notes" && identity.program == "/usr/bin/notes")
        #expect(identity.groups == ["Notes", "shared"] && identity.strength == .program)
    }

    // MARK: - Services, sandboxes, sessions, terminals

    @Test(arguments: [
        ("/system.slice/notes.service", "notes.service"), ("/system.slice/notes.service/sub", "notes.service"),
        ("/system.slice/system-notes.slice/notes@1.service", "notes@1.service"),
        ("/system.slice/dev\\x2d1.service", "dev\\x2d1.service"),
    ])
    func serviceWithUserOfItsOwnIsIdentifiedByItsUnit(group: String, unit: String) {
        for user in [1, Self.service, 999, 61_184, 65_519] as [UInt32] {
            var facts = Self.facts(user: user, group: group)
            let name = ProcessName(processID: 7, startTime: 99, userID: user)
            #expect(facts.identity(of: name, AppDeclarations()).groups == ["/usr/bin/notes"], "the path is preferred")
            facts.program?.path = "/usr/bin/python3"
            facts.isInSystemNamespaces = false
            let identity = facts.identity(of: name, AppDeclarations())
            #expect(identity.strength == .unit && identity.groups == ["unit:" + unit])
            #expect(identity.label == unit && identity.application == "unit:" + unit && identity.program.isEmpty)
        }
    }

    @Test(arguments: [
        "", "/", "/system.slice", "/system.slice/notes.scope", "/system.slice/.service",
        "/system.slice/a/notes.service",
        "/system.slice/notes.service (deleted)", "/../system.slice/notes.service", "/system.slice/../notes.service",
        "/user.slice/user-114.slice/user@114.service/system.slice/notes.service", "system.slice/notes.service",
        "/a/system.slice/notes.service", "/system.slice/no tes.service", "/system.slice/nötes.service",
    ])
    func otherControlGroupsNameNoService(group: String) {
        var facts = Self.facts(user: Self.service, group: group)
        facts.program = nil
        let name = ProcessName(processID: 7, startTime: 99, userID: Self.service)
        #expect(facts.identity(of: name, AppDeclarations()).groups == ["user:114"])
    }

    @Test(arguments: [0, 1000, 60_000, 61_183, 65_520, 70_000] as [UInt32])
    func serviceWithUserOfOthersIsNotIdentifiedByItsUnit(user: UInt32) {
        var facts = Self.facts(user: user, group: "/system.slice/notes.service")
        facts.program = nil
        let name = ProcessName(processID: 7, startTime: 99, userID: user)
        #expect(facts.identity(of: name, AppDeclarations()).groups == ["user:\(user)"])
    }

    @Test(.promise("abuse.5")) func controlGroupOfFlatpakIsNoSandbox_abuse7() {
        let group = "/user.slice/user-1000.slice/user@1000.service/app.slice/app-flatpak-org.example.Notes-7.scope"
        var facts = Self.facts(group: group)
        facts.isInSystemNamespaces = false
        let identity = facts.identity(of: Self.name, AppDeclarations())
        #expect(identity.groups == ["user:1000"] && identity.strength == .user && identity.session == "user")
    }

    @Test(arguments: [
        ("/user.slice/user-1000.slice/session-2.scope", "2"), ("/user.slice/user-1000.slice/session-c3.scope", "c3"),
        ("/user.slice/user-1000.slice/user@1000.service/app.slice/session-5.scope", "user"),
        ("/user.slice/user-1000.slice/user@1000.service", "user"), ("/user.slice/user-1001.slice/session-2.scope", ""),
        ("/user.slice/user-1000.slice/user@1001.service", ""), ("/user.slice/user-1000.slice/session-.scope", ""),
        ("/user.slice/user-1000.slice/session-2.service", ""), ("/user.slice/user-1000.slice/session-../x.scope", ""),
        ("/user.slice/user-1000.slice", ""), ("/system.slice/notes.service", ""), ("/", ""), ("", ""),
    ])
    func sessionIsThatOfTheUserAlone(group: String, session: String) {
        #expect(Self.facts(group: group).identity(of: Self.name, AppDeclarations()).session == session)
    }

    @Test func terminalOfAnotherUserOrNamespaceDoesNotCount() {
        var foreign = Self.facts()
        foreign.ownsTerminal = false
        #expect(foreign.identity(of: Self.name, AppDeclarations()).terminal == 0)
        var separate = Self.facts()
        separate.isInSystemNamespaces = false
        #expect(separate.identity(of: Self.name, AppDeclarations()).terminal == 0)
    }

    @Test(.promise("attacker.other-user", "abuse.2")) func factsOfAnotherUserGiveNothing_abuse2() {
        let name = ProcessName(processID: 7, startTime: 99, userID: 1001)
        #expect(Self.facts().identity(of: name, AppDeclarations()) == .undetermined(1001))
    }
}
