// SPDX-License-Identifier: Apache-2.0

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
            usual += ["libFoundation", "lib_Foundation", "lib_Internationalization", "libdispatch", "libBlocksRuntime"]
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
}
