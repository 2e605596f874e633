// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import Testing

/// The key and the values that Swift makes of a literal; `scripts/check words` compares the keys of all texts.
@Suite struct PhraseTests {
    private let path = "/a/%1$s"

    @Test func valuesArePlaceholdersOfTheKey() {
        let phrase: Phrase = "\(path) has \(3) files, 100%."
        #expect(phrase.template == "%1$s has %2$s files, 100%." && phrase.arguments == ["/a/%1$s", "3"])
        #expect(phrase.description == "/a/%1$s has 3 files, 100%.", "a placeholder in a value is text")
        #expect(!phrase.isEmpty && ("" as Phrase).isEmpty && ("\("")" as Phrase).isEmpty)
    }

    @Test func joinedLiteralsAreOneKey() {
        let phrase: Phrase = "\(path) is not \(1), " + "but \(2)" + "."
        #expect(phrase.template == "%1$s is not %2$s, but %3$s." && phrase.arguments == [path, "1", "2"])
        #expect(phrase.description == "/a/%1$s is not 1, but 2.")
    }

    @Test func moreThanNineValuesAreText() {
        let phrase: Phrase = "\(1)\(2)\(3)\(4)\(5)\(6)\(7)\(8)\(9)\(10)\(11)"
        #expect(phrase.arguments.count == 9 && phrase.description == "1234567891011")
    }

    @Test(arguments: [("%1$s %2$s", "%1$s %2$s"), ("%1$s%1$s", "aa"), ("%0$s %1$n %s %n", "%0$s %1$n %s %n")])
    func anyTemplateOfAPeerIsText(_ template: String, _ text: String) {
        #expect(Phrase(template: template, arguments: ["a"]).description == text)
    }

    @Test func theLogHasTemplateAndValues() throws {
        let failure = Failure(.storeUnreadable, "No \("a\u{1f}\tb").", hint: "See: \(path)")
        let line = DaemonLogLine(.failed, failure, time: 1, processID: 2)
        let read = try #require(DaemonLogLine(line.text))
        #expect(read.message.template == "No %1$s." && read.message.arguments == ["a  b"])
        #expect(read.hint.template == "See: %1$s" && read.hint.arguments == [path])
    }
}
