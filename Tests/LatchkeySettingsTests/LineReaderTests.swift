// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import LatchkeyDesktop

@Suite struct LineReaderTests {
    private let text = Array("reader\tA reader\tswipe\nfinger\tleft-thumb\n\nscan\t\t\nrest".utf8)
    private let lines = [["reader", "A reader", "swipe"], ["finger", "left-thumb"], [""], ["scan", "", ""]]

    @Test func wholeTextAndSingleBytesGiveTheSameLines() {
        var whole = LineReader(limit: 100)
        #expect(whole.lines(after: text) == lines)
        var single = LineReader(limit: 100)
        #expect(text.flatMap { single.lines(after: [$0]) } == lines)
        #expect(single.lines(after: [10]) == [["rest"]])
    }

    @Test func aLongLineIsCutAndTheNextOneIsWhole() {
        var reader = LineReader(limit: 4)
        #expect(reader.lines(after: Array("abcdefgh\nxy\n".utf8)) == [["abcd"], ["xy"]])
    }

    @Test func bytesThatAreNoTextDoNotTrap() {
        var reader = LineReader(limit: 10)
        #expect(reader.lines(after: [0xff, 0x09, 0x00, 0x0a]).first?.count == 2)
    }
}
