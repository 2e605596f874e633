// SPDX-License-Identifier: Apache-2.0

import Security
import TestSupport
import Testing

/// The deprecated key functions, called through a protocol: a direct call would be a compiler warning.
private protocol OldKeyFunctions {
    func pair(_ parameters: [String: Any], _ halves: inout (SecKey?, SecKey?)) -> OSStatus
    func sign(_ key: SecKey, _ padding: UInt32, _ data: [UInt8], _ room: inout [UInt8]) -> OSStatus
    func verify(_ key: SecKey, _ padding: UInt32, _ data: [UInt8], _ signature: [UInt8]) -> OSStatus
    func encrypt(_ key: SecKey, _ padding: UInt32, _ data: [UInt8], _ room: inout [UInt8]) -> OSStatus
    func decrypt(_ key: SecKey, _ padding: UInt32, _ data: [UInt8], _ room: inout [UInt8]) -> OSStatus
    var paddings: [(String, SecPadding, UInt32)] { get }
}

private struct Functions: OldKeyFunctions {
    @available(*, deprecated)
    func pair(_ parameters: [String: Any], _ halves: inout (SecKey?, SecKey?)) -> OSStatus {
        SecKeyGeneratePair(parameters as CFDictionary, &halves.0, &halves.1)
    }

    @available(*, deprecated)
    func sign(_ key: SecKey, _ padding: UInt32, _ data: [UInt8], _ room: inout [UInt8]) -> OSStatus {
        var count = room.count
        let status = SecKeyRawSign(key, SecPadding(rawValue: padding), data, data.count, &room, &count)
        room.removeLast(room.count - count)
        return status
    }

    @available(*, deprecated)
    func verify(_ key: SecKey, _ padding: UInt32, _ data: [UInt8], _ signature: [UInt8]) -> OSStatus {
        SecKeyRawVerify(key, SecPadding(rawValue: padding), data, data.count, signature, signature.count)
    }

    @available(*, deprecated)
    func encrypt(_ key: SecKey, _ padding: UInt32, _ data: [UInt8], _ room: inout [UInt8]) -> OSStatus {
        var count = room.count
        let status = SecKeyEncrypt(key, SecPadding(rawValue: padding), data, data.count, &room, &count)
        room.removeLast(room.count - count)
        return status
    }

    @available(*, deprecated)
    func decrypt(_ key: SecKey, _ padding: UInt32, _ data: [UInt8], _ room: inout [UInt8]) -> OSStatus {
        var count = room.count
        let status = SecKeyDecrypt(key, SecPadding(rawValue: padding), data, data.count, &room, &count)
        room.removeLast(room.count - count)
        return status
    }

    @available(*, deprecated)
    var paddings: [(String, SecPadding, UInt32)] {
        [
            ("PKCS1", .PKCS1, 1), ("OAEP", .OAEP, 2), ("sigRaw", .sigRaw, 0x4000), ("PKCS1MD2", .PKCS1MD2, 0x8000),
            ("PKCS1MD5", .PKCS1MD5, 0x8001), ("PKCS1SHA1", .PKCS1SHA1, 0x8002),
            ("PKCS1SHA224", .PKCS1SHA224, 0x8003), ("PKCS1SHA256", .PKCS1SHA256, 0x8004),
            ("PKCS1SHA384", .PKCS1SHA384, 0x8005), ("PKCS1SHA512", .PKCS1SHA512, 0x8006),
        ]
    }
}

/// The deprecated functions for key pairs, signatures and encryption.
@Suite struct OldKeyFunctionTests {
    private let old: any OldKeyFunctions = Functions()
    private static let room = [UInt8](repeating: 0xee, count: 600)

    @Test func paddingsHaveApplesRawValues() throws {
        for (name, padding, number) in old.paddings { #expect(padding.rawValue == number, "\(name)") }
        let facts = try SurfaceFact.read("security-surface.tsv").filter { $0.type == "SecPadding" && $0.value != nil }
        #expect(
            Dictionary(uniqueKeysWithValues: facts.map { ($0.member, $0.value) })
                == Dictionary(uniqueKeysWithValues: old.paddings.map { ($0.0, String($0.1.rawValue)) }))
        #expect(SecPadding().rawValue == 0)
    }

    @Test(arguments: KeyKind.all) func keyPairIsCreatedOrOutputsStayUnchanged(kind: KeyKind) throws {
        var halves: (SecKey?, SecKey?) = (nil, nil)
        #expect(old.pair(kind.parameters, &halves) == errSecSuccess)
        let key = try #require(halves.1)
        #expect(try halves.0 == publicKey(key))
        #expect(halves.0 != key)
        let before = halves
        #expect(old.pair([:], &halves) == errSecParam)
        #expect(halves == before)
    }

