// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing

@testable import LatchkeyPrompts

/// wcwidth(3), which Swift's Glibc module does not declare.
@_silgen_name("wcwidth")
private func wcwidth(_ character: wchar_t) -> CInt

/// Tests of the width of characters.
@Suite struct CellWidthTests {
    @Test func charactersHaveTheirKnownWidth() {
        let known: [(String, Int)] = [
            ("a", 1), ("é", 1), ("e\u{301}", 1), ("日", 2), ("한", 2), ("ｆ", 2), ("🔑", 2), ("…", 1), ("“", 1), ("🇩🇪", 2),
            ("│", 1), ("\u{fffd}", 1), ("ไ", 1), ("€", 1),
        ]
        for (text, cells) in known { #expect(CellWidth.of(text) == cells, "\(text)") }
    }

    /// Compares each character with the C library of this machine, as an independent reference.
    @Test func noCharacterIsNarrowerThanInTheCLibrary() throws {
        try #require(setlocale(LC_CTYPE, "C.UTF-8") != nil)
        var narrower: [String] = []
        for value in UInt32(0x20)...0x3ffff {
            guard let scalar = Unicode.Scalar(value), scalar.properties.generalCategory != .unassigned,
                CellWidth.of(scalar) < wcwidth(wchar_t(value))
            else { continue }
            narrower.append(String(value, radix: 16))
        }
        #expect(narrower.isEmpty, "\(narrower.prefix(20)), \(narrower.count) in all")
    }
}
