// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import LatchkeyPrompts

/// Tests of wrapping text into lines.
@Suite struct LineBreakingTests {
    @Test func linesBreakBetweenWords() {
        #expect(
            "open the token of the nightly backup".lines(width: 14) == ["open the token", "of the nightly", "backup"])
        #expect("".lines(width: 10).isEmpty)
    }

    @Test func wordLongerThanALineIsBroken() {
        #expect("in /usr/local/libexec".lines(width: 8) == ["in /usr/", "local/li", "bexec"])
        #expect("a verylongword".lines(width: 3) == ["a", "ver", "ylo", "ngw", "ord"])
    }

    @Test func wideCharactersAreNotSplit() {
        #expect("日本語日本語".lines(width: 5) == ["日本", "語日", "本語"])
        #expect("🔑🔑".lines(width: 1) == ["?", "?"])
    }

    @Test func tooLongTextEndsWithEllipsis() {
        #expect("one two three four".lines(width: 7, limit: 1) == ["one tw…"])
        #expect("one two three four".lines(width: 7, limit: 1, ellipsis: "...") == ["one..."])
        #expect("日本語日本語".lines(width: 4, limit: 1) == ["日…"])
        #expect("one two".lines(width: 7, limit: 1) == ["one two"])
        #expect("abcd".lines(width: 2, limit: 1, ellipsis: "...") == [".."])
    }

    @Test func noLineExceedsItsWidth() {
        let texts = [
            "plain words of several lengths", "日本語 and ASCII 日本語日本語", "🔑🔑🔑 🇩🇪🇫🇷 👍🏽", "e\u{301}\u{301} x\u{fe0f}",
            String(repeating: "x", count: 500), String(repeating: "語", count: 500),
            String(repeating: "a 🔑 ", count: 99),
        ]
        for text in texts {
            for width in 1...90 {
                for line in text.lines(width: width, limit: 6) {
                    #expect(CellWidth.of(line) <= width, "\(width): \(line)")
                }
                #expect(text.lines(width: width, limit: 6).count <= 6)
            }
        }
    }
}
