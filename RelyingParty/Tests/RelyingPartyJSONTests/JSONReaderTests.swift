// SPDX-License-Identifier: Apache-2.0

import RelyingPartyJSON
import Testing

struct JSONReaderTests {
    @Test(arguments: [
        #"{"a":"b","c":[1,-0.5e+3,true,false,null]}"#, #""\u00e9\ud83d\ude00""#, " [ ] ", "{}", "0", #"{"a":1,"A":2}"#,
    ])
    func validTextIsReadAndWrittenAgain(_ text: String) throws {
        let value = try JSONReader.read(Array(text.utf8))
        #expect(try JSONReader.read(Array(value.encoded.utf8)) == value)
    }

    @Test func escapesAreDecoded() throws {
        let value = try JSONReader.read(Array(#""\"\\\/\b\f\n\r\t\u0041\ud83d\ude00""#.utf8))
        #expect(value == .string("\"\\/\u{8}\u{c}\n\r\tA\u{1f600}"))
    }

    /// A name that ends a line, or turns the direction of one, would change how a log reads.
    @Test(arguments: [
        ("\u{202e}", #""\u202e""#), ("\u{2066}", #""\u2066""#), ("\u{200b}", #""\u200b""#), ("\u{feff}", #""\ufeff""#),
        ("\u{2028}", #""\u2028""#), ("\u{2029}", #""\u2029""#), ("\u{85}", #""\u0085""#), ("\u{7f}", #""\u007f""#),
        ("\u{e0041}", #""\udb40\udc41""#), ("\0\n", #""\u0000\u000a""#), ("\"\\", #""\"\\""#), ("Jürgen", #""Jürgen""#),
    ])
    func charactersWithoutAPictureAreEscaped(_ text: String, _ expected: String) throws {
        #expect(JSONValue.string(text).encoded == expected)
        #expect(JSONValue.object([(text, .null)]).encoded == "{\(expected):null}")
        #expect(try JSONReader.read(Array(expected.utf8)) == .string(text))
    }

    @Test(arguments: [
        "", " ", "{", "[", "[1,]", #"{"a"}"#, #"{"a":}"#, #"{"a":1,}"#, "{a:1}", "01", "1.", ".5", "1e", "+1", "-",
        "tru",
        "nul", #""a"#, #""\x""#, #""\u12""#, #""\ud800""#, #""\ud800\u0041""#, #""\udc00""#, "\"\n\"", "1 2", "{} {}",
        "\u{feff}{}", "NaN", "'a'", #"{"a":1 "b":2}"#, "[1 2]", "\\", "\"\\",
    ])
    func malformedTextIsRefused(_ text: String) {
        #expect(throws: JSONReader.Failure.malformed) { try JSONReader.read(Array(text.utf8)) }
    }

    @Test(arguments: [#"{"a":1,"a":1}"#, #"{"a":1,"\u0061":2}"#, #"[{"x":{"b":1,"c":2,"b":3}}]"#])
    func duplicateNamesAreRefused(_ text: String) {
        #expect(throws: JSONReader.Failure.duplicateName) { try JSONReader.read(Array(text.utf8)) }
    }

    /// The Kelvin sign is canonically equivalent to K, and so equal to it in a `String`.
    @Test func aNameIsEqualInItsBytesOnly() throws {
        let value = try JSONReader.read(Array("{\"public\u{212a}ey\":1,\"publicKey\":2}".utf8))
        #expect(value.member("publicKey") == .integer(2) && value.member("public\u{212a}ey") == .integer(1))
        #expect(try JSONReader.read(Array("{\"public\u{212a}ey\":1}".utf8)).member("publicKey") == nil)
        #expect(Set<JSONName>(["K", "\u{212a}"]).count == 2)
        #expect(JSONValue.string("\u{212a}") != .string("K"))
    }

    @Test func invalidUTF8IsRefused() {
        for bytes: [UInt8] in [[0x22, 0xff, 0x22], [0x22, 0xc0, 0x80, 0x22], [0x22, 0xed, 0xa0, 0x80, 0x22]] {
            #expect(throws: JSONReader.Failure.malformed) { try JSONReader.read(bytes) }
        }
    }

    @Test func depthAndNumberOfValuesAreLimited() throws {
        let deep = String(repeating: "[", count: 8) + String(repeating: "]", count: 8)
        _ = try JSONReader.read(Array(deep.utf8))
        #expect(throws: JSONReader.Failure.tooDeep) { try JSONReader.read(Array(("[" + deep + "]").utf8)) }
        #expect(throws: JSONReader.Failure.tooDeep) { try JSONReader.read([UInt8](repeating: 0x5b, count: 1 << 20)) }
        let many = "[" + Array(repeating: "1", count: 300).joined(separator: ",") + "]"
        #expect(throws: JSONReader.Failure.tooMany) { try JSONReader.read(Array(many.utf8)) }
    }

    @Test func everyPrefixOfAnObjectIsRefused() {
        let text = Array(#"{"a":"\ud83d\ude00","b":[true,{"c":-1.5e3}]}"#.utf8)
        for count in 0..<text.count {
            #expect(throws: JSONReader.Failure.malformed) { try JSONReader.read(Array(text[..<count])) }
        }
    }

    /// Accepted texts are written and read again, and no text traps. The generator has a fixed seed (Knuth, MMIX).
    @Test func randomlyChangedTextsAreRefusedOrHaveOneMeaning() throws {
        let seed = Array(#"{"a":"\ud83d\ude00\n","b":[true,false,null,{"c":-1.5e3}],"d":{"e":"x"}}"#.utf8)
        let alphabet = Array("{}[]\",:\\u0dD8e+-. \u{0}tfn\u{ff}".utf8)
        var state: UInt64 = 1
        func random(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % bound
        }
        var accepted = 0
        for _ in 0..<20_000 {
            var text = seed
            for _ in 0...random(3) {
                switch random(3) {
                case 0: text[random(text.count)] = alphabet[random(alphabet.count)]
                case 1: text.remove(at: random(text.count))
                default: text.insert(alphabet[random(alphabet.count)], at: random(text.count + 1))
                }
            }
            guard let value = try? JSONReader.read(text) else { continue }
            accepted += 1
            #expect(try JSONReader.read(Array(value.encoded.utf8)) == value)
        }
        #expect(accepted > 100)
    }

    @Test func controlCharactersAreEscapedInOutput() {
        #expect(JSONValue.string("a\"\n\u{2028}\u{7f}").encoded == #""a\"\u000a\u2028\u007f""#)
    }
}
