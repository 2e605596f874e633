// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import LatchkeyPrompts

/// Tests of decoding keys from bytes.
@Suite struct KeyDecoderTests {
    private func keys(_ text: String, decoder: inout KeyDecoder) -> [Key] {
        text.utf8.compactMap { decoder.take($0) }
    }

    private func keys(_ text: String) -> [Key] {
        var decoder = KeyDecoder()
        return keys(text, decoder: &decoder) + [decoder.timeOut()].compactMap { $0 }
    }

    @Test func textIsDecodedBytewise() {
        #expect(keys("aé\r\u{3}") == "aé\r\u{3}".utf8.map { .byte($0) })
    }

    @Test func singleEscapeIsAKey() {
        #expect(keys("\u{1b}") == [.escape])
        #expect(keys("\u{1b}\u{1b}") == [.escape, .escape])
    }

    @Test func arrowAndFunctionKeysAreNotEscape() {
        for sequence in [
            "\u{1b}[A", "\u{1b}OP", "\u{1b}[15~", "\u{1b}[1;5C", "\u{1b}[<0;12;7M", "\u{1b}x", "\u{1b}[12;40R",
        ] {
            #expect(keys(sequence) == [], "\(sequence.dropFirst())")
            #expect(keys(sequence + "m") == [.byte(UInt8(ascii: "m"))], "\(sequence.dropFirst())")
        }
    }

    /// A slow connection may split a sequence.
    @Test func splitSequenceIsOneSequence() {
        var decoder = KeyDecoder()
        for piece in ["\u{1b}", "[", "1", ";5", "C"] {
            #expect(keys(piece, decoder: &decoder) == [])
            #expect(decoder.isWaiting == (piece != "C"))
        }
    }

    @Test func unfinishedSequenceIsDropped() {
        var decoder = KeyDecoder()
        #expect(keys("\u{1b}[1", decoder: &decoder) == [])
        #expect(decoder.timeOut() == nil)
        #expect(keys("a", decoder: &decoder) == [.byte(UInt8(ascii: "a"))])
    }
}
