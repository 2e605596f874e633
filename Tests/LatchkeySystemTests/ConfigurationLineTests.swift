// SPDX-License-Identifier: Apache-2.0

import LatchkeySystem
import Testing

@Suite struct ConfigurationLineTests {
    private func lines(_ text: String) -> [[String]] {
        ConfigurationLine.lines(Array(text.utf8)).map { [$0.name, $0.value] }
    }

    @Test func namesAndValuesAreRead() {
        #expect(
            lines("# x\n\n tier = user # y\nword\na = b = c\n") == [["tier", "user"], ["word", ""], ["a", "b=c"]])
    }

    /// A reader of characters takes a carriage return and a line feed for one, which ends no line: the comment would
    /// contain the line after it.
    @Test func aCarriageReturnHidesNoLine() {
        #expect(lines("# x\r\ntier = tpm") == [["tier", "tpm"]])
        #expect(lines("tier = tpm\r\n") == [["tier", "tpm\r"]], "no reader understands the value")
    }

    @Test func aMarkHidesNeitherACommentNorASign() {
        #expect(
            lines("tier = user #\u{301} x\nface =\u{301}policy") == [["tier", "user"], ["face", "\u{301}policy"]])
    }

    @Test func aLineThatIsNotUTF8IsUnderstoodByNoReader() {
        let bytes = Array("# caf".utf8) + [0xe9] + Array("\ntpm = /dev/".utf8) + [0xe9]
        let lines = ConfigurationLine.lines(bytes)
        #expect(lines.map(\.name) == [""] && lines.map(\.value) == [""])
        #expect(lines.map(\.text) == ["tpm = /dev/\\xE9"])
    }
}
