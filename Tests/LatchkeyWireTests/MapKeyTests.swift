// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyWire
import TestPromises
import TestSupport
import Testing

@testable import FuzzProperties

/// Keys of maps are in ascending order, distinct, and either known or optional.
@Suite struct MapKeyTests {
    private func entries(_ pairs: (UInt64, CBORItem)...) -> CBORItem {
        .map(pairs.map { CBORItem.Entry(key: .unsigned($0.0), value: $0.1) })
    }

    @Test func keysOutOfOrderAreRefused() {
        let swapped = entries((1, 1), (0, .zeros(16)), (2, [0: "", 3: true]))
        #expect(refusal(of: request(6, swapped)) == .unsortedKeys)
        #expect(refusal(of: request(2, entries((129, 0), (128, 0)))) == .unsortedKeys)
    }

    @Test func aDuplicateKeyIsRefused() {
        #expect(refusal(of: request(1, entries((0, "a"), (0, "b")))) == .unsortedKeys)
        #expect(refusal(of: request(2, entries((128, 0), (128, 0)))) == .unsortedKeys)
    }

    @Test(arguments: [4, 23, 24, 127] as [UInt64]) func anUnknownMandatoryKeyIsRefused(_ key: UInt64) {
        #expect(refusal(of: request(1, entries((0, "a"), (key, 0)))) == .unknownKey(key))
    }

    @Test(arguments: [128, 129, 255, 65_536, UInt64.max])
    func anUnknownOptionalKeyIsSkipped(_ key: UInt64) throws {
        let values: [CBORItem] = [
            0, .negative(0), .zeros(300), "text", true, [], [1, [2, "x"]], [0: 1, 5: [7: false]], .nested(4),
        ]
        for value in values {
            let payload = request(1, entries((0, "a"), (key, value)))
            #expect(
                try Message(decoding: SecretBytes(payload))
                    == .request(id: 1, .hello(Request.Hello(application: "a"))))
            #expect(complaint(aboutFrame: payload) == nil)
        }
    }

    @Test func malformedValuesOfSkippedKeysAreRefused() throws {
        let before = request(1, entries((0, "a"), (128, 0))).dropLast()
        let refused: [(String, WireError)] = [
            ("1800", .notCanonical), ("9f00ff", .notCanonical), ("f6", .wrongType), ("f90000", .wrongType),
            ("c000", .unsupportedItem), ("61ff", .invalidText), ("a200000000", .unsortedKeys),
            ("a2010000ff", .unsortedKeys), ("a1616100", .wrongType), ("3bffffffffffffffff", .invalidValue),
            ("", .truncated), ("4100ff", .trailingBytes),
        ]
        for (text, expected) in refused { #expect(try refusal(of: before + hex(text)) == expected, "\(text)") }
    }

    @Test(arguments: ["20", "40", "6130", "f4", "80"]) func aKeyThatIsNotAnUnsignedIntegerIsRefused(
        _ key: String
    ) throws {
        #expect(try refusal(of: hex("830001" + "8202a1" + key + "00")) == .wrongType)
    }

    @Test func everyMapOfEveryMessageSkipsOptionalKeysAndRefusesMandatoryOnes() throws {
        for sample in Sample.all {
            let item = try #require(CBORItem(reading: sample.message.encoded().copyBytes()))
            for path in item.pathsToMaps {
                let optional = item.addingEntry(200, at: path).encoded
                if let query = sample.message.pathToQuery, path.starts(with: query) {
                    #expect(refusal(of: optional) == .unknownKey(200), "\(sample.name) \(path)")
                    continue
                }
                #expect(try Message(decoding: SecretBytes(optional)) == sample.message, "\(sample.name) \(path)")
                #expect(complaint(aboutFrame: optional) == nil, "\(sample.name) \(path)")
                let mandatory = item.addingEntry(127, at: path).encoded
                #expect(refusal(of: mandatory) == .unknownKey(127), "\(sample.name) \(path)")
            }
        }
    }

    // MARK: - Queries

    /// A newer client deletes the items of one account and of an attribute that this daemon does not know. Without that
    /// condition the deletion would be of the whole account, and without both of the whole class.
    @Test(.promise("parse.strict"), arguments: [128, 129, 200, 255, 256, 65_536, UInt64.max])
    func aDeletionWithAnUnknownConditionIsRefused(_ number: UInt64) {
        let conditions = entries((2, "ada"), (number, "new"))
        #expect(refusal(of: request(13, [0: 1, 1: conditions])) == .unknownKey(number))
        #expect(refusal(of: request(13, [0: 1, 1: entries((number, "new"))])) == .unknownKey(number))
        #expect(refusal(of: request(13, entries((0, 1), (1, [2: "ada"]), (number, 1)))) == .unknownKey(number))
        #expect(refusal(of: request(13, [0: 1, 1: [2: "ada"]])) == nil)
    }

    @Test(.promise("parse.strict")) func everyOtherQueryWithAnUnknownConditionIsRefused() {
        let authentication: CBORItem = [1: false, 2: [0: "", 3: true]]
        for conditions in [[2: "ada", 130: "new"] as CBORItem, [130: "new"]] {
            let query: CBORItem = [0: 1, 1: conditions]
            #expect(refusal(of: request(11, [0: query, 1: 1, 2: 1, 3: authentication])) == .unknownKey(130), "copy")
            #expect(
                refusal(of: request(12, [0: query, 1: [11: "x"], 4: authentication])) == .unknownKey(130), "update")
            #expect(refusal(of: request(14, query)) == .unknownKey(130), "list")
        }
    }

    /// An item without an attribute is the same item for every reader that does not know the attribute.
    @Test func unknownAttributesOfAnItemToStoreAreSkipped() {
        let authentication: CBORItem = [1: false, 2: [0: "", 3: true]]
        #expect(
            refusal(of: request(10, [0: 1, 1: [2: "ada", 130: "new"], 2: [1, 0], 4: 0, 5: authentication])) == nil)
        #expect(
            refusal(of: request(12, [0: [0: 1, 1: [2: "ada"]], 1: [11: "x", 130: "new"], 4: authentication])) == nil)
    }
}

extension Message {
    /// Where the query or the changes of a request are, of which every field is known; nil for a message without them.
    fileprivate var pathToQuery: CBORPath? {
        guard case .request(_, let request) = self else { return nil }
        return switch request {
        case .copyItems, .updateItems: [2, 1, 0]
        case .deleteItems, .listItems: [2, 1]
        case .useSecrets(let use):
            switch use.action {
            // A search with a condition that is not known would find other items.
            case .search: [2, 1, 2, 1]
            case .change: [2, 1, 2, 1, 1]
            default: nil
            }
        default: nil
        }
    }
}
