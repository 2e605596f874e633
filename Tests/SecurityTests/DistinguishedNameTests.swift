// SPDX-License-Identifier: Apache-2.0

import LatchkeyCertificates
import Testing

/// The normalised form in which names are compared.
@Suite struct DistinguishedNameTests {
    /// A name with one common name.
    private func name(_ text: String, _ tag: UInt8 = 0x13) -> [UInt8] {
        der(0x30, der(0x31, der(0x30, [0x06, 0x03, 0x55, 0x04, 0x03] + der(tag, Array(text.utf8)))))
    }

    @Test(arguments: [
        ("abc", "ABC"), ("  a  b\t\tc  ", "A B C"), ("", ""), ("   ", ""), ("Already", "ALREADY"),
        ("a'z(+,-./:=?)", "A'Z(+,-./:=?)"),
        ("\ta", "A"), ("a\nb", "A\nB"),
    ])
    func printableStringsAreNormalized(text: String, folded: String) {
        #expect(DistinguishedName.normalized(name(text)) == name(folded))
    }

    @Test(arguments: [0x0c, 0x16, 0x14, 0x1e] as [UInt8])
    func otherStringTypesAreUnchanged(tag: UInt8) {
        let given = name("  a  B ", tag)
        #expect(DistinguishedName.normalized(given) == given)
    }

    @Test func lengthsAreUpdatedAtEveryLevel() {
        // Longer than 255 bytes before normalisation, shorter than 128 bytes after.
        let wide = name("a" + String(repeating: " ", count: 400) + "b")
        #expect(DistinguishedName.normalized(wide) == name("A B"))
        let still = name(String(repeating: "x ", count: 100))
        #expect(DistinguishedName.normalized(still) == name(String(repeating: "X ", count: 99) + "X"))
    }

    @Test func setsOfSeveralPairsKeepTheirOrder() {
        let pair = { (type: UInt8, text: String) in
            der(0x30, [0x06, 0x03, 0x55, 0x04, type] + der(0x13, Array(text.utf8)))
        }
        let given = der(0x30, der(0x31, pair(3, "b ") + pair(10, "a")) + der(0x31, pair(6, "de")))
        let expected = der(0x30, der(0x31, pair(3, "B") + pair(10, "A")) + der(0x31, pair(6, "DE")))
        #expect(DistinguishedName.normalized(given) == expected)
    }

    @Test func anEmptyNameIsValid() { #expect(DistinguishedName.normalized([0x30, 0]) == [0x30, 0]) }

    @Test func normalizingTwiceChangesNothing() {
        for text in ["a b", "  Ä  ", "x"] {
            let once = DistinguishedName.normalized(name(text))
            #expect(once.flatMap(DistinguishedName.normalized) == once)
        }
    }

    @Test func everyPrefixAndEveryMalformedNameIsRefused() {
        let whole = name("text")
        for count in 0..<whole.count { #expect(DistinguishedName.normalized(Array(whole.prefix(count))) == nil) }
        #expect(DistinguishedName.normalized(whole + [0]) == nil)
        #expect(DistinguishedName.normalized(der(0x31, [])) == nil)
        #expect(DistinguishedName.normalized(der(0x30, der(0x31, []))) == nil)
        #expect(DistinguishedName.normalized(der(0x30, der(0x30, []))) == nil)
        #expect(DistinguishedName.normalized(der(0x30, der(0x31, der(0x30, [0x06, 0x00, 0x05, 0x00])))) == nil)
        #expect(DistinguishedName.normalized(der(0x30, der(0x31, der(0x30, [0x06, 0x01, 0x2a])))) == nil)
        // Lengths that are not in their shortest form, and the indefinite form.
        #expect(DistinguishedName.normalized([0x30, 0x81, 0x00]) == nil)
        #expect(DistinguishedName.normalized([0x30, 0x82, 0x00, 0x00]) == nil)
        #expect(DistinguishedName.normalized([0x30, 0x80, 0x00, 0x00]) == nil)
        #expect(DistinguishedName.normalized([0x30, 0x84, 0xff, 0xff, 0xff, 0xff]) == nil)
        #expect(DistinguishedName.normalized([0x30, 0x88, 1, 1, 1, 1, 1, 1, 1, 1]) == nil)
    }
}
