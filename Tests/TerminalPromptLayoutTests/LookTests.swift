// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import LatchkeyPrompts

/// Tests of the appearance that the caller's environment requests.
@Suite struct LookTests {
    private func look(
        _ variables: [String: String], terminalIsUTF8: Bool = false, callerReadsKeys: Bool = false
    ) -> Look {
        Look(terminalIsUTF8: terminalIsUTF8, callerReadsKeys: callerReadsKeys) { variables[$0] }
    }

    @Test func unknownOrDumbTerminalGetsSentences() {
        for kind in [nil, "", "dumb", "unknown", "emacs"] as [String?] {
            let variables = kind.map { ["TERM": $0] } ?? [:]
            let look = look(variables)
            #expect(look.isPlain && !look.hasColour && !look.hasAlternateScreen, "\(variables)")
        }
        #expect(!look(["TERM": "xterm-256color"]).isPlain)
    }

    @Test func sentencesCanBeRequested() {
        #expect(look(["TERM": "xterm", "LATCHKEY_PROMPT": "plain"]).isPlain)
        #expect(!look(["TERM": "xterm", "LATCHKEY_PROMPT": "PLAIN please"]).isPlain)
    }

    @Test func alternateScreenIsUsedWhereAvailable() {
        #expect(look(["TERM": "xterm-256color"]).hasAlternateScreen)
        #expect(look(["TERM": "screen", "TMUX": "/tmp/tmux-1000/default,1,0"]).hasAlternateScreen)
        for kind in ["screen", "linux", "vt100", "eterm-color"] { #expect(!look(["TERM": kind]).hasAlternateScreen) }
        #expect(!look(["TERM": "xterm", "LATCHKEY_PROMPT": "plain"]).hasAlternateScreen)
    }

    @Test func alternateScreenOfCallerIsNotLeft() {
        #expect(!look(["TERM": "xterm-256color"], callerReadsKeys: true).hasAlternateScreen)
    }

    @Test func noColourMustBePresentAndNotEmpty() {
        #expect(look(["TERM": "xterm"]).hasColour)
        #expect(look(["TERM": "xterm", "NO_COLOR": ""]).hasColour)
        #expect(!look(["TERM": "xterm", "NO_COLOR": "1"]).hasColour)
    }

    @Test(arguments: [
        (["LC_ALL": "C", "LANG": "en_GB.UTF-8"], false), (["LC_ALL": "", "LANG": "en_GB.UTF-8"], true),
        (["LC_CTYPE": "C.utf8", "LANG": "C"], true), (["LANG": "de_DE.UTF-8@euro"], true),
        (["LANG": "de_DE.ISO-8859-1"], false), (["LANG": "UTF-8"], false),
    ])
    func localeDeterminesUTF8(_ variables: [String: String], _ isUTF8: Bool) {
        #expect(look(variables, terminalIsUTF8: !isUTF8).isUTF8 == isUTF8)
    }

    @Test func terminalDeterminesUTF8WithoutLocale() {
        #expect(look(["TERM": "xterm"], terminalIsUTF8: true).isUTF8)
        #expect(!look(["TERM": "xterm"], terminalIsUTF8: false).isUTF8)
    }

    @Test func onlyASCIIIsWrittenWithoutUTF8() {
        let shown = look(["LC_ALL": "C"]).shown("“naïve” … 日本 \u{9b}31m \u{1b}[31m")
        #expect(shown == "\"na?ve\" ... ?? ?31m ?[31m")
    }

    @Test func controlCharactersAreReplaced() {
        #expect(
            look(["LC_ALL": "C.UTF-8"]).shown("a\u{1b}[2J\u{9b}2J\r\n\u{7f}é")
                == "a\u{fffd}[2J\u{fffd}2J\u{fffd}\u{fffd}\u{fffd}é")
    }
}
