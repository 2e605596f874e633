// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
import LatchkeyModel
import TestSupport
import Testing

/// AES-256-GCM: the published cases, and changes of every part of a sealed message.
@Suite struct SealingTests {
    /// Cases 13 to 16 of McGrew and Viega, "The Galois/Counter Mode of Operation", appendix B: those with a key of
    /// 256 bits and a nonce of 96.
    struct PublishedCase: Sendable, CustomTestStringConvertible {
        var number: Int
        var key, nonce, plaintext, associated, ciphertext, tag: String
        var testDescription: String { "case \(number)" }
    }

    static let longKey = "feffe992 8665731c 6d6a8f94 67308308 feffe992 8665731c 6d6a8f94 67308308"
    static let longText = """
        d9313225 f88406e5 a55909c5 aff5269a 86a7a953 1534f7da 2e4c303d 8a318a72 \
        1c3c0c95 95680953 2fcf0e24 49a6b525 b16aedf5 aa0de657 ba637b39
        """
    static let longCiphertext = """
        522dc1f0 99567d07 f47f37a3 2a84427d 643a8cdc bfe5c0c9 7598a2bd 2555d1aa \
        8cb08e48 590dbb3d a7b08b10 56828838 c5f61e63 93ba7a0a bcc9f662
        """
    static let published = [
        PublishedCase(
            number: 13, key: String(repeating: "00", count: 32), nonce: String(repeating: "00", count: 12),
            plaintext: "", associated: "", ciphertext: "", tag: "530f8afb c74536b9 a963b4f1 c4cb738b"),
        PublishedCase(
            number: 14, key: String(repeating: "00", count: 32), nonce: String(repeating: "00", count: 12),
            plaintext: String(repeating: "00", count: 16), associated: "",
            ciphertext: "cea7403d 4d606b6e 074ec5d3 baf39d18", tag: "d0d1c8a7 99996bf0 265b98b5 d48ab919"),
        PublishedCase(
            number: 15, key: longKey, nonce: "cafebabe facedbad decaf888", plaintext: longText + " 1aafd255",
            associated: "", ciphertext: longCiphertext + " 898015ad", tag: "b094dac5 d93471bd ec1a5022 70e3cc6c"),
        PublishedCase(
            number: 16, key: longKey, nonce: "cafebabe facedbad decaf888", plaintext: longText,
            associated: "feedface deadbeef feedface deadbeef abaddad2", ciphertext: longCiphertext,
            tag: "76fc6ece 0f4e1768 cddf8853 bb2d551b"),
    ]

    @Test(arguments: published) func sealingYieldsThePublishedBytes(_ published: PublishedCase) throws {
        let sealed = try key(hex(published.key)).seal(
            SecretBytes(hex(published.plaintext)), nonce: hex(published.nonce),
            authenticating: hex(published.associated))
        #expect(try sealed == hex(published.nonce) + hex(published.ciphertext) + hex(published.tag))
    }

    @Test(arguments: published) func openingYieldsThePublishedPlaintext(_ published: PublishedCase) throws {
        let sealed = try hex(published.nonce) + hex(published.ciphertext) + hex(published.tag)
        let opened = try key(hex(published.key)).open(sealed, authenticating: hex(published.associated))
        #expect(try opened?.copyBytes() == hex(published.plaintext))
    }

    @Test func everyFlippedBitOfASealedMessageIsRefused() throws {
        let key = try key(filledWith: 7)
        let sealed = try key.seal(
            SecretBytes("a secret".utf8), nonce: hex("000102030405060708090a0b"), authenticating: [1])
        #expect(sealed.count == SymmetricKey.nonceBytes + 8 + SymmetricKey.tagBytes)
        for index in sealed.indices {
            for bit in 0..<8 {
                var changed = sealed
                changed[index] ^= 1 << UInt8(bit)
                #expect(try key.open(changed, authenticating: [1]) == nil, "byte \(index), bit \(bit)")
            }
        }
    }

    @Test func everyShorterOrLongerMessageIsRefused() throws {
        let key = try key(filledWith: 7)
        let sealed = try key.seal(
            SecretBytes("a secret".utf8), nonce: hex("000102030405060708090a0b"), authenticating: [1])
        for count in sealed.indices {
            #expect(try key.open(sealed[..<count], authenticating: [1]) == nil, "\(count) bytes")
        }
        #expect(try key.open(sealed + [0], authenticating: [1]) == nil)
    }

    @Test func otherAssociatedDataIsRefused() throws {
        let key = try key(filledWith: 7)
        let bound: [UInt8] = [1, 2, 3]
        let sealed = try key.seal(
            SecretBytes("a secret".utf8), nonce: hex("000102030405060708090a0b"), authenticating: bound)
        for other: [UInt8] in [[], [1, 2], [1, 2, 3, 0], [0, 1, 2, 3], [1, 2, 2], [3, 2, 1]] {
            #expect(try key.open(sealed, authenticating: other) == nil, "\(other)")
        }
        #expect(try key.open(sealed, authenticating: bound)?.copyBytes() == Array("a secret".utf8))
    }

    @Test func associatedDataIsBoundWhereThereIsNoPlaintext() throws {
        let key = try key(filledWith: 7)
        let sealed = try key.seal(SecretBytes([]), nonce: hex("000102030405060708090a0b"), authenticating: [9])
        #expect(try key.open(sealed, authenticating: [9])?.count == 0)
        #expect(try key.open(sealed, authenticating: [8]) == nil)
        #expect(try key.open(sealed, authenticating: []) == nil)
    }

    @Test func anotherKeyIsRefused() throws {
        let sealed = try key(filledWith: 7).seal(
            SecretBytes("a secret".utf8), nonce: hex("000102030405060708090a0b"), authenticating: [])
        #expect(try key(filledWith: 8).open(sealed, authenticating: []) == nil)
    }

    @Test(arguments: [0, 1, 15, 16, 17, 255, 4096, Limits.secretBytes])
    func secretsOfEveryLengthRoundTrip(_ count: Int) throws {
        let key = try key(filledWith: 7)
        let secret = SecretBytes((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        let sealed = try key.seal(secret, nonce: randomBytes(SymmetricKey.nonceBytes), authenticating: [1])
        #expect(try key.open(sealed, authenticating: [1]) == secret)
    }

    @Test(arguments: [0, 1, 11, 13, 16]) func aNonceOfAnotherLengthIsRefused(_ count: Int) throws {
        let key = try key(filledWith: 7)
        #expect(throws: Failure(.internalFailure)) {
            try key.seal(SecretBytes([1]), nonce: [UInt8](repeating: 0, count: count), authenticating: [])
        }
    }

    @Test(arguments: [0, 1, 16, 31, 33, 64]) func aKeyOfAnotherLengthIsRefused(_ count: Int) {
        #expect(SymmetricKey(SecretBytes([UInt8](repeating: 0, count: count))) == nil)
    }
}