    @Test func digestsAreSignedAndVerified() throws {
        let (rsa, curve) = (try KeyKind.rsa.make(), try KeyKind.p256.make())
        let digests: [(UInt32, Int, SecKeyAlgorithm)] = [
            (0x8002, 20, .rsaSignatureDigestPKCS1v15SHA1), (0x8003, 28, .rsaSignatureDigestPKCS1v15SHA224),
            (0x8004, 32, .rsaSignatureDigestPKCS1v15SHA256), (0x8005, 48, .rsaSignatureDigestPKCS1v15SHA384),
            (0x8006, 64, .rsaSignatureDigestPKCS1v15SHA512), (1, 40, .rsaSignatureDigestPKCS1v15Raw),
        ]
        for (padding, count, algorithm) in digests {
            let digest = [UInt8](repeating: 5, count: count)
            var signature = Self.room
            #expect(old.sign(rsa, padding, digest, &signature) == errSecSuccess, "\(algorithm.rawValue)")
            #expect(try verify(publicKey(rsa), algorithm, Data(digest), Data(signature)) == errSecSuccess)
            #expect(try old.verify(publicKey(rsa), padding, digest, signature) == errSecSuccess)
            signature[3] ^= 1
            #expect(try old.verify(publicKey(rsa), padding, digest, signature) == errSecVerifyFailed)
        }
        let digest = [UInt8](repeating: 5, count: 32)
        let forms: [(UInt32, SecKeyAlgorithm)] = [
            (1, .ecdsaSignatureDigestX962), (0, .ecdsaSignatureDigestX962), (0x4000, .ecdsaSignatureDigestRFC4754),
            (0x8004, .ecdsaSignatureDigestX962SHA256),
        ]
        for (padding, algorithm) in forms {
            var signature = Self.room
            #expect(old.sign(curve, padding, digest, &signature) == errSecSuccess)
            #expect(try verify(publicKey(curve), algorithm, Data(digest), Data(signature)) == errSecSuccess)
            #expect(try old.verify(publicKey(curve), padding, digest, signature) == errSecSuccess)
        }
    }

    @Test func blocksAreEncryptedAndDecryptedWithEveryPadding() throws {
        let key = try KeyKind.rsa.make()
        let algorithms: [(UInt32, SecKeyAlgorithm, [UInt8])] = [
            (1, .rsaEncryptionPKCS1, [1, 2, 3]), (2, .rsaEncryptionOAEPSHA1, [1, 2, 3]),
            (0, .rsaEncryptionRaw, [0] + [UInt8](repeating: 8, count: 255)),
        ]
        for (padding, algorithm, data) in algorithms {
            var (sealed, opened) = (Self.room, Self.room)
            #expect(try old.encrypt(publicKey(key), padding, data, &sealed) == errSecSuccess)
            #expect(try decrypt(key, algorithm, Data(sealed)).get() == Data(data))
            #expect(old.decrypt(key, padding, sealed, &opened) == errSecSuccess)
            #expect(opened == data)
        }
    }

    @Test func invalidArgumentsAreRejectedWithoutWritingOutput() throws {
        let (rsa, curve) = (try KeyKind.rsa.make(), try KeyKind.p256.make())
        let digest = [UInt8](repeating: 5, count: 32)
        for padding: UInt32 in [2, 3, 0x4000, 0x8000, 0x8001, 0x8007, .max] {
            var room = Self.room
            #expect(old.sign(rsa, padding, digest, &room) == errSecParam, "\(padding)")
            #expect(room == Self.room)
            #expect(old.verify(rsa, padding, digest, digest) == errSecParam)
            if padding > 2 { #expect(try old.encrypt(publicKey(rsa), padding, digest, &room) == errSecParam) }
        }
        for padding: UInt32 in [2, 0x8000, 0x8001, 0x8002] {
            var room = Self.room
            #expect(old.sign(curve, padding, digest, &room) == errSecParam, "\(padding)")
        }
        var small = [UInt8](repeating: 0xee, count: 255)
        #expect(old.sign(rsa, 0x8004, digest, &small) == errSecParam)
        #expect(try old.encrypt(publicKey(rsa), 1, digest, &small) == errSecParam)
        #expect(small == [UInt8](repeating: 0xee, count: 255))
        var room = Self.room
        #expect(try old.sign(publicKey(rsa), 0x8004, digest, &room) == errSecParam)
        #expect(try old.encrypt(publicKey(curve), 1, digest, &room) == errSecParam)
        #expect(old.encrypt(rsa, 1, digest, &room) == errSecParam)
        #expect(old.decrypt(rsa, 1, digest, &room) == errSecParam)
        #expect(room == Self.room)
    }
}
