// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import Testing

/// Text from outside: what Unicode considers equivalent has other bytes, and no mark hides a separator.
@Suite struct ByteTextTests {
    private static let composed = "caf\u{e9}"
    private static let decomposed = "cafe\u{301}"

    @Test func aTextThatIsOnlyEquivalentIsAnother() {
        #expect(Self.composed == Self.decomposed)
        #expect(!Self.composed.hasBytes(of: Self.decomposed) && Self.composed.hasBytes(of: Self.composed))
        #expect(![Self.composed].containsBytes(of: Self.decomposed))
        #expect([Self.composed].containsBytes(of: Self.composed))
    }

    @Test func aMarkAfterAPrefixDoesNotHideIt() {
        #expect("/\u{301}x".begins(with: "/") && !"x/".begins(with: "/"))
        #expect("x.conf".ends(with: ".conf") && !"x.con".ends(with: ".conf") && !"f".ends(with: ".conf"))
    }

    @Test func aMarkAfterASeparatorDoesNotHideIt() {
        #expect("a/\u{301}b".parts(at: "/").map { Array($0.utf8) } == [Array("a".utf8), Array("\u{301}b".utf8)])
        #expect("a\r\nb".parts(at: "\n") == ["a\r", "b"])
        #expect("//a/".parts(at: "/") == ["a"])
        #expect("//a/".parts(at: "/", omittingEmpty: false) == ["", "", "a", ""])
        #expect("a=b=c".parts(at: "=", maxSplits: 1) == ["a", "b=c"])
    }

    @Test(arguments: [
        ("caf\u{e9} \\".utf8.map { $0 }, "caf\u{e9} \\"),
        (Array("caf".utf8) + [0xe9, 0x5c, 0x0a], "caf\\xE9\\x5C\\x0A"),
        ([], ""),
    ])
    func bytesThatAreNoTextAreEscaped(bytes: [UInt8], shown: String) {
        #expect(String(showing: bytes) == shown)
    }
}
