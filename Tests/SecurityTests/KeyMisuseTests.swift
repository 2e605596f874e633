// SPDX-License-Identifier: Apache-2.0

import Security
import Testing

/// The exact error code for each misuse of a key.
@Suite struct KeyMisuseTests {
    private static let digests = [
        ("SHA1", 20), ("SHA224", 28), ("SHA256", 32), ("SHA384", 48), ("SHA512", 64),
    ]

    @Test(arguments: [KeyKind.p256, .rsa]) func aDigestOfTheWrongLengthIsRefused_SK04(kind: KeyKind) throws {
        let key = try kind.make()
        let half = try publicKey(key)
        for (name, algorithm) in keyAlgorithms
        where name.contains("Digest") && SecKeyIsAlgorithmSupported(key, .sign, algorithm) {
            guard let (_, length) = Self.digests.first(where: { name.hasSuffix($0.0) }) else { continue }
            let signature = try sign(key, algorithm, Data(count: length)).get()
            for count in [0, 1, length - 1, length + 1, 100_000] {
                #expect(try sign(key, algorithm, Data(count: count)).status == errSecParam, "\(name) \(count)")
                #expect(try verify(half, algorithm, Data(count: count), signature) == errSecParam, "\(name) \(count)")
            }
        }
    }

    @Test func inputOfAlgorithmsWithoutADigestIsBounded() throws {
        let (curve, rsa) = (try KeyKind.p256.make(), try KeyKind.rsa.make())
        for algorithm in [SecKeyAlgorithm.ecdsaSignatureDigestX962, .ecdsaSignatureDigestRFC4754, oldAlgorithm] {
            #expect(try sign(curve, algorithm, Data()).status == errSecParam)
            for count in [1, 20, 33, 100_000] {
                let data = Data(repeating: 9, count: count)
                #expect(try verify(publicKey(curve), algorithm, data, sign(curve, algorithm, data).get()) == 0)
            }
        }
        for count in [0, 246, 100_000] {
            #expect(try sign(rsa, .rsaSignatureDigestPKCS1v15Raw, Data(count: count)).status == errSecParam, "\(count)")
        }
        #expect(try sign(rsa, .rsaSignatureDigestPKCS1v15Raw, Data(repeating: 1, count: 245)).get().count == 256)
        for count in [0, 1, 255, 257] {
            #expect(try sign(rsa, .rsaSignatureRaw, Data(count: count)).status == errSecParam, "\(count)")
            #expect(
                try encrypt(publicKey(rsa), .rsaEncryptionRaw, Data(count: count)).status == errSecParam, "\(count)")
        }
        // A number that is not less than the modulus.
        #expect(try sign(rsa, .rsaSignatureRaw, Data(repeating: 0xff, count: 256)).status == errSecParam)
        #expect(try encrypt(publicKey(rsa), .rsaEncryptionRaw, Data(repeating: 0xff, count: 256)).status == errSecParam)
    }

    @Test func dataThatDoesNotFitTheKeyIsRefused() throws {
        let key = try KeyKind(bitCount: 1024, isRSA: true).make()
        let half = try publicKey(key)
        #expect(try encrypt(half, .rsaEncryptionPKCS1, Data(count: 117)).get().count == 128)
        #expect(try encrypt(half, .rsaEncryptionPKCS1, Data(count: 118)).status == errSecParam)
        #expect(try encrypt(half, .rsaEncryptionOAEPSHA256, Data(count: 62)).get().count == 128)
        #expect(try encrypt(half, .rsaEncryptionOAEPSHA256, Data(count: 63)).status == errSecParam)
        // OAEP with SHA-512 needs more than the 128 bytes of a 1024-bit block.
        #expect(try encrypt(half, .rsaEncryptionOAEPSHA512, Data()).status == errSecParam)
        #expect(try encrypt(half, .rsaEncryptionOAEPSHA512AESGCM, Data()).status == errSecParam)
        #expect(try sign(key, .rsaSignatureMessagePSSSHA512, Data()).status == errSecParam)
    }

    @Test(arguments: KeyKind.all) func unsupportedOperationsAreRefused_SK02(kind: KeyKind) throws {
        let key = try kind.make()
        let half = try publicKey(key)
        let data = Data(count: 32)
        for (name, algorithm) in keyAlgorithms {
            for one in [key, half] {
                if !SecKeyIsAlgorithmSupported(one, .sign, algorithm) {
                    #expect(try sign(one, algorithm, data).status == errSecParam, "\(name)")
                }
                if !SecKeyIsAlgorithmSupported(one, .verify, algorithm) {
                    #expect(try verify(one, algorithm, data, data) == errSecParam, "\(name)")
                }
                if !SecKeyIsAlgorithmSupported(one, .encrypt, algorithm) {
                    #expect(try encrypt(one, algorithm, data).status == errSecParam, "\(name)")
                }
                if !SecKeyIsAlgorithmSupported(one, .decrypt, algorithm) {
                    #expect(try decrypt(one, algorithm, data).status == errSecParam, "\(name)")
                }
                if !SecKeyIsAlgorithmSupported(one, .keyExchange, algorithm) {
                    let parameters = ["requestedSize": 32]
                    #expect(try exchange(one, algorithm, half, parameters).status == errSecParam, "\(name)")
                }
            }
        }
    }

    @Test func anRSAPublicKeyDecryptsWithoutPaddingOnly_T27() throws {
        let key = try KeyKind.rsa.make()
        let half = try publicKey(key)
        let block = Data([0]) + Data(repeating: 0x17, count: 255)
        let signature = try sign(key, .rsaSignatureRaw, block).get()
        #expect(try decrypt(half, .rsaEncryptionRaw, signature).get() == block)
        for (name, algorithm) in keyAlgorithms where name.hasPrefix("rsaEncryption") && algorithm != .rsaEncryptionRaw {
            let sealed = try encrypt(half, algorithm, Data([1, 2, 3])).get()
            #expect(try decrypt(half, algorithm, sealed).status == errSecParam, "\(name)")
        }
    }

    // MARK: - Signatures

    @Test(arguments: KeyKind.all) func invalidSignaturesFailVerification_SK02(kind: KeyKind) throws {
        let key = try kind.make()
        let half = try publicKey(key)
        let message = Data("message".utf8)
        for (name, algorithm) in keyAlgorithms
        where name.contains("Message") && SecKeyIsAlgorithmSupported(key, .sign, algorithm) {
            let good = try sign(key, algorithm, message).get()
            var bad: [Data] = [
                Data(), Data([0]), good.dropLast(), good.dropFirst(), good + Data([0]), Data([0]) + good,
                Data(count: good.count), Data(repeating: 0xff, count: good.count), good + good,
            ]
            for place in stride(from: 0, to: good.count, by: 7) {
                var changed = good
                changed[place] ^= 0x10
                bad.append(changed)
            }
            for signature in bad {
                #expect(try verify(half, algorithm, message, Data(signature)) == errSecVerifyFailed, "\(name)")
            }
            #expect(try verify(half, algorithm, Data("messagf".utf8), good) == errSecVerifyFailed)
            #expect(try verify(half, algorithm, message, good) == errSecSuccess)
        }
    }

    @Test func onlyCanonicalDERSignaturesVerify() throws {
        let key = try KeyKind.p256.make()
        let half = try publicKey(key)
        let message = Data("message".utf8)
        let raw = try sign(key, .ecdsaSignatureMessageRFC4754SHA256, message).get()
        let der = try sign(key, .ecdsaSignatureMessageX962SHA256, message).get()
        #expect(try verify(half, .ecdsaSignatureMessageX962SHA256, message, raw) == errSecVerifyFailed)
        #expect(try verify(half, .ecdsaSignatureMessageRFC4754SHA256, message, der) == errSecVerifyFailed)
        // A length that is not in its shortest form, and a leading zero byte in the first number.
        let long = Data([0x30, 0x81]) + der.dropFirst()
        #expect(try verify(half, .ecdsaSignatureMessageX962SHA256, message, long) == errSecVerifyFailed)
        let padded = Data([0x30, der[1] + 1, 2, der[3] + 1, 0]) + der.dropFirst(4)
        #expect(try verify(half, .ecdsaSignatureMessageX962SHA256, message, padded) == errSecVerifyFailed)
    }

    @Test func aSignatureOfAnotherKeyFailsVerification() throws {
        let (one, two) = (try KeyKind.p256.make(), try KeyKind.p256.make())
        let signature = try sign(one, .ecdsaSignatureMessageX962SHA256, Data([1])).get()
        #expect(
            try verify(publicKey(two), .ecdsaSignatureMessageX962SHA256, Data([1]), signature) == errSecVerifyFailed)
    }

    // MARK: - Ciphertexts

    @Test(arguments: KeyKind.all) func aChangedCiphertextIsRefused_SK02(kind: KeyKind) throws {
        let key = try kind.make()
        let plaintext = Data("plaintext".utf8)
        for (name, algorithm) in keyAlgorithms
        where name.contains("AESGCM") || name.contains("OAEP") {
            guard SecKeyIsAlgorithmSupported(key, .decrypt, algorithm) else { continue }
            let sealed = try encrypt(publicKey(key), algorithm, plaintext).get()
            var bad: [Data] = [
                Data(), sealed.dropLast(), sealed.dropFirst(), sealed + Data([0]), Data(count: sealed.count),
                sealed.prefix(65), sealed.prefix(16),
            ]
            for place in [0, 1, sealed.count / 2, sealed.count - 17, sealed.count - 16, sealed.count - 1] {
                var changed = sealed
                changed[place] ^= 1
                bad.append(changed)
            }
            for data in bad {
                #expect(try decrypt(key, algorithm, Data(data)).status == errSecParam, "\(name) \(data.count)")
            }
            #expect(try decrypt(key, algorithm, sealed).get() == plaintext)
        }
    }

    @Test func aCiphertextForAnotherKeyIsRefused() throws {
        let (one, two) = (try KeyKind.p256.make(), try KeyKind.p256.make())
        let sealed = try encrypt(publicKey(one), .eciesEncryptionStandardX963SHA256AESGCM, Data([1])).get()
        #expect(try decrypt(two, .eciesEncryptionStandardX963SHA256AESGCM, sealed).status == errSecParam)
        #expect(try decrypt(one, .eciesEncryptionStandardVariableIVX963SHA256AESGCM, sealed).status == errSecParam)
        #expect(try decrypt(one, .eciesEncryptionStandardX963SHA384AESGCM, sealed).status == errSecParam)
        // Standard and cofactor variants are equal, since the cofactor is 1.
        #expect(try decrypt(one, .eciesEncryptionCofactorX963SHA256AESGCM, sealed).get() == Data([1]))
    }

    @Test func aTamperedPKCS1CiphertextNeverReturnsThePlaintext() throws {
        // libcrypto may return random bytes, so that an attacker cannot learn whether the padding was valid.
        let key = try KeyKind.rsa.make()
        var sealed = try encrypt(publicKey(key), .rsaEncryptionPKCS1, Data("plaintext".utf8)).get()
        sealed[100] ^= 1
        switch try decrypt(key, .rsaEncryptionPKCS1, sealed) {
        case .success(let data): #expect(data != Data("plaintext".utf8))
        case .failure(let refusal): #expect(refusal.code == errSecParam)
        }
        #expect(try decrypt(key, .rsaEncryptionPKCS1, sealed.dropLast()).status == errSecParam)
    }

    // MARK: - Agreement

    @Test func keysOfDifferentCurvesDoNotAgree() throws {
        let keys = try KeyKind.all.map { try $0.make() }
        for one in keys.dropLast() {
            for two in keys where two !== one {
                let status = try exchange(one, .ecdhKeyExchangeStandard, publicKey(two)).status
                #expect(status == errSecParam)
            }
            #expect(try exchange(one, .ecdhKeyExchangeStandard, one).status == errSecParam, "a private key as the peer")
            #expect(try exchange(publicKey(one), .ecdhKeyExchangeStandard, publicKey(one)).status == errSecParam)
        }
    }

    @Test func theRequestedSizeIsRequired_SK06() throws {
        let key = try KeyKind.p256.make()
        let peer = try publicKey(KeyKind.p256.make())
        for algorithm in algorithms("ecdhKeyExchangeStandardX963") + algorithms("ecdhKeyExchangeCofactorX963") {
            #expect(try exchange(key, algorithm, peer).status == errSecParam)
            for size: Any in [0, -1, "32", 1.5, true, NSNull(), Data(), (1 << 20) + 1, Int.max, Double.infinity] {
                #expect(try exchange(key, algorithm, peer, ["requestedSize": size]).status == errSecParam, "\(size)")
            }
            for info: Any in ["text", 1, NSNull()] {
                let parameters: [String: Any] = ["requestedSize": 32, "sharedInfo": info]
                #expect(try exchange(key, algorithm, peer, parameters).status == errSecParam, "\(info)")
            }
        }
    }

    @Test func parametersAreAcceptedInEveryFormThatAppsUse_SK06() throws {
        let key = try KeyKind.p256.make()
        let peer = try publicKey(KeyKind.p256.make())
        let byString: [String: Any] = ["requestedSize": 40, "sharedInfo": Data([1])]
        let byObject: [CFString: Any] = [
            SecKeyKeyExchangeParameter.requestedSize.rawValue: 40,
            SecKeyKeyExchangeParameter.sharedInfo.rawValue: Data([1]),
        ]
        let byStructure: [SecKeyKeyExchangeParameter: Any] = [.requestedSize: 40, .sharedInfo: Data([1])]
        let algorithm = SecKeyAlgorithm.ecdhKeyExchangeStandardX963SHA256
        let results = try [byString as CFDictionary, byObject as CFDictionary, byStructure as CFDictionary].map {
            form in
            try outcome { SecKeyCopyKeyExchangeResult(key, algorithm, peer, form, $0) }.get() as Data
        }
        #expect(Set(results).count == 1)
        #expect(results[0].count == 40)
        let without = try exchange(key, algorithm, peer, ["requestedSize": 40]).get()
        #expect(without != results[0])
        #expect(try exchange(key, algorithm, peer, ["requestedSize": 40, "sharedInfo": Data()]).get() == without)
        #expect(try exchange(key, algorithm, peer, ["requestedSize": 1 << 20]).get().count == 1 << 20)
    }

    // MARK: - Threads

    @Test(arguments: [KeyKind.p256, .rsa]) func oneKeyServesEightThreads(kind: KeyKind) throws {
        let key = try kind.make()
        let half = try publicKey(key)
        let signing = kind.isRSA ? SecKeyAlgorithm.rsaSignatureMessagePSSSHA256 : .ecdsaSignatureMessageX962SHA256
        let cipher = kind.isRSA ? SecKeyAlgorithm.rsaEncryptionOAEPSHA256 : .eciesEncryptionStandardX963SHA256AESGCM
        let good = Counter()
        DispatchQueue.concurrentPerform(iterations: 8) { thread in
            for round in 0..<25 {
                let data = Data("\(thread) \(round)".utf8)
                guard let signature = try? sign(key, signing, data).get(),
                    (try? verify(half, signing, data, signature)) == errSecSuccess,
                    let sealed = try? encrypt(half, cipher, data).get(),
                    (try? decrypt(key, cipher, sealed).get()) == data, SecKeyCopyAttributes(key) != nil
                else { continue }
                good.increment()
            }
        }
        #expect(good.value == 200)
    }
}

/// A counter that is safe to use from any thread.
private final class Counter: @unchecked Sendable {
    // Protected by the lock.
    private var count = 0
    private let lock = NSLock()

    func increment() {
        lock.lock()
        count += 1
        lock.unlock()
    }

    var value: Int {
        lock.lock()
        defer { lock.unlock() }
        return count
    }
}
