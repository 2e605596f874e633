// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import Testing

/// The pairs of an item of the Secret Service, and the answers about one.
@Suite struct SecretPairsTests {
    private func pairs(_ pairs: (String, String)...) throws -> SecretPairs {
        try #require(SecretPairs(pairs.map { SecretPairs.Pair($0.0, $0.1) }))
    }

    @Test func pairsAreInTheOrderOfTheBytesOfTheirNames() throws {
        let sorted = try pairs(("b", "1"), ("\u{e9}", "2"), ("", "3"), ("B", "4"), ("ba", "5"), ("e\u{301}", "6"))
        #expect(sorted.all.map(\.value) == ["3", "4", "1", "5", "6", "2"])
        #expect(try pairs(("a", "1"), ("b", "2")) == pairs(("b", "2"), ("a", "1")))
        #expect(try pairs(("a", "1"), ("b", "2")).hashValue == pairs(("b", "2"), ("a", "1")).hashValue)
        #expect(SecretPairs([]) == SecretPairs.none)
    }

    @Test func aRepeatedNameIsRefused() {
        #expect(SecretPairs([.init("a", "1"), .init("a", "2")]) == nil)
        #expect(SecretPairs([.init("a", "1"), .init("b", "2"), .init("a", "1")]) == nil)
        #expect(SecretPairs([.init("", ""), .init("", "")]) == nil)
    }

    /// Swift takes two texts as equal that look the same; another program gets an item only by the same bytes.
    @Test func textsWithDifferentBytesAreDifferent() throws {
        let composed = SecretPairs.Pair("\u{e9}", "1")
        let decomposed = SecretPairs.Pair("e\u{301}", "1")
        #expect(composed.name == decomposed.name && composed != decomposed)
        #expect(SecretPairs.Pair("a", "\u{e9}") != SecretPairs.Pair("a", "e\u{301}"))
        #expect(Set([composed, decomposed]).count == 2)
        let both = try #require(SecretPairs([composed, decomposed]))
        #expect(both.all.count == 2)
        #expect(try !pairs(("\u{e9}", "1")).contains(pairs(("e\u{301}", "1"))))
        #expect(try !pairs(("a", "\u{e9}")).contains(pairs(("a", "e\u{301}"))))
        // The border between name and value is part of the pair.
        #expect(Set([SecretPairs.Pair("ab", "c"), SecretPairs.Pair("a", "bc")]).count == 2)
    }

    @Test func asManyPairsAsTheLimitAreAccepted() {
        func pairs(_ count: Int) -> SecretPairs? { SecretPairs((0..<count).map { .init("\($0)", "") }) }
        #expect(pairs(Limits.secretPairs)?.all.count == Limits.secretPairs)
        #expect(pairs(Limits.secretPairs + 1) == nil)
    }

    @Test func anItemIsFoundByAnyOfItsPairs() throws {
        let item = try pairs(("user", "ada"), ("server", "mail"), ("xdg:schema", "org.example.Mail"))
        #expect(try item.contains(.none) && item.contains(item) && item.contains(pairs(("user", "ada"))))
        #expect(try !item.contains(pairs(("user", "eve"))) && !item.contains(pairs(("port", "25"))))
        #expect(try !item.contains(pairs(("user", "ada"), ("port", "25"))))
        #expect(!SecretPairs.none.contains(item))
    }

    @Test func aSearchByTheSchemaNamesNoItem() throws {
        #expect(try !SecretPairs.none.namesMoreThanSchema && !pairs(("xdg:schema", "a")).namesMoreThanSchema)
        #expect(try pairs(("xdg:schema", "a"), ("user", "")).namesMoreThanSchema)
        #expect(try pairs(("XDG:schema", "a")).namesMoreThanSchema)
    }

    @Test func onlyTheTextOfAnAnswerIsAnAnswer() {
        for answer in SecretAnswer.allCases {
            #expect(SecretAnswer(entered: SecretBytes(answer.rawValue.utf8)) == answer)
        }
        for text in ["", "Once", "once ", "alway", "nevers", "o", "\n", "once\0", "always,never"] {
            #expect(SecretAnswer(entered: SecretBytes(text.utf8)) == nil, "\(text)")
        }
    }
}
