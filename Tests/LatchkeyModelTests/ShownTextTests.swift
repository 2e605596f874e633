// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyModel
import TestPromises
import Testing

/// Names of apps in output: no character of them moves a terminal or turns text, and JSON loses none.
@Suite struct ShownTextTests {
    /// Controls, marks of direction, separators, and characters without a width.
    private static let hostile: [Unicode.Scalar] =
        (Array(0...0x1f) + Array(0x7f...0x9f) + [
            0xad, 0x34f, 0x61c, 0x115f, 0x17b4, 0x180e, 0x200b, 0x200c, 0x200d, 0x200e, 0x200f, 0x2028, 0x2029, 0x202a,
            0x202b, 0x202c, 0x202d, 0x202e, 0x2060, 0x2066, 0x2067, 0x2068, 0x2069, 0x206a, 0x3164, 0xe000, 0xfeff,
            0xffa0, 0xfff9, 0xe0001, 0xe0041, 0xf0000, 0x10ffff,
        ]).compactMap { Unicode.Scalar(UInt32($0)) }

    private static let harmless = ["notes", "grüße an ß", "日本語", "مرحبا", "a\u{301}", "❤\u{fe0f}", "\\ \" /", "€ 🎉"]

    @Test(.promise("output.terminal")) func textForPeopleHasAReplacementForEachHostileCharacter() {
        for scalar in Self.hostile {
            #expect("a\(scalar)b".withoutControls == "a\u{fffd}b", "\(String(scalar.value, radix: 16))")
            let isPartOfLines = scalar == "\n" || scalar == "\t"
            #expect("a\(scalar)b".linesWithoutControls == (isPartOfLines ? "a\(scalar)b" : "a\u{fffd}b"))
        }
        for text in Self.harmless { #expect(text.withoutControls == text && text.linesWithoutControls == text) }
    }

    @Test(.promise("output.terminal")) func jsonHasNoHostileCharacterAndLosesNone() throws {
        for text in Self.hostile.map({ "a\($0)b" }) + Self.harmless + [String(String.UnicodeScalarView(Self.hostile))] {
            let line = JSON.object([(text, .array([.text(text)]))]).line
            let isSafe = !line.unicodeScalars.contains { $0.controlsText }
            #expect(isSafe, "\(line)")
            let read = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: [String]]
            #expect(read == [text: [text]])
        }
        #expect(JSON.text("\u{9b}1m\u{202e}\u{e0001}").line == #""\u009b1m\u202e\udb40\udc01""#)
    }

    /// Every code point, so that no class of characters is forgotten.
    @Test func aControlIsEveryCharacterThatUnicodeHasNoPictureFor() {
        for value in UInt32(0)...0x10ffff {
            guard let scalar = Unicode.Scalar(value), !(0xfe00...0xfe0f).contains(value) else { continue }
            let isInvisible =
                [.control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned]
                .contains(scalar.properties.generalCategory) || scalar.properties.isDefaultIgnorableCodePoint
            guard scalar.controlsText != isInvisible else { continue }
            Issue.record("\(String(value, radix: 16))")
        }
    }
}
