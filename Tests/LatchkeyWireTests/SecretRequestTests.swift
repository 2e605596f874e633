// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyWire
import TestPromises
import TestSupport
import Testing

@testable import FuzzProperties

/// Requests of the Secret Service: what is refused, and that no other request names their items.
@Suite struct SecretRequestTests {
    private func use(_ action: CBORItem) -> [UInt8] {
        request(70, [0: [77, 1234, 1000], 1: true, 2: action, 3: [0: "", 3: true]])
    }

    private func search(_ texts: [CBORItem]) -> [UInt8] { use([2, [1: .array(texts)]]) }

    @Test func actionsOfUnknownKindsAndWithOtherContentsAreRefused() {
        #expect(refusal(of: use([6, [:]])) == nil)
        for kind: UInt64 in [0, 16, 23, 24, .max] {
            #expect(refusal(of: use(.array([.unsigned(kind), [:]]))) == .invalidValue, "\(kind)")
        }
        #expect(refusal(of: use([6, [0: 1]])) == .unknownKey(0))
        #expect(refusal(of: use([5, [:]])) == .wrongType)
        #expect(refusal(of: use([1, [[0: "login"], true]])) != nil)
    }

    /// One set of pairs has one encoding, and a name stands for one value.
    @Test func pairsAreInTheOrderOfTheBytesOfTheirNames() {
        #expect(refusal(of: search([])) == nil)
        #expect(refusal(of: search(["Z", "1", "a", "2"])) == nil)
        #expect(refusal(of: search(["a", "2", "Z", "1"])) == .notCanonical)
        #expect(refusal(of: search(["a", "1", "a", "2"])) == .invalidValue)
        #expect(refusal(of: search(["a"])) == .invalidValue)
        #expect(refusal(of: search(["a", "1", "b"])) == .invalidValue)
        // Two names that a person reads as one: their bytes differ.
        #expect(refusal(of: search(["e\u{301}", "1", "\u{e9}", "2"])) == nil)
    }

    @Test func asManyPairsAndBytesAsTheLimitsAreAccepted() {
        func pairs(_ count: Int) -> [CBORItem] {
            (0..<count).flatMap { [.text(Array("\(100 + $0)".utf8)), ""] as [CBORItem] }
        }
        #expect(refusal(of: search(pairs(Limits.secretPairs))) == nil)
        #expect(refusal(of: search(pairs(Limits.secretPairs + 1))) == .tooManyEntries)
        let most = Limits.secretPairBytes
        #expect(refusal(of: search(["a", .text(ofLength: most - 1)])) == nil)
        #expect(refusal(of: search(["a", .text(ofLength: most)])) == .invalidValue)
        #expect(refusal(of: search(["a", .text(ofLength: most / 2), "b", .text(ofLength: most / 2)])) == .invalidValue)
        #expect(refusal(of: search(["a", .text(ofLength: most + 1)])) == .tooLong)
    }

    @Test func namesAndListsOverTheLimitsAreRefused() {
        let most = Limits.secretNameBytes
        #expect(refusal(of: use([5, .text(ofLength: most)])) == nil)
        #expect(refusal(of: use([5, .text(ofLength: most + 1)])) == .tooLong)
        #expect(refusal(of: use([7, .text(ofLength: Limits.titleBytes)])) == nil)
        #expect(refusal(of: use([7, .text(ofLength: Limits.titleBytes + 1)])) == .tooLong)
        func read(_ count: Int) -> [UInt8] { use(.array([3, .array([CBORItem](repeating: "1", count: count))])) }
        #expect(refusal(of: read(Limits.secretsRead)) == nil)
        #expect(refusal(of: read(Limits.secretsRead + 1)) == .tooManyEntries)
    }

    /// Items of the Secret Service are not items of Apple's API: a query of an app cannot name their class, nor can an item
    /// to store.
    @Test(.promise("parse.strict")) func noOtherRequestNamesTheClass() {
        let authentication: CBORItem = [1: false, 2: [0: "", 3: true]]
        for (itemClass, expected) in [(4, nil), (5, WireError.invalidValue)] as [(UInt64, WireError?)] {
            let query: CBORItem = .map([
                .init(key: 0, value: .unsigned(itemClass)), .init(key: 1, value: [:]),
            ])
            let item: CBORItem = .map([
                .init(key: 0, value: .unsigned(itemClass)), .init(key: 1, value: [:]), .init(key: 2, value: [1, 0]),
                .init(key: 4, value: 0), .init(key: 5, value: authentication),
            ])
            #expect(refusal(of: request(10, item)) == expected, "add")
            #expect(refusal(of: request(11, [0: query, 1: 1, 2: 1, 3: authentication])) == expected, "copy")
            #expect(refusal(of: request(12, [0: query, 1: [11: "x"], 4: authentication])) == expected, "update")
            #expect(refusal(of: request(13, query)) == expected, "delete")
            #expect(refusal(of: request(14, query)) == expected, "list")
        }
    }
}
