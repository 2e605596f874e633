// SPDX-License-Identifier: Apache-2.0

import LatchkeySimulator
import LocalAuthentication
import Security
import TestPromises
import Testing

/// Private keys of the Secure Enclave, which cannot be exported.
@Suite(.onEachEnclave) struct EnclaveKeyTests {
    private let message = Data("message".utf8)

    @Test func aKeyIsGeneratedFoundUsedAndDeleted_SE01_SE04() throws {
        try EachEnclave.machine().run {
            let key = try makeKey(enclaveParameters())
            let found = try findKey(.key())
            #expect(found == key)
            for key in [key, found] {
                let signature = try sign(key, .ecdsaSignatureMessageX962SHA256, message).get()
                let peer = try publicKey(key)
                #expect(try verify(peer, .ecdsaSignatureMessageX962SHA256, message, signature) == errSecSuccess)
            }
            #expect(delete(.key()) == errSecSuccess)
            #expect(find(Query.key().object).status == errSecItemNotFound)
            #expect(errorOfSigning(key)?.code == Int(errSecItemNotFound))
        }
    }

    @Test func attributesBesideAKeyObjectMustMatchToo() throws {
        try EachEnclave.machine().run {
            let key = try makeKey(enclaveParameters())
            let query: Query = [kSecValueRef as String: key]
            #expect(exists(query) == errSecSuccess)
            #expect(exists(query.with(kSecAttrApplicationTag, Data("signing".utf8))) == errSecSuccess)
            let other = query.with(kSecAttrApplicationTag, Data("other".utf8))
            #expect(exists(other) == errSecItemNotFound)
            #expect(update(other, [kSecAttrLabel as String: "label"]) == errSecItemNotFound)
            #expect(delete(other) == errSecItemNotFound)
            #expect(exists(query) == errSecSuccess)
        }
    }

    @Test func onlyP256KeysAreGenerated_SE01() throws {
        try EachEnclave.machine().run {
            for (type, size) in [(kSecAttrKeyTypeECSECPrimeRandom, 384), (kSecAttrKeyTypeRSA, 2048)] {
                let parameters = enclaveParameters().with(kSecAttrKeyType, type).with(kSecAttrKeySizeInBits, size)
                let status = try statusOfMaking(parameters)
                #expect(status == errSecParam)
            }
        }
    }

    @Test func noKeyCanBeImported_SE01() throws {
        try EachEnclave.machine().run {
            let software = try KeyKind.p256.make()
            let data = try external(software)
            let attributes: Query = [
                kSecAttrKeyType as String: kSecAttrKeyTypeECSECPrimeRandom,
                kSecAttrKeyClass as String: kSecAttrKeyClassPrivate,
                kSecAttrTokenID as String: kSecAttrTokenIDSecureEnclave,
            ]
            let read = try outcome { SecKeyCreateWithData(data as CFData, attributes as CFDictionary, $0) }
            #expect(read.status == errSecParam)
            let item = Query.key().with(kSecValueData, data)
                .with(kSecAttrTokenID, kSecAttrTokenIDSecureEnclave)
            #expect(add(item) == errSecParam)
            let made = try makeKey(enclaveParameters(isPermanent: false))
            #expect(add(Query.key().with(kSecValueRef, made)) == errSecParam)
        }
    }

    @Test func noUpdateTurnsAKeyInMemoryIntoAnEnclaveKey_SE01() throws {
        try EachEnclave.machine().run {
            let key = try KeyKind.p256.make()
            #expect(add(Query.key().with(kSecValueRef, key)) == errSecSuccess)
            #expect(update(.key(), [kSecAttrTokenID as String: kSecAttrTokenIDSecureEnclave]) == errSecParam)
            let found = try findKey(.key())
            #expect(SecKeyCopyExternalRepresentation(found, nil) != nil)
        }
    }

    @Test func aPairIsRemovedWhenItsPublicHalfCannotBeStored() throws {
        try EachEnclave.machine().run {
            for isForToken in [true, false] {
                var parameters = enclaveParameters(tag: nil, isPermanent: true)
                if !isForToken { parameters[kSecAttrTokenID as String] = nil }
                // The public halves have the same application label, so the second one is a duplicate.
                parameters[kSecPublicKeyAttrs as String] =
                    [
                        kSecAttrIsPermanent as String: true, kSecAttrApplicationLabel as String: Data("one".utf8),
                    ] as Query
                let statuses = [try statusOfMaking(parameters), try statusOfMaking(parameters)]
                #expect(statuses == [errSecSuccess, errSecDuplicateItem])
                let found = find(Query.anyKey.attributes.all).result as? [Query]
                #expect(found?.count == 2, "only the first pair is stored")
                #expect(delete(.anyKey) == errSecSuccess)
            }
        }
    }

