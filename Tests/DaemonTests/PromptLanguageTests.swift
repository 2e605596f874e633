// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import LatchkeySystem
import TestSupport
import Testing

/// Tests of the language of a prompt on a terminal, with installed programs: the catalogue is found beside them.
@Suite struct PromptLanguageTests {
    private let daemon: TestDaemon
    private let prefix: String

    init() throws {
        daemon = try .withProtectedItem()
        // The daemon that made the item is not the installed one.
        kill(try #require(try daemon.process), SIGKILL)
        prefix = daemon.folder + "/prefix"
        let catalogues = try Catalogues()
        let install = """
            set -e; mkdir -p \(prefix)/libexec \(prefix)/share; cp -r \(catalogues.folder) \(prefix)/share/locale
            mkdir \(prefix)/other; cp -r \(prefix)/share/locale/de \(prefix)/other/sv
            for program in latchkeyd latchkey-prompt; do cp \(TestDaemon.programs)/$program \(prefix)/libexec; done
            """
        #expect(try daemon.run("/bin/sh", ["-c", install]).exitCode == 0)
    }

    private func get(_ screen: Screen, _ variables: [String]) throws -> Int32 {
        let own = daemon.environment.filter { !$0.hasPrefix("LATCHKEY_DAEMON=") }
        return try screen.terminal.spawn(
            TestDaemon.programs + "/latchkey", ["get", "protected"],
            environment: own + ["LATCHKEY_DAEMON=\(prefix)/libexec/latchkeyd", "TERM=xterm"] + variables)
    }

    /// The daemon is one for all callers: the language is that of each caller's terminal.
    @Test func languageIsThatOfTheCaller() throws {
        for (variables, question, cancel) in [
            (["LANG=de_DE.UTF-8"], "„latchkey“ fragt nach Ihrem Fingerabdruck", "Esc/Strg-C Abbrechen"),
            (["LANG=en_GB.UTF-8"], "“latchkey” asks for your fingerprint", "Esc/Ctrl-C Cancel"),
            (["LANG=en_GB.UTF-8", "LANGUAGE=de"], "„latchkey“ fragt nach Ihrem Fingerabdruck", "Abbrechen"),
            (["LANG=de_DE.UTF-8", "LC_ALL=C"], "\"latchkey\" asks for your fingerprint", "Esc/Ctrl-C Cancel"),
            // The folder of catalogues is not the caller's choice.
            (
                ["LANG=sv_SE.UTF-8", "LATCHKEY_LOCALE_DIR=\(prefix)/other"],
                "“latchkey” asks for your fingerprint", "Esc/Ctrl-C Cancel"
            ),
        ] {
            let screen = try Screen()
            let caller = try get(screen, variables)
            #expect(screen.shows(question), "\(variables): \(screen.model.lines)")
            #expect(screen.shows(cancel), "\(variables): \(screen.model.lines)")
            // The keys are the same in every language.
            try screen.terminal.type("m")
            #expect(Processes.wait(caller) == 0)
            #expect(screen.shows("value") && screen.model.unknown.isEmpty)
        }
    }

    @Test func sentencesForScreenReadersAreTranslatedToo() throws {
        let screen = try Screen()
        let caller = try get(screen, ["LANG=de_DE.UTF-8", "LATCHKEY_PROMPT=plain"])
        #expect(screen.shows("„latchkey“ fragt nach Ihrem Fingerabdruck für „read"))
        #expect(screen.shows("Esc/Strg-C für Abbrechen"))
        try screen.terminal.type("m")
        #expect(screen.shows("Die Anfrage von Latchkey ist beendet."))
        #expect(Processes.wait(caller) == 0)
    }
}
