// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyWords
import TestPromises
import TestSupport
import Testing

@testable import SSHAgent

@Suite struct SigningReasonTests {
    private let host: HostKey

    init() throws { host = try HostKey(Published.blob(Published.key)) }

    private func text(
        _ purpose: SigningPurpose, name: String? = nil, program: String = "/usr/bin/ssh", key: String = "work",
        words: Words = .plainEnglish
    ) -> String {
        SigningReason(program: program, processID: 42, key: key, words: words) { _ in name }.text(purpose)
    }

    private static func german() throws -> Words {
        let catalogue = try #require(Catalogue(try Catalogues().bytes("de")))
        return Words(language: "de", catalogue: catalogue, isolates: false)
    }

    private static let end = ", asked by /usr/bin/ssh (process 42), key work"

    @Test(.promise("ssh.login")) func loginNamesHostUserProgramAndKey() {
        let login = SigningPurpose.login(user: "ada", host: host, through: [])
        #expect(text(login, name: "a.example") == "log in to a.example as ada" + Self.end)
        #expect(text(login) == "log in to \(Published.fingerprint) as ada" + Self.end)
    }

    @Test(.promise("ssh.forwarded")) func unknownAndForwardedHostsAreSaid() {
        let unknown = text(.login(user: "ada", host: nil, through: []))
        #expect(unknown == "log in as ada: host unknown, perhaps forwarded" + Self.end)
        let forwarded = text(.login(user: "ada", host: host, through: [host, host, host]), name: "a.example")
        #expect(
            forwarded == "log in to a.example as ada, forwarded through a.example and 2 more" + Self.end)
        let both = text(.login(user: "ada", host: nil, through: [host]), name: "a.example")
        #expect(both == "log in as ada: host unknown, forwarded, forwarded through a.example" + Self.end)
    }

    @Test func messageNamesItsNamespace() {
        #expect(text(.message(namespace: "git", through: [])) == "sign data of namespace git" + Self.end)
        let forwarded = text(.message(namespace: "git", through: [host]), name: "a.example")
        #expect(forwarded == "sign data of namespace git, forwarded through a.example" + Self.end)
    }

    @Test func namesOfTheNetworkCannotLookLikeAnotherSentence() {
        let hostile = "root as ada, asked by “x” (process 1)\n\u{202e}\u{0}аdа"
        for purpose in [
            SigningPurpose.login(user: hostile, host: host, through: []), .message(namespace: hostile, through: []),
        ] {
            let shown = text(purpose, name: "a.example")
            #expect(shown.hasSuffix(Self.end), "\(shown)")
            let middle = shown.dropLast(Self.end.count)
            #expect(middle.unicodeScalars.allSatisfy { $0.isASCII || $0 == "…" }, "\(shown)")
            #expect(!middle.contains(","), "\(shown)")
        }
        #expect(text(.login(user: "", host: host, through: []), name: "").hasPrefix("log in to ? as ?,"))
    }

    @Test func reasonHasTheLanguageOfTheAgent() throws {
        let german = try Self.german()
        let end = ", für /usr/bin/ssh (Prozess 42), Schlüssel work"
        let login = SigningPurpose.login(user: "ada", host: host, through: [host, host])
        #expect(
            text(login, name: "a.example", words: german)
                == "bei a.example als ada anmelden, weitergeleitet über a.example und 1 weitere" + end)
        let unknown = text(.login(user: "ada", host: nil, through: []), words: german)
        #expect(unknown == "als ada anmelden: Rechner unbekannt, vielleicht weitergeleitet" + end)
        let both = text(.login(user: "ada", host: nil, through: [host]), name: "a.example", words: german)
        #expect(both == "als ada anmelden: Rechner unbekannt, weitergeleitet, weitergeleitet über a.example" + end)
        let message = text(.message(namespace: "git", through: []), program: "", words: german)
        #expect(
            message == "Daten des Namensraums git signieren, für ein unbekanntes Programm (Prozess 42), Schlüssel work")
    }

    @Test(.promise("ssh.login")) func longNamesHideNothing() throws {
        let long = String(repeating: "x", count: 10_000)
        let german = try Self.german()
        for purpose in [
            SigningPurpose.login(user: long, host: host, through: [host, host]),
            .login(user: long, host: nil, through: []),
            .message(namespace: long, through: [host]),
        ] {
            for name in [long, nil] {
                let shown = text(purpose, name: name, program: "/" + long + "/ssh", key: long)
                let untilKey = shown.prefix(Limits.reasonCharacters)
                #expect(untilKey.contains("/ssh (process 42)"), "\(shown.count): \(shown)")
                #expect(purpose.forwarders.isEmpty || untilKey.contains("forwarded through"))
                let other = text(purpose, name: name, program: "/" + long + "/ssh", key: long, words: german)
                let untilOtherKey = other.prefix(Limits.reasonCharacters)
                #expect(untilOtherKey.contains("/ssh (Prozess 42)"), "\(other.count): \(other)")
                #expect(purpose.forwarders.isEmpty || untilOtherKey.contains("weitergeleitet über"))
            }
        }
    }

    @Test func undeterminedProgramIsSaid() {
        let shown = text(.message(namespace: "git", through: []), program: "")
        #expect(shown.contains("asked by an unknown program (process 42)"))
    }
}