    @Test func thePublicHalfIsRemovedWhenThePrivateHalfCannotBeStored() throws {
        try EachEnclave.machine().run {
            var parameters = enclaveParameters(tag: nil)
            parameters[kSecAttrTokenID as String] = nil
            parameters[kSecPublicKeyAttrs as String] = [kSecAttrIsPermanent as String: true] as Query
            parameters[kSecPrivateKeyAttrs as String] =
                [kSecAttrIsPermanent as String: true, kSecAttrApplicationLabel as String: Data("one".utf8)] as Query
            let statuses = [try statusOfMaking(parameters), try statusOfMaking(parameters)]
            #expect(statuses == [errSecSuccess, errSecDuplicateItem])
            #expect((find(Query.anyKey.attributes.all).result as? [Query])?.count == 2, "only the first pair is stored")
        }
    }

    @Test(.promise("key.software", "abuse.40")) func thePrivateKeyIsExportedInNoForm_SE01_abuse40() throws {
        try EachEnclave.machine().run {
            let key = try makeKey(enclaveParameters())
            let exported = try outcome { SecKeyCopyExternalRepresentation(key, $0) }
            #expect(exported.status == errSecUnimplemented)
            #expect(find(Query.key().data).status == errSecUnimplemented)
            let attributes = try #require(SecKeyCopyAttributes(key) as? Query)
            #expect(attributes[kSecValueData as String] == nil)
            #expect(attributes[kSecAttrTokenID as String] as? String == kSecAttrTokenIDSecureEnclave as String)
            let dictionary = try #require(
                find(Query.key().attributes.with(kSecReturnData, true).with(kSecReturnRef, true)).result as? Query)
            #expect(dictionary[kSecValueData as String] == nil)
            #expect(dictionary.keys.allSatisfy { !($0.contains("public")) })
            #expect(try external(publicKey(key)).count == 65)
        }
    }

    @Test func attributesDescribeTheKey_SK09_T29() throws {
        try EachEnclave.machine().run {
            let key = try makeKey(enclaveParameters())
            let hash = try #require((SecKeyCopyAttributes(try publicKey(key)) as? Query)?["klbl"] as? Data)
            let found = try #require(find(Query.key().attributes).result as? Query)
            #expect(found[kSecAttrApplicationLabel as String] as? Data == hash)
            #expect(found[kSecAttrKeySizeInBits as String] as? Int == 256)
            #expect(found[kSecAttrKeyClass as String] as? Int == 1)
            #expect(found[kSecAttrKeyType as String] as? Int == 73)
            #expect(found[kSecAttrCanSign as String] as? Bool == true)
            #expect(found[kSecAttrTokenID as String] as? String == kSecAttrTokenIDSecureEnclave as String)
            #expect(found[kSecAttrAccessControl as String] is SecAccessControl)
            #expect(exists(Query.key().with(kSecAttrTokenID, kSecAttrTokenIDSecureEnclave)) == errSecSuccess)
            #expect(find(Query.key().with(kSecAttrTokenID, "another").object).status == errSecItemNotFound)
        }
    }

    @Test func aKeyThatIsNotPermanentIsNotInTheKeychain_SK08() throws {
        try EachEnclave.machine().run {
            let key = try makeKey(enclaveParameters(isPermanent: false))
            #expect(find(Query.key().object).status == errSecItemNotFound)
            #expect(errorOfSigning(key) == nil)
            _ = try makeKey(enclaveParameters(tag: "permanent"))
            #expect(find(Query.key(tag: "permanent").object).status == errSecSuccess)
        }
    }

    @Test func withoutPrivateKeyUsageNothingIsSigned_SE02() throws {
        let simulator = try EachEnclave.machine()
        try simulator.run {
            let key = try makeKey(enclaveParameters(.userPresence))
            let error = errorOfSigning(key)
            #expect(error?.domain == authenticationDomain)
            #expect(error?.code == -1009)
        }
    }

    @Test(arguments: [
        SecKeyAlgorithm.ecdsaSignatureMessageX962SHA1, .ecdsaSignatureMessageX962SHA256,
        .ecdsaSignatureMessageX962SHA512, .ecdsaSignatureMessageRFC4754SHA256, .ecdsaSignatureDigestX962SHA256,
        .ecdsaSignatureDigestRFC4754SHA384, .ecdsaSignatureDigestX962,
    ])
    func everySignatureAlgorithmVerifies_SE03(_ algorithm: SecKeyAlgorithm) throws {
        try EachEnclave.machine().run {
            let key = try makeKey(enclaveParameters(tag: nil))
            let count = algorithm.rawValue.hasSuffix("SHA384") ? 48 : 32
            let data = Data(repeating: 7, count: count)
            #expect(SecKeyIsAlgorithmSupported(key, .sign, algorithm))
            let signature = try sign(key, algorithm, data).get()
            #expect(try verify(publicKey(key), algorithm, data, signature) == errSecSuccess)
            #expect(try verify(publicKey(key), algorithm, Data(repeating: 8, count: count), signature) != errSecSuccess)
        }
    }

    @Test func agreementAndEncryptionWorkWithSoftwareKeys_SE03() throws {
        try EachEnclave.machine().run {
            let key = try makeKey(enclaveParameters())
            let peer = try KeyKind.p256.make()
            for algorithm in [SecKeyAlgorithm.ecdhKeyExchangeStandard, .ecdhKeyExchangeCofactor] {
                let ours = try exchange(key, algorithm, publicKey(peer)).get()
                #expect(try ours == exchange(peer, algorithm, publicKey(key)).get())
            }
            let sealed = try encrypt(publicKey(key), .eciesEncryptionStandardX963SHA256AESGCM, message).get()
            #expect(try decrypt(key, .eciesEncryptionStandardX963SHA256AESGCM, sealed).get() == message)
            var changed = sealed
            changed[changed.count - 1] ^= 1
            #expect(try decrypt(key, .eciesEncryptionStandardX963SHA256AESGCM, changed).status == errSecParam)
            #expect(!SecKeyIsAlgorithmSupported(key, .sign, .rsaSignatureMessagePKCS1v15SHA256))
            let other = try KeyKind.curves[1].make()
            #expect(try exchange(key, .ecdhKeyExchangeStandard, publicKey(other)).status == errSecParam)
        }
    }

    @Test(.promise("key.software")) func withoutAnEnclaveNoKeyIsGeneratedElsewhere() throws {
        try Simulator(hasSecureEnclave: false).run {
            let status = try statusOfMaking(enclaveParameters())
            #expect(status == errSecNotAvailable)
            let words = SecCopyErrorMessageString(errSecNotAvailable, nil) as String?
            #expect(words?.contains("enclave = software") == true)
        }
    }

    @Test func aLockedKeychainGeneratesAndUsesNoKey_SE06_KC14() throws {
        let simulator = try EachEnclave.machine()
        try simulator.run {
            let key = try makeKey(enclaveParameters())
            try simulator.lock()
            #expect(try statusOfMaking(enclaveParameters(tag: "two")) == errSecInteractionNotAllowed)
            #expect(errorOfSigning(key)?.code == -1004)
            try simulator.unlock(byBiometry: true)
            #expect(errorOfSigning(key) == nil)
        }
    }

    @Test func anotherAppFindsAndUsesNothing() throws {
        let simulator = try EachEnclave.machine()
        let key = try simulator.run { try makeKey(enclaveParameters()) }
        simulator.run(as: "com.example.other") {
            #expect(find(Query.key().object).status == errSecItemNotFound)
            #expect(delete(.key()) == errSecItemNotFound)
        }
        simulator.run { #expect(errorOfSigning(key) == nil) }
    }

    @Test func onlyLabelAndTagCanBeUpdated() throws {
        try EachEnclave.machine().run {
            let key = try makeKey(enclaveParameters())
            #expect(update(.key(), [kSecAttrLabel as String: "new"]) == errSecSuccess)
            #expect(update(.key(), [kSecAttrApplicationTag as String: Data("moved".utf8)]) == errSecSuccess)
            #expect(errorOfSigning(try findKey(.key(tag: "moved"))) == nil)
            #expect(errorOfSigning(key) == nil)
            for changes: Query in [
                [kSecValueData as String: Data([1])], [kSecAttrKeySizeInBits as String: 521],
                [kSecAttrAccessible as String: deprecated.kSecAttrAccessibleAlways],
                [kSecAttrTokenID as String: "other"],
                [kSecAttrApplicationLabel as String: Data([1])],
            ] {
                #expect(update(.key(tag: "moved"), changes) == errSecParam, "\(changes)")
            }
        }
    }
}
