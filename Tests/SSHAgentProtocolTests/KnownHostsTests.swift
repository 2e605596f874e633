// SPDX-License-Identifier: Apache-2.0

import KeyFormats
import Testing

@testable import SSHAgent

@Suite struct KnownHostsTests {
    private let host: HostKey

    init() throws { host = try HostKey(Published.blob(Published.key)) }

    private func name(_ lines: String..., candidates: [String] = []) -> String? {
        var known = KnownHosts()
        known.add(lines.joined(separator: "\n"))
        return known.name(of: host, candidates: candidates)
    }

    @Test func nameOfAPlainEntryIsFound() {
        #expect(name("other AAAA", "host.example,192.0.2.7 ssh-ed25519 \(Published.key) comment") == "host.example")
        #expect(name("host.example,192.0.2.7\tssh-ed25519\t\(Published.key)", candidates: ["192.0.2.7"]) == "192.0.2.7")
        #expect(name("[host.example]:2222 ssh-ed25519 \(Published.key)") == "[host.example]:2222")
    }

    @Test func certificateHasTheNameOfTheKeyInside() throws {
        var known = KnownHosts()
        known.add("host.example ssh-ed25519 \(Published.key)")
        let certificate = try HostKey(Published.blob(Published.certificate))
        #expect(known.name(of: certificate, candidates: []) == "host.example")
    }

    @Test func hashedEntryGivesOnlyTheNameThatItWasMadeOf() {
        let line = "\(Published.hashedName) ssh-ed25519 \(Published.key)"
        #expect(name(line) == nil)
        #expect(name(line, candidates: ["evil.example", "host.example"]) == "host.example")
        #expect(name(line, candidates: ["evil.example", "192.0.2.7"]) == nil)
    }

    @Test func patternsCommentsAuthoritiesAndDamagedLinesNameNoHost() {
        for line in [
            "*.example ssh-ed25519 \(Published.key)", "!host ssh-ed25519 \(Published.key)", "host ssh-ed25519",
            "# host ssh-ed25519 \(Published.key)", "@cert-authority host ssh-ed25519 \(Published.key)",
            "host ssh-ed25519 \(Published.key)A", "host ssh-ed25519 \(Published.key.dropLast())", "", "|1||| x",
            "|1|!|! ssh-ed25519 \(Published.key)", "|2|a|b ssh-ed25519 \(Published.key)",
        ] {
            #expect(name(line, candidates: ["host"]) == nil, "\(line)")
        }
    }

    @Test func revokedKeyIsKnownAsRevoked() throws {
        var known = KnownHosts()
        known.add("host.example ssh-ed25519 \(Published.key)")
        #expect(!known.revokes(host))
        known.add("@revoked * ssh-ed25519 \(Published.key)")
        #expect(known.revokes(host))
        #expect(known.revokes(try HostKey(Published.blob(Published.certificate))))
    }

    /// A reader of characters takes a separator and the mark after it for one character, which separates nothing.
    @Test(arguments: ["@revoked \u{301}x,* ssh-ed25519 ", "# x\r\n@revoked * ssh-ed25519 "])
    func noMarkHidesARevocation(start: String) {
        var known = KnownHosts()
        known.add(start + Published.key)
        #expect(known.revokes(host))
    }

    @Test func aNameThatIsNotUTF8IsNotShownAndItsRevocationCounts() {
        let entry = [0xe9] + Array(" ssh-ed25519 \(Published.key)\n".utf8)
        var known = KnownHosts()
        known.add(entry)
        #expect(known.name(of: host, candidates: ["\u{fffd}"]) == nil)
        known.add(Array("@revoked ".utf8) + entry)
        #expect(known.revokes(host))
    }

    /// ssh(1) divides lines at line feeds only, so this is a comment for it.
    @Test func aCommentEndsAtALineFeed() {
        #expect(name("# \u{2028}host.example ssh-ed25519 \(Published.key)") == nil)
    }
}
