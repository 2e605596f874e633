// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// The libraries that the programs link besides Swift's runtime and the C library.
@Suite struct LinkageTests {
    private let daemon: TestDaemon

    init() throws { daemon = try TestDaemon() }

    /// The libraries that a program links directly, without those of every Swift program.
    private func libraries(of program: String, foundation: Bool) throws -> [String] {
        let listed = try daemon.run("/usr/bin/readelf", ["--dynamic", "--wide", TestDaemon.programs + "/" + program])
        try #require(listed.exitCode == 0, "\(listed.errors)")
        let names = listed.output.split(separator: "\n").filter { $0.contains("(NEEDED)") }
            .compactMap { $0.split(separator: "[").last?.split(separator: "]").first.map(String.init) }
        try #require(names.contains("libc.so.6"), "the list was read")
        var usual = ["libswift", "libc.so.", "libm.so.", "libpthread.so.", "libdl.so.", "librt.so.", "ld-linux"]
        usual += ["libstdc++.so.", "libgcc_s.so.", "libutil.so."]
        if foundation {
            usual += ["libFoundation.so", "libFoundationEssentials.so", "libFoundationInternationalization.so"]
            usual += ["lib_Foundation", "lib_Internationalization", "libdispatch", "libBlocksRuntime"]
        }
        return names.filter { name in !usual.contains { name.hasPrefix($0) } }.sorted()
    }

    @Test func appLinksOnlyLibcrypto() throws {
        #expect(try libraries(of: "latchkey-test-client", foundation: true) == ["libcrypto.so.3"])
    }

    @Test func daemonLinksOnlyLibcryptoAndSQLite() throws {
        #expect(try libraries(of: "latchkeyd", foundation: false) == ["libcrypto.so.3", "libsqlite3.so.0"])
    }

    @Test(arguments: ["latchkey", "latchkey-prompt"]) func otherProgramsLinkAtMostLibcrypto(program: String) throws {
        #expect(try libraries(of: program, foundation: false).filter { $0 != "libcrypto.so.3" } == [])
    }

    /// The libraries that the object files of a module ask the linker for.
    private func demanded(by module: String) throws -> Set<String> {
        let listed = try daemon.run(
            "/usr/bin/readelf", ["-p", ".swift1_autolink_entries"] + BuiltProducts.objects(of: module))
        let options = listed.output.split { $0.isWhitespace }.filter { $0.hasPrefix("-l") }
        return Set(options.map { String($0.dropFirst(2)) })
    }

    /// FoundationNetworking brings libcurl, libssl and libxml2, which only programs that sign in need.
    @Test func onlySigningInLinksFoundationNetworking() throws {
        #expect(try demanded(by: "LatchkeySignIn").contains("FoundationNetworking"))
        for module in [
            "Security", "LocalAuthentication", "LatchkeyKit", "SecureEnclaveKit", "KeyFormats", "LatchkeyClient",
            "LatchkeyDesktop",
        ] {
            let libraries = try demanded(by: module)
            #expect(libraries.contains("swiftCore"), "the list of \(module) was read")
            #expect(!libraries.contains("FoundationNetworking"), "\(module)")
        }
    }

    /// Daemons translate nothing: the catalogue of another language would be a file of the machine that they read.
    @Test func noDaemonReadsCatalogues() throws {
        let daemons = [
            "latchkeyd", "latchkey_authd", "AuthorityDaemon", "AuthorityDriver", "BusDrivers", "ChildProcessDrivers",
            "LatchkeyAuthority", "LatchkeyIdentity", "LatchkeyKeychain", "LatchkeyModel", "LatchkeyPolicy",
            "LatchkeyPrompts", "LatchkeySeams", "LatchkeyService", "LatchkeySystem", "LatchkeyWire", "SQLiteDriver",
            "SystemDriver", "TPMDriver",
        ]
        #expect(try readsCatalogues("latchkey"), "the name of the function is that of today")
        for module in daemons { #expect(try !readsCatalogues(module), "\(module)") }
    }

    /// Whether a module calls `Words.installed(isolates:isTerminal:)`.
    private func readsCatalogues(_ module: String) throws -> Bool {
        let listed = try daemon.run("/usr/bin/nm", ["--undefined-only"] + BuiltProducts.objects(of: module))
        return listed.output.contains("13LatchkeyWords0B0V9installed")
    }
}
