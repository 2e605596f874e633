// SPDX-License-Identifier: Apache-2.0

import RelyingPartyCrypto
import RelyingPartyJSON
import ServerTestSupport
import Testing

@testable import RelyingParty

struct KeyTests {
    private static func pem(_ der: [UInt8], _ label: String = "PUBLIC KEY") -> String {
        let text = StrictBase64.standard.encode(der)
        return "-----BEGIN \(label)-----\n\(text.prefix(64))\n\(text.dropFirst(64))\n-----END \(label)-----\n"
    }

    private static func jwk(
        _ point: [UInt8], type: String = "EC", curve: String = "P-256", more: String = ""
    ) throws -> JSONValue {
        let x = StrictBase64.url.encode(Array(point[1..<33]))
        let y = StrictBase64.url.encode(Array(point[33..<65]))
        return try JSONReader.read(Array(#"{"kty":"\#(type)","crv":"\#(curve)","x":"\#(x)","y":"\#(y)"\#(more)}"#.utf8))
    }

    private static func text(_ bytes: [UInt8]) -> JSONValue { .string(StrictBase64.url.encode(bytes)) }

    @Test func allFormatsGiveTheSameKey() throws {
        let key = try TestKey()
        let point = try key.publicKey.point
        for (format, value) in [
            ("pem", JSONValue.string(Self.pem(key.der))), ("der", Self.text(key.der)), ("x963", Self.text(point)),
            ("jwk", try Self.jwk(point)),
            ("pem", .string(Self.pem(key.der).split(separator: "\n").joined(separator: "\r\n"))),
        ] { #expect(try PublicKeyInput.read(format, value)?.point == point) }
    }

    @Test func abuse45OtherKeysAndTrailingBytesAreRefused() throws {
        let key = try TestKey()
        let point = try key.publicKey.point
        let other = [point[0]] + point[1..<64] + [point[64] ^ 1]
        var p384 = key.der
        p384[20] ^= 1
        // RFC 5480 with the algorithm rsaEncryption, and with the curve secp256k1 (1.3.132.0.10).
        let rsa: [UInt8] = [0x30, 0x0d, 0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01, 0x05, 0x00]
        let koblitz: [UInt8] =
            [
                0x30, 0x56, 0x30, 0x10, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x05, 0x2b, 0x81,
                0x04, 0x00, 0x0a, 0x03, 0x42, 0x00,
            ] + point
        for (format, value) in [
            ("x963", Self.text(other)), ("x963", Self.text([0])), ("x963", Self.text([])),
            ("x963", Self.text(point + [0])), ("x963", Self.text([2] + point[1..<33])),
            ("x963", Self.text([4] + [UInt8](repeating: 0, count: 64))),
            ("x963", Self.text([4] + [UInt8](repeating: 0xff, count: 64))), ("der", Self.text(key.der + [0])),
            ("der", Self.text(Array(key.der.dropLast()))), ("der", Self.text(p384)), ("der", Self.text(koblitz)),
            ("der", Self.text([0x30, 0x13] + rsa + [0x03, 0x02, 0x00, 0x00])),
            ("pem", .string(Self.pem(key.der + [0]))),
            ("pem", .string(Self.pem(key.der, "EC PRIVATE KEY"))), ("pem", .string(Self.pem(key.der) + "x")),
            ("pem", .string("\n" + Self.pem(key.der))), ("pem", .string("")), ("pem", .null),
            ("jwk", try Self.jwk(point, curve: "P-384")), ("jwk", try Self.jwk(point, more: #","d":"AA""#)),
            ("jwk", try Self.jwk(other)), ("jwk", try Self.jwk(point, type: "RSA")),
            ("jwk", try JSONReader.read(Array(#"{"kty":"RSA","n":"AQAB","e":"AQAB"}"#.utf8))),
            ("jwk", .array([])), ("raw", Self.text(point)),
        ] as [(String, JSONValue)] { #expect(try PublicKeyInput.read(format, value) == nil) }
    }

    /// The numbers r and s of a signature in DER, without leading zeros.
    private static func numbers(_ der: [UInt8]) -> (r: [UInt8], s: [UInt8]) {
        let rCount = Int(der[3])
        return (Array(der[4..<4 + rCount]), Array(der[(6 + rCount)...]))
    }

    private static func integer(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = Array(bytes.drop { $0 == 0 })
        if bytes[0] & 0x80 != 0 { bytes.insert(0, at: 0) }
        return [2, UInt8(bytes.count)] + bytes
    }

    /// The order of the curve less s.
    private static func flipped(_ s: [UInt8]) -> [UInt8] {
        let order: [UInt8] =
            [0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0] + [UInt8](repeating: 0xff, count: 8) + [
                0xbc, 0xe6, 0xfa, 0xad, 0xa7, 0x17, 0x9e, 0x84, 0xf3, 0xb9, 0xca, 0xc2, 0xfc, 0x63, 0x25, 0x51,
            ]
        let s = [UInt8](repeating: 0, count: max(0, 32 - s.count)) + s.suffix(32)
        var borrow = 0
        var result = [UInt8](repeating: 0, count: 32)
        for index in (0..<32).reversed() {
            let difference = Int(order[index]) - Int(s[index]) - borrow
            borrow = difference < 0 ? 1 : 0
            result[index] = UInt8(truncatingIfNeeded: difference)
        }
        return result
    }

    /// The other valid signature of the same message: r, and the order less s.
    static func withOtherS(_ signature: [UInt8]) -> [UInt8] {
        let (r, s) = numbers(signature)
        let body = integer(r) + integer(flipped(s))
        return [0x30, UInt8(body.count)] + body
    }

    @Test func abuse45P1363TrailingBytesAndOtherEncodingsOfASignatureAreRefused() throws {
        let key = try TestKey()
        let message = Array("message".utf8)
        let signature = key.sign(message)
        let (r, s) = Self.numbers(signature)
        let plain = [r, s].flatMap { number -> [UInt8] in
            let trimmed = Array(number.drop { $0 == 0 })
            return [UInt8](repeating: 0, count: 32 - trimmed.count) + trimmed
        }
        let publicKey = try key.publicKey
        #expect(publicKey.isValid(signature, for: message))
        var longForm = signature
        longForm.replaceSubrange(1..<2, with: [0x81, signature[1]])
        for wrong in [
            plain, signature + [0], Array(signature.dropLast()), [], [0x30, 0], longForm, [0x30, 6, 2, 1, 0, 2, 1, 0],
            [UInt8](repeating: 0x30, count: 100_000),
        ] { #expect(!publicKey.isValid(wrong, for: message)) }
        #expect(!publicKey.isValid(signature, for: message + [0]))
    }

    @Test func aStoredPointThatIsNotOnTheCurveVerifiesNothing() throws {
        let key = try TestKey()
        let message = Array("message".utf8)
        let publicKey = try key.publicKey
        let point = publicKey.point
        for (stored, isValid) in [(point, true), (point.dropLast() + [point[64] ^ 1], false), ([], false)] {
            let registered = P256PublicKey(registered: stored, identifier: publicKey.identifier)
            #expect(registered.isValid(key.sign(message), for: message) == isValid)
        }
    }

    @Test func highAndLowValuesOfSAreAccepted() throws {
        let key = try TestKey()
        let message = Array("message".utf8)
        let signature = key.sign(message)
        let other = Self.withOtherS(signature)
        #expect(other != signature)
        #expect(try key.publicKey.isValid(other, for: message))
    }

    @Test func keyDerivationMatchesRFC5869() throws {
        // Appendix A.3: no salt and no information; the first 32 bytes.
        var secret = [UInt8](repeating: 0x0b, count: 22)
        let derived = try LibCrypto.derive(SecretBytes(taking: &secret), [])
        let expected: [UInt8] = [
            0x8d, 0xa4, 0xe7, 0x75, 0xa5, 0x63, 0xc1, 0x8f, 0x71, 0x5f, 0x80, 0x2a, 0x06, 0x3c, 0x5a, 0x31, 0xb8, 0xa1,
            0x1f, 0x5c, 0x5e, 0xe1, 0x87, 0x9e, 0xc3, 0x45, 0x4e, 0x5f, 0x3c, 0x73, 0x8d, 0x2d,
        ]
        #expect(derived.withBytes { Array($0) } == expected)
        #expect(secret == [UInt8](repeating: 0, count: 22))
    }
}
