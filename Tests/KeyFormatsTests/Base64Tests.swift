// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeyFormats
import Testing

/// The strict Base64 codec: known values, and rejection of every non-canonical text.
@Suite struct Base64Tests {
    @Test func rfc4648ExamplesRoundTrip() {
        // RFC 4648, section 10.
        for (text, expected) in [
            ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ] {
            #expect(Base64.standard.encode(text.utf8) == expected)
            #expect(Base64.standard.decode(expected.utf8) == Array(text.utf8))
            let bare = expected.replacing("=", with: "")
            #expect(Base64.url.encode(text.utf8) == bare)
            #expect(Base64.url.decode(bare.utf8) == Array(text.utf8))
        }
    }

    @Test func encodingMatchesFoundationForEveryLength() {
        for count in 0...67 {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 151 &+ count &* 17) }
            let text = Data(bytes).base64EncodedString()
            #expect(Base64.standard.encode(bytes) == text)
            #expect(Base64.standard.decode(text.utf8) == bytes)
        }
        #expect(Base64.standard.encode([0xfb, 0xff]) == "+/8=" && Base64.url.encode([0xfb, 0xff]) == "-_8")
    }

    @Test(arguments: [
        "Zg", "Zg=", "Z===", "Zg==Zg==", "Zh==", "Zm9=", "Zm9v\n", " Zm9v", "Zm 9v", "Zm-_", "=", "====", "Zm9v====",
    ]) func malformedBase64IsRejected(text: String) { #expect(Base64.standard.decode(text.utf8) == nil) }

    @Test(arguments: ["Z", "Zg==", "Zh", "Zm9", "+/8", "Zm9v\n"]) func malformedBase64urlIsRejected(text: String) {
        #expect(Base64.url.decode(text.utf8) == nil)
    }
}
