// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyWire
import TestSupport
import Testing

@testable import FuzzProperties

/// The examples of RFC 8949, appendix A, for the types that the protocol uses, encoded and decoded.
@Suite struct CBORWriterTests {
    @Test(arguments: [
        (0, "00"), (1, "01"), (10, "0a"), (23, "17"), (24, "1818"), (25, "1819"), (100, "1864"), (255, "18ff"),
        (256, "190100"), (1000, "1903e8"), (65_535, "19ffff"), (65_536, "1a00010000"), (1_000_000, "1a000f4240"),
        (4_294_967_295, "1affffffff"), (4_294_967_296, "1b0000000100000000"),
        (1_000_000_000_000, "1b000000e8d4a51000"), (UInt64.max, "1bffffffffffffffff"),
    ])
    func unsignedIntegersTakeTheirShortestForm(_ value: UInt64, _ expected: String) throws {
        let bytes = written { $0.unsigned(value) }
        #expect(digits(bytes) == expected)
        #expect(try read(bytes) { (reader) throws(WireError) in try reader.unsigned() } == value)
    }

    @Test(arguments: [
        (0, "00"), (23, "17"), (-1, "20"), (-10, "29"), (-24, "37"), (-25, "3818"), (-100, "3863"), (-256, "38ff"),
        (-257, "390100"), (-1000, "3903e7"), (-65_537, "3a00010000"), (-4_294_967_297, "3b0000000100000000"),
        (Int64.max, "1b7fffffffffffffff"), (Int64.min, "3b7fffffffffffffff"),
    ])
    func signedIntegersTakeTheirShortestForm(_ value: Int64, _ expected: String) throws {
        let bytes = written { $0.integer(value) }
        #expect(digits(bytes) == expected)
        #expect(try read(bytes) { (reader) throws(WireError) in try reader.integer() } == value)
    }

    @Test func booleansAreSimpleValues() throws {
        #expect(written { $0.boolean(false) } == [0xf4])
        #expect(written { $0.boolean(true) } == [0xf5])
        #expect(try !read([0xf4]) { (reader) throws(WireError) in try reader.boolean() })
        #expect(try read([0xf5]) { (reader) throws(WireError) in try reader.boolean() })
    }

    @Test(arguments: [
        ("", "60"), ("a", "6161"), ("IETF", "6449455446"), ("\"\\", "62225c"), ("\u{fc}", "62c3bc"),
        ("\u{6c34}", "63e6b0b4"), ("\u{10151}", "64f0908591"), ("\0\n", "62000a"),
        // The same letter composed and decomposed: the Swift strings are equal, the bytes differ.
        ("e\u{301}", "6365cc81"), ("\u{e9}", "62c3a9"),
    ])
    func textKeepsItsBytes(_ text: String, _ expected: String) throws {
        let bytes = written { $0.text(text) }
        #expect(digits(bytes) == expected)
        let again = try read(bytes) { (reader) throws(WireError) in try reader.text() }
        #expect(Array(again.utf8) == Array(text.utf8))
    }

    @Test(arguments: [0, 1, 23, 24, 255, 256, 65_535, 65_536, Limits.secretBytes])
    func byteStringsOfEveryLengthRoundTrip(_ count: Int) throws {
        let value = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
        let plain = written { $0.bytes(value) }
        #expect(plain == written { $0.bytes(SecretBytes(value)) })
        #expect(plain == CBORItem.bytes(value).encoded)
        #expect(try read(plain) { (reader) throws(WireError) in try reader.bytes() } == value)
        #expect(try read(plain) { (reader) throws(WireError) in try reader.secret() } == SecretBytes(value))
    }

    @Test func headsOfContainersHoldTheNumberOfEntries() {
        #expect(written { $0.array(0) } == [0x80])
        #expect(written { $0.array(25) } == [0x98, 25])
        #expect(written { $0.map(0) } == [0xa0])
        #expect(written { $0.map(23) } == [0xb7])
    }

    @Test(arguments: [0, 1, 16, 17, 1000]) func theWriterGrowsBeyondItsCapacity(_ capacity: Int) {
        var writer = CBORWriter(capacity: capacity)
        for value in 0..<1000 { writer.unsigned(UInt64(value % 24)) }
        #expect(writer.byteCount == 1000)
        #expect(writer.finishBytes() == (0..<1000).map { UInt8($0 % 24) })
        #expect(writer.finish().copyBytes() == writer.finishBytes())
    }
}
