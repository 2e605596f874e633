// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyWire
import TestSupport
import Testing

/// Malformed items are refused, each with its reason.
@Suite struct CBORReaderTests {
    private func refusal<R>(
        _ text: String, _ body: (inout CBORReader) throws(WireError) -> R
    ) throws -> WireError? {
        let bytes = try hex(text)
        do throws(WireError) {
            _ = try read(bytes, body)
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: [
        "1800", "1817", "190000", "190017", "1900ff", "1a00000000", "1a0000ffff", "1b0000000000000000",
        "1b00000000ffffffff",
    ])
    func integersLongerThanNeededAreRefused(_ text: String) throws {
        #expect(try refusal(text) { (reader) throws(WireError) in try reader.unsigned() } == .notCanonical)
        // The same argument in the head of a negative integer, a byte string, a text, an array and a map.
        for major: UInt8 in 1...5 {
            var bytes = try hex(text)
            bytes[0] |= major << 5
            bytes += [UInt8](repeating: 0, count: 70_000)
            #expect(throws: WireError.notCanonical) {
                try read(bytes) { (reader) throws(WireError) in try reader.skip() }
            }
        }
    }

    @Test(arguments: ["1c", "1d", "1e", "1f", "3f", "5f4100ff", "7f6161ff", "9f00ff", "bf0000ff"])
    func reservedAndIndefiniteHeadsAreRefused(_ text: String) throws {
        #expect(try refusal(text) { (reader) throws(WireError) in try reader.skip() } == .notCanonical)
    }

    @Test(arguments: ["", "18", "19", "1901", "1a000100", "1b00000001000000", "41", "6261", "8100"])
    func truncatedItemsAreRefused(_ text: String) throws {
        let expected: WireError? = text == "8100" ? nil : .truncated
        #expect(try refusal(text) { (reader) throws(WireError) in try reader.skip() } == expected)
    }

    /// null, undefined, half, single and double floats, other simple values, the break code.
    @Test(arguments: ["f6", "f7", "f90000", "fa00000000", "fb0000000000000000", "e0", "f3", "f8ff", "f820", "ff"])
    func nullFloatsAndSimpleValuesAreRefused(_ text: String) throws {
        #expect(try refusal(text) { (reader) throws(WireError) in try reader.skip() } == .wrongType)
        #expect(try refusal(text) { (reader) throws(WireError) in try reader.boolean() } == .wrongType)
    }

    @Test(arguments: ["c000", "c249010000000000000000", "d9d9f700", "d81800"])
    func tagsAreRefused(_ text: String) throws {
        #expect(try refusal(text) { (reader) throws(WireError) in try reader.skip() } == .unsupportedItem)
        #expect(try refusal(text) { (reader) throws(WireError) in try reader.unsigned() } == .wrongType)
    }

    /// A continuation byte alone, an overlong NUL, a surrogate, a value above U+10FFFF, a truncated sequence.
    @Test(arguments: ["6180", "62c080", "63eda080", "64f4908080", "62e6b0", "61ff"])
    func textThatIsNotUTF8IsRefused(_ text: String) throws {
        #expect(try refusal(text) { (reader) throws(WireError) in try reader.text() } == .invalidText)
        #expect(try refusal(text) { (reader) throws(WireError) in try reader.skip() } == .invalidText)
    }

    @Test(arguments: ["1b8000000000000000", "3b8000000000000000", "3bffffffffffffffff"])
    func integersOutsideOf64BitsAreRefused(_ text: String) throws {
        #expect(try refusal(text) { (reader) throws(WireError) in try reader.integer() } == .invalidValue)
    }

    @Test func anItemOfAnotherTypeIsRefused() throws {
        let items = ["unsigned": "00", "bytes": "40", "text": "60", "array": "80", "map": "a0", "boolean": "f4"]
        for (kind, text) in items {
            let readers: [String: (inout CBORReader) throws(WireError) -> Void] = [
                "unsigned": { (reader) throws(WireError) in _ = try reader.unsigned() },
                "bytes": { (reader) throws(WireError) in _ = try reader.bytes() },
                "text": { (reader) throws(WireError) in _ = try reader.text() },
                "array": { (reader) throws(WireError) in try reader.array { (_) throws(WireError) in } },
                "map": { (reader) throws(WireError) in try reader.map { (_, _) throws(WireError) in false } },
                "boolean": { (reader) throws(WireError) in _ = try reader.boolean() },
            ]
            for (wanted, body) in readers {
                #expect(try refusal(text, body) == (wanted == kind ? nil : .wrongType), "\(kind) for \(wanted)")
            }
        }
        #expect(try refusal("20") { (reader) throws(WireError) in try reader.unsigned() } == .wrongType)
        #expect(try refusal("40") { (reader) throws(WireError) in try reader.integer() } == .wrongType)
    }

    @Test func bytesAfterTheItemAreRefused() throws {
        #expect(try refusal("0000") { (reader) throws(WireError) in try reader.unsigned() } == .trailingBytes)
        #expect(try refusal("a000") { (reader) throws(WireError) in try reader.skip() } == .trailingBytes)
    }
}
