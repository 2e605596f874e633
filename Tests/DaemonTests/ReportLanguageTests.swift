// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyWords
import TestSupport
import Testing

@testable import latchkey

/// The reports of `latchkey check` and `latchkey log` in German: no part of one stays English.
@Suite struct ReportLanguageTests {
    /// Frequent words of the English texts that no German text contains.
    private static let english: Set<Substring> = [
        "the", "of", "its", "it", "is", "are", "and", "has", "not", "with", "entry", "item", "row", "then", "again",
        "a",
        "at", "you", "store", "without",
    ]

    private static func germanWords() throws -> Words {
        let catalogue = try #require(Catalogue(try Catalogues().bytes("de")))
        return Words(language: "de", catalogue: catalogue, isolates: false)
    }

    /// The English words of a text; the name of a command is English in every language.
    private static func english(in text: String) -> Set<Substring> {
        let prose = text.split(separator: "latchkey check").joined()
        return english.intersection(prose.lowercased().split { !$0.isLetter })
    }

    @Test func everyFindingAndItsAdviceAreGerman() throws {
        let german = try Self.germanWords()
        let refusal: Phrase = "The store cannot be read: its anchor is missing or was changed."
        for kind in Finding.Kind.allCases {
            for item in [[], [UInt8](repeating: 0xab, count: 16)] {
                // The words of a finding are a sentence of the keychain, or a name.
                let words = kind == .anchor ? refusal : "state"
                let finding = Finding(kind, number: 7, item: item, words: words)
                for text in [finding.sentence(german), finding.hint(german)] {
                    #expect(Self.english(in: text).isEmpty, "\(kind): \(text)")
                }
                #expect(finding.sentence(german) != finding.sentence(.plainEnglish))
                #expect(finding.hint(german) != finding.hint(.plainEnglish))
            }
        }
        let missing = Finding(.itemMissing, item: [UInt8](repeating: 0xab, count: 16))
        #expect(
            missing.sentence(german) == "Die Zeile von Objekt abababab fehlt, obwohl im Protokoll keine Löschung steht."
        )
    }

    @Test func findingInJSONIsEnglish() {
        let finding = Finding(.restored, number: 7)
        #expect(finding.json.line.contains("\"message\":\"An item was restored (quarantined at entry 7).\""))
        #expect(finding.json.line.contains("\"hint\":\"It can be read again.\""))
    }

    @Test func everyEventIsGermanAndFitsItsColumn() throws {
        let german = try Self.germanWords()
        for event in AuditEvent.allCases {
            #expect(event.text(german) != event.text(.plainEnglish), "\(event)")
            #expect(event.text(german).count <= 18, "\(event)")
        }
        let texts = Set(AuditEvent.allCases.map { $0.text(german) })
        #expect(texts.count == AuditEvent.allCases.count, "two events with one name cannot be told apart")
    }
}
