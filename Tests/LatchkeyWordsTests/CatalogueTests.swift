// SPDX-License-Identifier: Apache-2.0

import LatchkeyWords
import Testing

/// Catalogues that are damaged, or whose translations could mislead.
@Suite struct CatalogueTests {
    private let entries = [("“%1$s” asks", "„%1$s“ fragt"), ("One try\0%1$s tries", "ein Versuch\0%1$s Versuche")]

    private func text(_ bytes: [UInt8]) -> String? {
        Catalogue(bytes).map { Words(language: "de", catalogue: $0, isolates: false)("“\("a")” asks") }
    }

    @Test(arguments: [false, true]) func bothByteOrdersAreRead(_ isBig: Bool) {
        #expect(text(CompiledCatalogue.bytes(entries, isBig: isBig)) == "„a“ fragt")
    }

    @Test func damagedCatalogueNeverTraps() {
        let bytes = CompiledCatalogue.bytes(entries)
        for count in 0..<bytes.count { #expect(Catalogue(Array(bytes[..<count])) == nil, "\(count) bytes") }
        for place in bytes.indices {
            for value in [0, 0x80, 0xff] as [UInt8] {
                var changed = bytes
                changed[place] = value
                // Either refused or read; the text is made in any case.
                _ = text(changed)
            }
        }
        #expect(Catalogue(Array(repeating: 0xff, count: Catalogue.byteLimit + 1)) == nil)
    }

    @Test(arguments: [
        "", "Content-Type: text/plain; charset=ISO-8859-1\n",
        "Content-Type: text/plain; charset=UTF-8\nPlural-Forms: nplurals=2; plural=system(n);\n",
        "Content-Type: text/plain; charset=UTF-8\nPlural-Forms: nplurals=99; plural=n;\n",
    ])
    func catalogueWithAnotherHeaderIsRefused(_ header: String) {
        #expect(Catalogue(CompiledCatalogue.bytes(entries, header: header)) == nil)
    }

    /// The English texts of an entry decide which placeholders its translation needs, so they must be those of the source.
    @Test func pluralWithAnotherEnglishTextIsNotUsed() throws {
        let header = "Content-Type: text/plain; charset=UTF-8\nPlural-Forms: nplurals=1; plural=0;\n"
        let entries = [("“%1$s” asks\0all", "alle"), ("“%1$s” tries\0%2$s tries", "%2$s Versuche")]
        let bytes = CompiledCatalogue.bytes(entries, header: header)
        let catalogue = try #require(Catalogue(bytes))
        let words = Words(language: "de", catalogue: catalogue, isolates: false)
        #expect(words("“\("a")” asks") == "“a” asks")
        #expect(words.count(2, "“\("a")” tries", "“\("a")” tries \(2) times") == "“a” tries 2 times")
    }

    /// Each of these would drop the program's name, take it out of its quotation marks, or control the display.
    @Test(arguments: [
        "„Bank“ fragt", "„%2$s“ fragt", "„%1$s“ %2$s", "%1$s fragt", "%1$s „fragt“", "„%1$s“\nfragt",
        "„%1$s“ \u{1b}[2J",
        "%1$s: „%1$s“ fragt", "„%1$s“ \u{202e}fragt", "„%1$s“ \u{2066}fragt", "",
        "„%1$s“ fragt" + String(repeating: "!", count: 200),
    ])
    func misleadingTranslationIsReplacedByEnglish(_ translation: String) {
        let bytes = CompiledCatalogue.bytes([("“%1$s” asks", translation), ("other", "anderes")])
        #expect(text(bytes) == "“a” asks")
        let words = Words(language: "de", catalogue: Catalogue(bytes), isolates: false)
        #expect(words("other") == "anderes", "the others are used")
    }

    @Test(arguments: ["«\u{a0}%1$s\u{a0}» demande", "“%1$s” \u{200f}שואל", "「%1$s」が", "״%1$s״"])
    func quotationMarksOfOtherLanguagesAreAccepted(_ translation: String) {
        let made = text(CompiledCatalogue.bytes([("“%1$s” asks", translation)]))
        #expect(made == translation.split(separator: "%1$s").joined(separator: "a"))
    }

    /// The rules of French, Polish, Arabic and Japanese (gettext manual, "Plural forms").
    @Test(arguments: [
        ("nplurals=2; plural=n>1;", [0: 0, 1: 0, 2: 1]),
        (
            "nplurals=3; plural=n==1 ? 0 : n%10>=2 && n%10<=4 && (n%100<10 || n%100>=20) ? 1 : 2;",
            [1: 0, 2: 1, 5: 2, 12: 2, 22: 1]
        ),
        (
            "nplurals=6; plural=n==0 ? 0 : n==1 ? 1 : n==2 ? 2 : n%100>=3 && n%100<=10 ? 3 : n%100>=11 ? 4 : 5;",
            [0: 0, 1: 1, 2: 2, 7: 3, 11: 4, 100: 5]
        ), ("nplurals=1; plural=0;", [0: 0, 1: 0, 9: 0]), ("nplurals=2; plural=!(n-1)*0+1/(n-n);", [1: 0, 5: 0]),
    ])
    func pluralRulesOfLanguagesAreEvaluated(_ rule: String, _ forms: [Int: Int]) throws {
        let count = try #require(rule.split(separator: ";")[0].last?.wholeNumberValue)
        let header = "Content-Type: text/plain; charset=UTF-8\nPlural-Forms: \(rule)\n"
        let translations = (0..<count).map { "form \($0): %1$s" }.joined(separator: "\0")
        let bytes = CompiledCatalogue.bytes([("%1$s try\0%1$s tries", translations)], header: header)
        let catalogue: Catalogue = try #require(Catalogue(bytes))
        let words = Words(language: "xx", catalogue: catalogue, isolates: false)
        for (number, form) in forms {
            #expect(words.count(number, "\(number) try", "\(number) tries") == "form \(form): \(number)")
        }
    }

    @Test(arguments: [
        "n", "nplurals=2", "nplurals=2; plural=", "nplurals=2; plural=n n;", "nplurals=2; plural=(n;",
        "nplurals=2; plural=n?1;", "nplurals=0; plural=0;", "nplurals=2; plural=99999999999999999999;",
        "nplurals=2; plural=\(String(repeating: "(", count: 100))n\(String(repeating: ")", count: 100));",
    ])
    func invalidPluralRuleRefusesTheCatalogue(_ rule: String) {
        let header = "Content-Type: text/plain; charset=UTF-8\nPlural-Forms: \(rule)\n"
        #expect(Catalogue(CompiledCatalogue.bytes([], header: header)) == nil)
    }

    /// A rule that names a form beyond the last one has no translation.
    @Test func formThatDoesNotExistIsEnglish() throws {
        let header = "Content-Type: text/plain; charset=UTF-8\nPlural-Forms: nplurals=2; plural=n;\n"
        let bytes = CompiledCatalogue.bytes([("%1$s try\0%1$s tries", "a %1$s\0b %1$s")], header: header)
        let catalogue: Catalogue = try #require(Catalogue(bytes))
        let words = Words(language: "xx", catalogue: catalogue, isolates: false)
        #expect(words.count(7, "\(7) try", "\(7) tries") == "7 tries")
    }
}
