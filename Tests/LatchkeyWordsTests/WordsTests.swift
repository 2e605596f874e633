// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyWords
import TestSupport
import Testing

/// Texts with values, plurals and contexts, in English and in another language.
@Suite struct WordsTests {
    private func german(_ entries: [(String, String)], isolates: Bool = false) throws -> Words {
        let catalogue = try #require(Catalogue(CompiledCatalogue.bytes(entries)))
        return Words(language: "de", catalogue: catalogue, isolates: isolates)
    }

    @Test func textWithoutTranslationIsTheEnglishOne() throws {
        let words = try german([("other", "anderes")])
        let name = "notes"
        #expect(words("“\(name)” asks for \("your face")") == "“notes” asks for your face")
        #expect(Words.english("“\(name)” asks") == "“notes” asks")
        #expect(words("100% of it") == "100% of it")
    }

    @Test func valuesTakeTheirPlaceInTheTranslation() throws {
        let words = try german([
            ("“%1$s” asks for %2$s", "Nach %2$s fragt „%1$s“"), ("asks for\u{4}your face", "Ihrem Gesicht"),
            ("your face", "Ihr Gesicht"),
        ])
        let proof = words("your face", context: "asks for")
        #expect(words("“\("notes")” asks for \(proof)") == "Nach Ihrem Gesicht fragt „notes“")
        #expect(words("your face") == "Ihr Gesicht")
        #expect(words("your face", context: "unknown") == "your face")
    }

    /// The value of a program must not be read as a placeholder.
    @Test func placeholderInAValueIsText() throws {
        let words = try german([("%1$s and %2$s", "%2$s und %1$s")])
        #expect(words("\("%2$s") and \("100%")") == "100% und %2$s")
    }

    @Test(arguments: [(0, "0 Versuche"), (1, "ein Versuch"), (2, "2 Versuche"), (-1, "ein Versuch")])
    func pluralHasTheFormOfTheNumber(_ number: Int, _ text: String) throws {
        let words = try german([("One try\0%1$s tries", "ein Versuch\0%1$s Versuche")])
        #expect(words.count(number, "One try", "\(number) tries") == text)
        #expect(Words.english.count(1, "One try", "\(1) tries") == "One try")
    }

    /// A phrase of another process: its template is looked up, and is never more than text.
    @Test func receivedPhraseIsTranslatedByItsTemplate() throws {
        let words = try german([
            ("No item %1$s of service %2$s.", "%2$s hat kein Objekt %1$s."), ("Done.", "Fertig."),
        ])
        func shown(_ template: String, _ arguments: String...) -> String {
            words(Phrase(template: template, arguments: arguments))
        }
        #expect(shown("Done.") == "Fertig." && shown("") == "")
        #expect(shown("No item %1$s of service %2$s.", "a", "b %1$s") == "b %1$s hat kein Objekt a.")
        #expect(shown("No item %1$s of service %2$s.", "a") == "No item %1$s of service %2$s.", "a value is missing")
        #expect(shown("Done.", "a", "b") == "Fertig.")
        #expect(shown("%9$s %n %s %1$n %1$", "a") == "%9$s %n %s %1$n %1$")
        #expect(Words.plainEnglish(Phrase(template: "No %1$s.", arguments: ["a"])) == "No a.")
    }

    @Test func valueThatCouldReorderTheSentenceIsIsolated() throws {
        let words = try german([("“%1$s” asks", "„%1$s“ fragt")], isolates: true)
        #expect(words("“\("notes")” asks") == "„notes“ fragt")
        #expect(words("“\("אבג")” asks") == "„\u{2068}אבג\u{2069}“ fragt")
        #expect(Words.english("“\("אבג")” asks") == "“\u{2068}אבג\u{2069}” asks")
        #expect(Words.plainEnglish("“\("אבג")” asks") == "“אבג” asks")
        // A value cannot end its isolate.
        #expect(words("“\("א\u{2069}\u{202e}b")” asks") == "„\u{2068}א\u{fffd}\u{fffd}b\u{2069}“ fragt")
        // A value that is a text with an isolate stays as it is.
        let inner = words("“\("א")” asks")
        #expect(words("“\(inner)” asks") == "„\u{2068}„\u{2068}א\u{2069}“ fragt\u{2069}“ fragt")
        let hebrew = Words(language: "he", catalogue: Catalogue(CompiledCatalogue.bytes([])), isolates: true)
        #expect(hebrew.isRightToLeft && !words.isRightToLeft)
        #expect(hebrew("“\("notes")” asks") == "“\u{2068}notes\u{2069}” asks")
    }
}

/// Which catalogues the environment asks for.
@Suite struct LocaleNameTests {
    @Test(arguments: [
        (["LANG": "de_DE.UTF-8"], ["de_DE", "de"]), (["LANG": "de"], ["de"]), ([:], []), (["LANG": "C"], []),
        (["LANG": "de_AT.UTF-8@euro"], ["de_AT@euro", "de@euro", "de_AT", "de"]),
        (["LANG": "de_DE.UTF-8", "LC_ALL": "C"], []), (["LANG": "de_DE", "LC_MESSAGES": "fr_FR"], ["fr_FR", "fr"]),
        (["LANG": "de_DE", "LC_ALL": ""], ["de_DE", "de"]),
        (["LANG": "en_GB.UTF-8", "LANGUAGE": "de"], ["de"]), (["LANG": "C.UTF-8", "LANGUAGE": "de"], []),
        (["LANGUAGE": "de"], []), (["LANG": "en_GB.UTF-8"], []),
        (["LANG": "de_DE", "LANGUAGE": "sv_SE:fr:en:de"], ["sv_SE", "sv", "fr"]),
        (["LANG": "../../etc"], []), (["LANG": "de_DE", "LANGUAGE": "..:a/b:/x:d e:de"], ["de"]),
        (["LANG": "de_DE_x"], []), (["LANG": "de@a/b"], []), (["LANG": "_"], []),
    ])
    func environmentNamesCatalogues(_ variables: [String: String], _ names: [String]) {
        #expect(LocaleName.languages { variables[$0] } == names)
    }
}
