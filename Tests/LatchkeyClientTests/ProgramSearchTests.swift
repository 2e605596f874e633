// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyClient
import LatchkeyModel
import LatchkeySystem
import TestPromises
import TestSupport
import Testing

/// Where programs of an installation are looked for.
@Suite struct ProgramSearchTests {
    /// A prefix with a command and a daemon.
    private static func install(_ prefix: String) throws {
        for folder in ["", "/bin", "/libexec"] where !Files.exists(prefix + folder) {
            try #require(mkdir(prefix + folder, 0o755) == 0)
        }
        for program in ["/bin/latchkey", "/libexec/latchkeyd"] {
            try ScriptFile.write("#!/bin/sh\n", to: prefix + program)
        }
    }

    private static func search(
        executable: String? = nil, library: String? = nil, home: String? = nil, path: String? = nil,
        systemPrefixes: [String] = []
    ) -> ProgramSearch {
        var search = ProgramSearch(
            name: "latchkeyd", executable: executable, library: library, home: home, path: path)
        search.systemPrefixes = systemPrefixes
        return search
    }

    private static func message(_ search: ProgramSearch) -> String? {
        do throws(Failure) {
            _ = try search.find(hint: "")
            return nil
        } catch {
            return error.message.description
        }
    }

    // MARK: - Order

    @Test func theFirstOfTheUsualPlacesIsUsed() throws {
        let folder = try TemporaryFolder()
        for name in ["app", "sdk", "home", "local", "usr"] {
            try #require(mkdir(folder.path + "/" + name, 0o755) == 0)
            try Self.install(folder.path + "/" + name + (name == "home" ? "/.local" : ""))
        }
        let search = Self.search(
            executable: folder.path + "/app/bin/program", library: folder.path + "/sdk/lib/latchkey/sdk/libLatchkey.so",
            home: folder.path + "/home", systemPrefixes: [folder.path + "/local", folder.path + "/usr"])
        for name in ["app", "sdk", "home/.local", "local", "usr"] {
            let program = folder.path + "/" + name + "/libexec/latchkeyd"
            #expect(try search.find(hint: "") == program)
            try #require(unlink(program) == 0)
        }
        #expect(Self.message(search) != nil)
    }

    @Test func usrLocalComesBeforeUsr() {
        #expect(ProgramSearch(name: "latchkeyd").systemPrefixes == ["/usr/local", "/usr"])
    }

    @Test func theFailureNamesEveryPlace() throws {
        let folder = try TemporaryFolder()
        try Self.install(folder.path + "/prefix")
        try #require(unlink(folder.path + "/prefix/libexec/latchkeyd") == 0)
        let search = Self.search(
            executable: "/app/bin/program", library: "/sdk/lib/latchkey/sdk/libLatchkey.so", home: folder.path,
            path: "\(folder.path)/prefix/bin", systemPrefixes: ["/usr/local", "/usr"])
        #expect(
            Self.message(search) == """
                latchkeyd is not installed: looked in the prefix of each latchkey in PATH, and for /app/bin/latchkeyd, /app/libexec/latchkeyd, \
                /sdk/libexec/latchkeyd, \(folder.path)/prefix/libexec/latchkeyd, \
                \(folder.path)/.local/libexec/latchkeyd, /usr/local/libexec/latchkeyd, /usr/libexec/latchkeyd.
                """)
    }

    // MARK: - PATH

    @Test(.needs(.root)) func thePrefixOfACommandInPATHIsUsedBeforeTheUsualPlaces() throws {
        let folder = try RootFolder()
        for name in ["opt", "usr"] { try Self.install(folder.path + "/" + name) }
        let path = "relative:/nowhere:\(folder.path)/opt/bin"
        let search = Self.search(path: path, systemPrefixes: [folder.path + "/usr"])
        #expect(try search.find(hint: "") == folder.path + "/opt/libexec/latchkeyd")
        // The command can be a link, as in ~/bin.
        try #require(mkdir(folder.path + "/links", 0o755) == 0)
        try #require(symlink(folder.path + "/opt/bin/latchkey", folder.path + "/links/latchkey") == 0)
        let linked = Self.search(path: folder.path + "/links", systemPrefixes: [folder.path + "/usr"])
        #expect(try linked.find(hint: "") == folder.path + "/opt/libexec/latchkeyd")
        #expect(try Self.search(systemPrefixes: [folder.path + "/usr"]).find(hint: "").hasPrefix(folder.path + "/usr/"))
    }

    /// What makes a prefix unusable: a path below it, and a mode or an owner of it.
    enum Weakness: CaseIterable {
        case folderOfAnotherUser, folderForTheGroup, folderForAll, programOfAnotherUser, programForTheGroup
        case prefixForAll, linkToAnotherUsersFile

        func apply(to prefix: String, other: String) throws {
            let program = prefix + "/libexec/latchkeyd"
            let code =
                switch self {
                case .folderOfAnotherUser: chown(prefix + "/libexec", 65534, 65534)
                case .folderForTheGroup: chmod(prefix + "/libexec", 0o775)
                case .folderForAll: chmod(prefix + "/libexec", 0o777)
                case .programOfAnotherUser: chown(program, 65534, 65534)
                case .programForTheGroup: chmod(program, 0o775)
                case .prefixForAll: chmod(prefix, 0o1777)
                case .linkToAnotherUsersFile:
                    unlink(program) + symlink(other, program) + chown(other, 65534, 65534)
                }
            try #require(code == 0)
        }
    }

    @Test(.promise("abuse.8"), .needs(.root), arguments: Weakness.allCases)
    func aProgramThatAnotherUserCanReplaceIsNotStartedByPATH(weakness: Weakness) throws {
        let folder = try RootFolder()
        for name in ["opt", "usr"] { try Self.install(folder.path + "/" + name) }
        try ScriptFile.write("#!/bin/sh\n", to: folder.path + "/other", mode: 0o755)
        let path = folder.path + "/opt/bin"
        #expect(try Self.search(path: path).find(hint: "") == folder.path + "/opt/libexec/latchkeyd")
        try weakness.apply(to: folder.path + "/opt", other: folder.path + "/other")
        let message = try #require(Self.message(Self.search(path: path)))
        #expect(message.hasPrefix("\(folder.path)/opt/libexec/latchkeyd is not used: "), "\(message)")
        // The places after it are used.
        let search = Self.search(path: path, systemPrefixes: [folder.path + "/usr"])
        #expect(try search.find(hint: "") == folder.path + "/usr/libexec/latchkeyd")
    }

    /// The prefix ~/.local was used before PATH was, also where groups may write in it, as with the umask 002.
    @Test func aUsualPlaceIsUsedAlsoIfPATHNamesIt() throws {
        let folder = try TemporaryFolder()
        try #require(mkdir(folder.path + "/.local", 0o775) == 0)
        try Self.install(folder.path + "/.local")
        let search = Self.search(home: folder.path, path: folder.path + "/.local/bin")
        #expect(try search.find(hint: "") == folder.path + "/.local/libexec/latchkeyd")
    }

    @Test(.needs(.root)) func theHomeFolderOfAnotherUserIsNoPlace() throws {
        let folder = try TemporaryFolder()
        try #require(mkdir(folder.path + "/.local", 0o755) == 0)
        try Self.install(folder.path + "/.local")
        try #require(chown(folder.path + "/.local/libexec", 65534, 65534) == 0)
        #expect(Self.message(Self.search(home: folder.path)) != nil)
    }
}
