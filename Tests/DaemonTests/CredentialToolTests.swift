// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySystem
import Testing

/// The helpers for passwords with tools that not every machine has. Those of Debian 12 are too old (cargo), or need a hundred
/// megabytes (docker); `Scripts/helpers.txt` has their protocols.
@Suite struct CredentialToolTests {
    /// The folder of a program in the `PATH` of the tests.
    private static func folder(of program: String) -> String? {
        (try? Processes.find(Array(program.utf8)))?.folder.text
    }

    /// The folder of a cargo of version 1.74 or later that needs nothing of a home folder, which it cannot make here.
    private static let cargo = folder(of: "cargo").flatMap { folder -> String? in
        let shown = try? Finished(folder + "/cargo", ["--version"], input: "", environment: ["HOME=/dev/null/none"])
        let version = shown?.output.split(separator: " ").dropFirst().first?.split(separator: ".").compactMap {
            Int($0)
        }
        guard let version, version.count > 1, (version[0], version[1]) >= (1, 74) else { return nil }
        return folder
    }

    private func run(_ name: String, _ environment: [String] = []) throws {
        let path = Files.folder(of: #filePath) + "/Scripts/\(name).txt"
        let bytes = try #require(try Files.read(path, limit: 1 << 20))
        let script = TextScript(String(decoding: bytes.copyBytes(), as: UTF8.self))
        let failure = try script.run(try TestDaemon(), environment: environment)
        #expect(failure == nil, "\(name).txt, \(failure ?? "")")
    }

    @Test(.enabled("needs docker") { folder(of: "docker") != nil }) func dockerKeepsItsPasswordInTheKeychain() throws {
        try run("docker")
    }

    @Test(.enabled("needs cargo 1.74 or later") { cargo != nil }) func cargoKeepsItsTokenInTheKeychain() throws {
        try run("cargo", ["CARGO_FOLDER=\(Self.cargo ?? "")"])
    }

    /// Whatever a tool or an attacker sends, a helper answers with an error of its own and is not ended by a signal.
    @Test func noHelperIsEndedByGarbage() throws {
        let daemon = try TestDaemon()
        var pieces = [
            "", "\n", "=", "==\n", "protocol=https\nhost=", "host=[::]:99999\nprotocol=x\nusername=\u{301}\n",
        ]
        pieces += ["{", "[]", "\"", "{\"ServerURL\":0}", "{\"v\":1e999}", "{\"v\":1,\"kind\":\"get\",\"registry\":[]}"]
        pieces += ["{\"ServerURL\":\"\\u0000://\",\"Username\":\"\\ud83d\\ude00\",\"Secret\":\"\"}", "://", ":", "x:/"]
        pieces += [
            String(repeating: "[", count: 100_000), String(repeating: "a=b\n", count: 1000), "\0\0", "\r\n\r\n",
        ]
        let verbs = [["git", "get"], ["git", "store"], ["git", "erase"], ["docker", "get"], ["docker", "store"]]
        for words in verbs + [["docker", "erase"], ["cargo"]] {
            for piece in pieces + pieces.map({ $0 + "\n" + pieces[4] }) {
                let done = try daemon.run("latchkey", ["credential"] + words, input: piece)
                #expect([0, 1].contains(done.exitCode), "\(words) \(piece.prefix(80)): \(done)")
            }
        }
    }
}
