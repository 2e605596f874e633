// SPDX-License-Identifier: Apache-2.0

import LatchkeySimulator
import LocalAuthentication
import Security
import TestSupport
import Testing

/// Saved rights, with the key and the secret that they protect.
@Suite(.timeLimit(.minutes(5))) struct RightStoreTests {
    private let message = Data("message".utf8)
    private let algorithm = SecKeyAlgorithm.ecdsaSignatureMessageX962SHA256

    /// The code of the error that a call throws; nil when it succeeds.
    private func code(_ body: () async throws -> Void) async -> Int? {
        do {
            try await body()
            return nil
        } catch {
            return (error as NSError).code
        }
    }

    @Test func aSavedRightProtectsAKeyAndASecret_RI03_RI05() async throws {
        let simulator = try Simulator()
        try await simulator.run {
            let saved = try await LARightStore.shared.saveRight(LARight(), identifier: "door", secret: message)
            #expect(saved.state == .unknown)
            #expect(await code { _ = try await saved.secret.rawData } == LAError.authenticationFailed.rawValue)
            #expect(
                await code { _ = try await saved.key.sign(message, algorithm: algorithm) }
                    == LAError.authenticationFailed.rawValue)
            simulator.touch(matching: true)
            try await saved.authorize(localizedReason: "open the door")
            let secret = try await saved.secret.rawData
            #expect(secret == message)
            let signature = try await saved.key.sign(message, algorithm: algorithm)
            try await saved.key.publicKey.verify(message, signature: signature, algorithm: algorithm)
            await saved.deauthorize()
            #expect(await code { _ = try await saved.secret.rawData } == LAError.authenticationFailed.rawValue)
        }
    }

    @Test func aSavedRightIsLoadedWithItsTag_RI03() async throws {
        let simulator = try Simulator()
        try await simulator.run {
            let right = LARight(requirement: .biometry)
            right.tag = 7
            _ = try await LARightStore.shared.saveRight(right, identifier: "door", secret: message)
            let found = try await LARightStore.shared.right(forIdentifier: "door")
            #expect(found.tag == 7)
            simulator.touch(matching: true)
            try await found.authorize(localizedReason: "open the door")
            let secret = try await found.secret.rawData
            #expect(secret == message)
        }
    }

    @Test func aSavedRightSurvivesARestart_RI03() async throws {
        let simulator = try Simulator()
        try await simulator.run {
            let saved = try await LARightStore.shared.saveRight(LARight(), identifier: "door")
            let before = try await saved.key.publicKey.bytes
            try simulator.restart()
            let found = try await LARightStore.shared.right(forIdentifier: "door")
            let after = try await found.key.publicKey.bytes
            #expect(before == after)
        }
    }

    @Test func savingAnExistingIdentifierFails_RI03() async throws {
        try await Simulator().run {
            _ = try await LARightStore.shared.saveRight(LARight(), identifier: "door", secret: message)
            let again = await code {
                _ = try await LARightStore.shared.saveRight(LARight(), identifier: "door", secret: message)
            }
            #expect(again == Int(errSecDuplicateItem))
            // The failed call has left no key behind.
            let keys: [CFString: Any] = [
                kSecClass: kSecClassKey, kSecMatchLimit: kSecMatchLimitAll, kSecReturnAttributes: true,
            ]
            var result: CFTypeRef?
            #expect(SecItemCopyMatching(keys as CFDictionary, &result) == errSecSuccess)
            #expect((result as? [Any])?.count == 1)
        }
    }

    @Test func oneOfManyConcurrentSavesSucceeds_RI03() async throws {
        try await Simulator().run {
            let wins = await withTaskGroup(of: Bool.self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        (try? await LARightStore.shared.saveRight(LARight(), identifier: "door", secret: Data([1])))
                            != nil
                    }
                }
                return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(wins == 1)
            let found = try await LARightStore.shared.right(forIdentifier: "door")
            _ = try await found.key.publicKey.bytes
        }
    }

    /// Failed calls leave no secret in the keychain, and the saved right has the secret of the call that succeeded.
    @Test func concurrentSavesStoreTheSecretOfTheSavedRight_RI03() async throws {
        let simulator = try Simulator()
        try await simulator.run {
            let winners = await withTaskGroup(of: UInt8?.self) { group in
                for number in UInt8(0)..<16 {
                    group.addTask {
                        let saved = try? await LARightStore.shared.saveRight(
                            LARight(), identifier: "door", secret: Data([number]))
                        return saved.map { _ in number }
                    }
                }
                return await group.reduce(into: [UInt8]()) { if let number = $1 { $0.append(number) } }
            }
            #expect(winners.count == 1)
            let found = try await LARightStore.shared.right(forIdentifier: "door")
            simulator.touch(matching: true)
            try await found.authorize(localizedReason: "open the door")
            let secret = try await found.secret.rawData
            #expect(Array(secret) == winners)
            // Counting the items prompts, because one of them is the protected secret.
            simulator.touch(matching: true)
            #expect(count(of: kSecClassGenericPassword) == 2, "the record and one secret")
            #expect(count(of: kSecClassKey) == 1)
        }
    }

    private func count(of itemClass: CFString) -> Int {
        let query: [CFString: Any] = [
            kSecClass: itemClass, kSecMatchLimit: kSecMatchLimitAll, kSecReturnAttributes: true,
        ]
        var result: CFTypeRef?
        SecItemCopyMatching(query as CFDictionary, &result)
        return (result as? [Any])?.count ?? 0
    }

    @Test func aMalformedRecordIsAKeychainErrorAndCanBeRemoved() async throws {
        try await Simulator().run {
            _ = try await LARightStore.shared.saveRight(LARight(), identifier: "door", secret: message)
            let record: [CFString: Any] = [
                kSecClass: kSecClassGenericPassword, kSecAttrService: "LARightStore", kSecAttrAccount: "door",
            ]
            let change = [kSecValueData: Data("{}".utf8)] as CFDictionary
            #expect(SecItemUpdate(record as CFDictionary, change) == errSecSuccess)
            do {
                _ = try await LARightStore.shared.right(forIdentifier: "door")
                Issue.record("a malformed record was read")
            } catch {
                #expect((error as NSError).domain == NSOSStatusErrorDomain)
                #expect((error as NSError).code == Int(errSecDecode))
            }
            try await LARightStore.shared.removeAllRights()
            #expect(count(of: kSecClassKey) == 0)
            #expect(count(of: kSecClassGenericPassword) == 0)
        }
    }

    @Test func aRightWhoseKeyWasDeletedIsFoundAndRemoved_RI06() async throws {
        try await Simulator().run {
            let saved = try await LARightStore.shared.saveRight(LARight(), identifier: "door")
            #expect(SecItemDelete([kSecClass: kSecClassKey] as CFDictionary) == errSecSuccess)
            #expect(await code { _ = try await saved.key.publicKey.bytes } == Int(errSecItemNotFound))
            _ = try await LARightStore.shared.right(forIdentifier: "door")
            try await LARightStore.shared.removeRight(forIdentifier: "door")
            #expect(count(of: kSecClassGenericPassword) == 0)
        }
    }

    @Test func aMissingRightIsItemNotFound_RI04() async throws {
        try await Simulator().run {
            #expect(
                await code { _ = try await LARightStore.shared.right(forIdentifier: "none") }
                    == Int(errSecItemNotFound))
            #expect(
                await code { try await LARightStore.shared.removeRight(forIdentifier: "none") }
                    == Int(errSecItemNotFound))
            try await LARightStore.shared.removeAllRights()
        }
    }

    @Test func removingARightDeletesItsKeyAndSecret_RI06() async throws {
        let simulator = try Simulator()
        try await simulator.run {
            let saved = try await LARightStore.shared.saveRight(LARight(), identifier: "door", secret: message)
            _ = try await LARightStore.shared.saveRight(LARight(), identifier: "gate")
            simulator.touch(matching: true)
            try await saved.authorize(localizedReason: "open the door")
            try await LARightStore.shared.removeRight(saved)
            #expect(await code { _ = try await saved.secret.rawData } == Int(errSecItemNotFound))
            #expect(await code { _ = try await saved.key.publicKey.bytes } == Int(errSecItemNotFound))
            try await LARightStore.shared.removeAllRights()
            for itemClass in [kSecClassKey, kSecClassGenericPassword] {
                #expect(SecItemCopyMatching([kSecClass: itemClass] as CFDictionary, nil) == errSecItemNotFound)
            }
        }
    }

    @Test func aSecretThatWasNeverSavedIsNotFound_RI06() async throws {
        let simulator = try Simulator()
        try await simulator.run {
            let saved = try await LARightStore.shared.saveRight(LARight(), identifier: "door")
            simulator.touch(matching: true)
            try await saved.authorize(localizedReason: "open the door")
            #expect(await code { _ = try await saved.secret.rawData } == Int(errSecItemNotFound))
        }
    }

    @Test func publicKeyOperationsNeedNoAuthorization_RI05_RI07() async throws {
        let simulator = try Simulator()
        try await simulator.run {
            let saved = try await LARightStore.shared.saveRight(LARight(), identifier: "door")
            let key = saved.key.publicKey
            let bytes = try await key.bytes
            #expect(bytes.count == 65)
            #expect(bytes.first == 4)
            let cipher = SecKeyAlgorithm.eciesEncryptionStandardX963SHA256AESGCM
            #expect(key.canEncrypt(using: cipher))
            #expect(key.canVerify(using: algorithm))
            #expect(saved.key.canSign(using: algorithm))
            #expect(saved.key.canDecrypt(using: cipher))
            #expect(saved.key.canExchangeKeys(using: .ecdhKeyExchangeStandard))
            #expect(!saved.key.canSign(using: .rsaSignatureMessagePSSSHA256))
            let sealed = try await key.encrypt(message, algorithm: cipher)
            #expect(
                await code { try await key.verify(message, signature: message, algorithm: algorithm) }
                    == Int(errSecVerifyFailed))
            simulator.touch(matching: true)
            try await saved.authorize(localizedReason: "open the door")
            let opened = try await saved.key.decrypt(sealed, algorithm: cipher)
            #expect(opened == message)
            let secret = try await saved.key.exchangeKeys(
                publicKey: bytes, algorithm: .ecdhKeyExchangeStandard, parameters: [:])
            #expect(secret.count == 32)
            #expect(
                await code {
                    _ = try await saved.key.exchangeKeys(
                        publicKey: Data([4]), algorithm: .ecdhKeyExchangeStandard, parameters: [:])
                } == Int(errSecParam))
        }
    }

    @Test func anEnrolmentChangeDisablesASavedRightOfTheCurrentSet_RI02() async throws {
        let simulator = try Simulator()
        try await simulator.run {
            let right = LARight(requirement: .biometryCurrentSet)
            let saved = try await LARightStore.shared.saveRight(right, identifier: "door", secret: message)
            try simulator.replaceFinger()
            let found = try await LARightStore.shared.right(forIdentifier: "door")
            simulator.touch(matching: true)
            #expect(
                await code { try await found.authorize(localizedReason: "open the door") }
                    == LAError.authenticationFailed.rawValue)
            #expect(found.state == .notAuthorized)
            #expect(await code { _ = try await saved.secret.rawData } == LAError.authenticationFailed.rawValue)
        }
    }

    @Test func completionsRunOnceAndNeverOnTheMainThread() async throws {
        try await Simulator().run {
            let isMain = try await reply { reply in
                LARightStore.shared.saveRight(LARight(), identifier: "door") { right, error in
                    #expect(right != nil)
                    #expect(error == nil)
                    reply(Thread.isMainThread)
                }
            }
            #expect(!isMain)
        }
    }

    @Test func withoutAnEnclaveNoRightIsSaved() async throws {
        try await Simulator(hasSecureEnclave: false).run {
            let status = await code { _ = try await LARightStore.shared.saveRight(LARight(), identifier: "door") }
            #expect(status == Int(errSecNotAvailable))
        }
    }
}
