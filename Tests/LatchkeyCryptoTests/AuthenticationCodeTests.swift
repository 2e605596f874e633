// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
import LatchkeyModel
import TestSupport
import Testing

/// HMAC-SHA-256 against RFC 4231.
///
/// A `SymmetricKey` has 32 bytes and RFC 4231 uses other lengths. By RFC 2104 a shorter key equals the same key
/// followed by zeros, and one longer than 64 bytes equals its SHA-256, so every published case can be run.
@Suite struct AuthenticationCodeTests {
    struct PublishedCase: Sendable, CustomTestStringConvertible {
        var number: Int
        var key: [UInt8]
        var message: [UInt8]
        var code: String
        var testDescription: String { "RFC 4231 case \(number)" }
    }

    /// SHA-256 of 131 bytes 0xaa, the key of cases 6 and 7.
    static let hashOfLongKey: [UInt8] = [
        0x45, 0xad, 0x4b, 0x37, 0xc6, 0xe2, 0xfc, 0x0a, 0x2c, 0xfc, 0xc1, 0xb5, 0xda, 0x52, 0x41, 0x32,
        0xec, 0x70, 0x76, 0x15, 0xc2, 0xca, 0xe1, 0xdb, 0xbc, 0x43, 0xc9, 0x7a, 0xa5, 0x21, 0xdb, 0x81,
    ]
    static let published = [
        PublishedCase(
            number: 1, key: [UInt8](repeating: 0x0b, count: 20), message: Array("Hi There".utf8),
            code: "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"),
        PublishedCase(
            number: 2, key: Array("Jefe".utf8), message: Array("what do ya want for nothing?".utf8),
            code: "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"),
        PublishedCase(
            number: 3, key: [UInt8](repeating: 0xaa, count: 20), message: [UInt8](repeating: 0xdd, count: 50),
            code: "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"),
        PublishedCase(
            number: 4, key: Array(1...25), message: [UInt8](repeating: 0xcd, count: 50),
            code: "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"),
        PublishedCase(
            number: 5, key: [UInt8](repeating: 0x0c, count: 20), message: Array("Test With Truncation".utf8),
            code: "a3b6167473100ee06e0c796c2955552b"),
        PublishedCase(
            number: 6, key: hashOfLongKey,
            message: Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8),
            code: "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"),
        PublishedCase(
            number: 7, key: hashOfLongKey,
            message: Array(
                """
                This is a test using a larger than block-size key and a larger than block-size data. The key needs \
                to be hashed before being used by the HMAC algorithm.
                """.utf8),
            code: "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"),
    ]

    @Test(arguments: published) func theCodeIsThePublishedOne(_ published: PublishedCase) throws {
        let padded = published.key + [UInt8](repeating: 0, count: 32 - published.key.count)
        let expected = try hex(published.code)
        let code = try key(padded).authenticationCode(published.message)
        #expect(code.count == 32)
        #expect(Array(code.prefix(expected.count)) == expected)
        let prepared = try AuthenticationKey(key(padded))
        for _ in 1...2 { #expect(try prepared.code(published.message) == code, "each message is hashed on its own") }
    }

    @Test func theEmptyMessageHasACode() throws {
        let code = try key(filledWith: 0).authenticationCode([])
        #expect(try code == hex("b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad"))
        #expect(try AuthenticationKey(key(filledWith: 0)).code([]) == code)
    }

    @Test func everyBitOfKeyAndMessageCounts() throws {
        let keyBytes = [UInt8](repeating: 5, count: 32)
        let message: [UInt8] = [1, 2, 3]
        var seen = Set([try key(keyBytes).authenticationCode(message)])
        for index in keyBytes.indices {
            var changed = keyBytes
            changed[index] ^= 0x80
            #expect(seen.insert(try key(changed).authenticationCode(message)).inserted)
        }
        for other: [UInt8] in [[], [1, 2], [1, 2, 3, 0], [1, 2, 2], [0, 1, 2, 3]] {
            #expect(seen.insert(try key(keyBytes).authenticationCode(other)).inserted)
        }
    }
}
