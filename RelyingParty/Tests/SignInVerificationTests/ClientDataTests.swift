// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import SignInVerification

struct ClientDataTests {
    private static let origins: Set<String> = ["https://example.com"]

    private static func refusal(_ json: String) -> VerificationError? {
        do throws(VerificationError) {
            try ClientData(Array(json.utf8)).check(.assertion, origins: origins)
            return nil
        } catch {
            return error
        }
    }

    private static func json(
        type: String = #""webauthn.get""#, challenge: String = #""AAEC""#, origin: String = #""https://example.com""#,
        rest: String = ""
    ) -> String {
        #"{"type":\#(type),"challenge":\#(challenge),"origin":\#(origin)\#(rest)}"#
    }

    @Test func membersOfTheSpecificationAndUnknownOnesAreAccepted() throws {
        #expect(try ClientData(Array(Self.json().utf8)).challenge == [0, 1, 2])
        for rest in [
            "", #","crossOrigin":false"#, #","tokenBinding":{"status":"supported"}"#,
            #","other_keys_can_be_added_here":"do not compare clientDataJSON against a template""#,
        ] {
            #expect(Self.refusal(Self.json(rest: rest)) == nil)
        }
        #expect(Self.refusal(" " + Self.json() + "\n") == nil)
        // "UTF-8 decode" removes one byte order mark.
        #expect(Self.refusal("\u{feff}" + Self.json()) == nil)
    }

    @Test func otherOperationsAndPagesAreRefused() {
        for type in ["webauthn.create", "webauthn.get ", "Webauthn.get", "payment.get", ""] {
            #expect(Self.refusal(Self.json(type: "\"\(type)\"")) == .type)
        }
        for origin in [
            "https://example.com/", "http://example.com", "https://example.com:443", "https://www.example.com",
            "https://EXAMPLE.com", "https://example.com.evil.org", "null", "", #"https:\/\/example.org"#,
            "https://example.com\u{301}",
        ] {
            #expect(Self.refusal(Self.json(origin: "\"\(origin)\"")) == .origin, "\(origin)")
        }
        for rest in [#","crossOrigin":true"#, #","topOrigin":"https://example.com""#, #","topOrigin":null"#] {
            #expect(Self.refusal(Self.json(rest: rest)) == .origin)
        }
    }

    @Test func otherFormsAreRefused() {
        let wide = String(repeating: " ", count: ClientData.byteLimit)
        for text in [
            "", "{}", "[]", "null", Self.json() + "x", "\u{feff}\u{feff}" + Self.json(), "\u{feff}",
            " \u{feff}" + Self.json(), Self.json(type: "1"),
            Self.json(origin: "null"), Self.json(challenge: "[]"), Self.json(challenge: #""AAE=""#),
            Self.json(challenge: #""AA+/""#), Self.json(challenge: #""AAF""#),
            Self.json(rest: #","type":"webauthn.get""#),
            Self.json(rest: #","crossOrigin":"false""#), Self.json(rest: #","crossOrigin":null"#),
            Self.json(rest: #","crossOrigin":0"#), Self.json(rest: #","a":1,"a":1"#), Self.json() + wide,
        ] {
            #expect(Self.refusal(text) == .clientData, "\(text.prefix(120))")
        }
    }
}
