// SPDX-License-Identifier: Apache-2.0

import KeyFormats
import Testing

/// Reads and writes the JSON Web Keys of RFC 7517 and RFC 7638, and rejects malformed ones.
@Suite struct JSONWebKeyTests {
    // RFC 7638, section 3.1.
    private static let published = [
        "kty": "RSA", "e": "AQAB", "alg": "RS256", "kid": "2011-04-29",
        "n": "0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCi"
            + "FV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9"
            + "c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1j"
            + "F44-csFCur-kEgU8awapJzKnqDKgw",
    ]
    // RFC 7517, appendix A.1.
    private static let curve = [
        "kty": "EC", "crv": "P-256", "x": "MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4",
        "y": "4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM", "use": "enc", "kid": "1",
    ]

    @Test func thumbprintMatchesRFC7638() throws {
        let key = try PortablePublicKey(jwk: Self.published)
        #expect(key.kind == .rsa && key.bitCount == 2048)
        #expect(try key.jwkThumbprint() == "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs")
        #expect(key.jwkText.hasPrefix("{\"e\":\"AQAB\",\"kty\":\"RSA\",\"n\":\"0vx7") && !key.jwkText.contains("kid"))
    }

    @Test func ellipticCurveKeyOfRFC7517RoundTrips() throws {
        let key = try PortablePublicKey(jwk: Self.curve)
        #expect(key.kind == .p256)
        #expect(key.jwk == Self.curve.filter { !["use", "kid"].contains($0.key) })
        #expect(key.jwkText.hasPrefix("{\"crv\":\"P-256\",\"kty\":\"EC\",\"x\":"))
    }

    @Test(arguments: ["d", "p", "q", "dp", "dq", "qi", "oth", "k"]) func privateKeyMembersAreRejected(member: String) {
        var members = Self.published
        members[member] = "AQAB"
        #expect(code { () throws(KeyFormatError) in try PortablePublicKey(jwk: members) } == .privateKey)
    }

    @Test func invalidEllipticCurveMembersAreRejected() {
        func refusal(_ changes: [String: String?]) -> KeyFormatError.Code? {
            var members = Self.curve
            for (name, value) in changes { members[name] = value }
            return code { () throws(KeyFormatError) in try PortablePublicKey(jwk: members) }
        }
        #expect(refusal(["crv": "P-384"]) == .malformed, "the coordinates are those of another curve")
        #expect(refusal(["crv": "secp256k1"]) == .unsupported)
        #expect(refusal(["crv": nil]) == .unsupported)
        #expect(refusal(["kty": "OKP"]) == .unsupported)
        #expect(refusal(["kty": nil]) == .unsupported)
        #expect(refusal(["x": Self.curve["y"]]) == .invalidKey, "not on the curve")
        #expect(refusal(["x": nil]) == .malformed)
        #expect(refusal(["x": ""]) == .malformed)
        #expect(refusal(["x": (Self.curve["x"] ?? "") + "="]) == .malformed, "padding")
        #expect(refusal(["x": "AA" + (Self.curve["x"] ?? "")]) == .malformed, "wider than the curve")
        #expect(refusal(["x": "MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D5"]) == .malformed, "unused bits set")
        #expect(refusal(["x": "+KBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4"]) == .malformed, "not base64url")
    }

    @Test func invalidRSAMembersAreRejected() {
        func refusal(_ name: String, _ value: String) -> KeyFormatError.Code? {
            var members = Self.published
            members[name] = value
            return code { () throws(KeyFormatError) in try PortablePublicKey(jwk: members) }
        }
        #expect(refusal("e", "AAEAAQ") == .malformed, "a leading zero")
        #expect(refusal("e", "AA") == .malformed, "zero")
        #expect(refusal("e", "AQ") == .invalidKey, "one")
        #expect(refusal("e", "AQAA") == .invalidKey, "even")
        #expect(refusal("n", "0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbU") == .invalidKey, "256 bits")
    }
}

/// The code of the error that `body` throws; nil when it throws none.
func code(_ body: () throws(KeyFormatError) -> PortablePublicKey) -> KeyFormatError.Code? {
    do throws(KeyFormatError) {
        _ = try body()
        return nil
    } catch {
        return error.code
    }
}
