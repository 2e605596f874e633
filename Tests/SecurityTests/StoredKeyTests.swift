// SPDX-License-Identifier: Apache-2.0

import LatchkeySimulator
import LocalAuthentication
import Security
import Testing

/// Software keys stored in the keychain.
@Suite struct StoredKeyTests {
    private let message = Data("message".utf8)

    private func parameters(_ kind: KeyKind, tag: String = "signing", _ more: Query = [:]) -> Query {
        let half: Query = [
            kSecAttrIsPermanent as String: true, kSecAttrApplicationTag as String: Data(tag.utf8),
        ]
        return kind.parameters.with(kSecPrivateKeyAttrs, half.merging(more) { $1 })
    }

    @Test(arguments: KeyKind.all) func permanentKeyIsFoundAndUsable_SK08(_ kind: KeyKind) throws {
        try Simulator().run {
            let key = try makeKey(parameters(kind))
            let found = try findKey(.key())
            #expect(found == key)
            #expect(try external(found) == external(key))
            let algorithm: SecKeyAlgorithm =
                kind.isRSA ? .rsaSignatureMessagePSSSHA256 : .ecdsaSignatureMessageX962SHA256
            let signature = try sign(found, algorithm, message).get()
            #expect(try verify(publicKey(key), algorithm, message, signature) == errSecSuccess)
        }
    }

    @Test func keyIsStoredOnlyIfPermanent_SK08() throws {
        try Simulator().run {
            _ = try makeKey(KeyKind.p256.parameters)
            let any: Query = [kSecClass as String: kSecClassKey]
            #expect(exists(any) == errSecItemNotFound)
            // Attributes given for the public key do not apply to the private key.
            let both = parameters(.p256).with(
                kSecPublicKeyAttrs, [kSecAttrIsPermanent as String: true, kSecAttrLabel as String: "public"] as Query)
            let key = try makeKey(both)
            let half = try findKey(any.with(kSecAttrKeyClass, kSecAttrKeyClassPublic))
            let peer = try publicKey(key)
            #expect(half == peer)
            #expect(half != key)
        }
    }

    /// Apple's own test also finds the public key by a label of the whole dictionary.
    @Test(arguments: [false, true]) func attributesOfThePairApplyToBothKeys_SK08(isInEnclave: Bool) throws {
        try Simulator().run {
            var whole = KeyKind.p256.parameters
            whole[kSecAttrIsPermanent as String] = true
            whole[kSecAttrLabel as String] = "pair"
            whole[kSecAttrApplicationTag as String] = Data("signing".utf8)
            if isInEnclave { whole[kSecAttrTokenID as String] = kSecAttrTokenIDSecureEnclave }
            let key = try makeKey(whole)
            let labelled = Query.key().with(kSecAttrLabel, "pair")
            let half = try findKey(labelled.with(kSecAttrKeyClass, kSecAttrKeyClassPublic))
            let own = try findKey(labelled.with(kSecAttrKeyClass, kSecAttrKeyClassPrivate))
            let peer = try publicKey(key)
            #expect(half == peer)
            #expect(own == key)
            #expect(delete(.anyKey) == errSecSuccess)
            // The dictionary of one key overrides the whole dictionary.
            whole[kSecPublicKeyAttrs as String] = [kSecAttrIsPermanent as String: false] as Query
            _ = try makeKey(whole)
            #expect(exists(Query.anyKey.with(kSecAttrKeyClass, kSecAttrKeyClassPublic)) == errSecItemNotFound)
            #expect(exists(Query.anyKey.with(kSecAttrKeyClass, kSecAttrKeyClassPrivate)) == errSecSuccess)
        }
    }

    @Test func subjectPublicKeyInfoOfAnRSAKeyIsTheSameKey_SK10() throws {
        try Simulator().run {
            let key = try publicKey(KeyKind.rsa.make())
            let openssl = try OpenSSLCommand()
            try openssl.write(KeyKind.rsa.make(), .rsa)
            let information = try openssl.read("public.der")
            let same = try readKey(information, .rsa, isPrivate: false).get()
            #expect(same == key)
            #expect(try external(same) == external(key))
            let item = Query.key().with(kSecValueData, information).with(kSecAttrKeyType, kSecAttrKeyTypeRSA)
                .with(kSecAttrKeyClass, kSecAttrKeyClassPublic)
            #expect(addReturning(item.object).result as? SecKey == key)
            let found = try findKey(.key())
            #expect(found == key)
            #expect(find(Query.key().data).result as? Data == information)
            let hash = (SecKeyCopyAttributes(key) as? Query)?[kSecAttrApplicationLabel as String] as? Data
            #expect(exists(Query.anyKey.with(kSecAttrApplicationLabel, hash as Any)) == errSecSuccess)
            // Rejected: SubjectPublicKeyInfo of an elliptic curve key given as RSA, and trailing bytes.
            try openssl.write(KeyKind.p256.make(), .p256)
            #expect(try readKey(openssl.read("public.der"), .rsa, isPrivate: false).status == errSecParam)
            #expect(try readKey(information + Data([0]), .rsa, isPrivate: false).status == errSecParam)
        }
    }

    @Test func malformedKeyIsNotAddedWhenAReferenceIsRequested_SK10() throws {
        try Simulator().run {
            for kind in [KeyKind.rsa, .p256] {
                let item = Query.key().with(kSecValueData, Data([1, 2, 3])).with(kSecAttrKeyType, kind.type)
                    .with(kSecAttrKeyClass, kSecAttrKeyClassPublic)
                for wrong in [item, item.with(kSecAttrKeyClass, kSecAttrKeyClassPrivate), Query.key().secret()] {
                    let added = addReturning(wrong.object)
                    #expect(added.status == errSecParam)
                    #expect(added.result == nil)
                    #expect(exists(.anyKey) == errSecItemNotFound)
                }
            }
        }
    }

    @Test(
        arguments: [
            kSecAttrKeyTypeAES, kSecAttrKeyTypeDES, kSecAttrKeyType3DES, kSecAttrKeyTypeRC2, kSecAttrKeyTypeRC4,
            kSecAttrKeyTypeCAST, kSecAttrKeyTypeDSA,
        ].map { $0 as String })
    func unsupportedKeyTypeIsStoredWithoutAKeyObject(_ type: String) throws {
        try Simulator().run {
            let symmetric: Query = [
                kSecClass as String: kSecClassKey, kSecAttrKeyClass as String: kSecAttrKeyClassSymmetric,
            ]
            let item = symmetric.with(kSecAttrKeyType, type)
            #expect(add(item.secret()) == errSecSuccess)
            #expect(add(symmetric.with(kSecAttrKeyType, "99").secret("other")) == errSecSuccess)
            #expect(secret(item) == "secret")
            #expect(secret(item.with(kSecAttrKeyType, Int64(type) as Any)) == "secret")
            // No SecKey exists for this type.
            let found = find(item.object)
            #expect(found.status == errSecSuccess)
            #expect(found.result == nil)
            let made = try outcome {
                SecKeyCreateRandomKey(
                    [kSecAttrKeyType as String: type, kSecAttrKeySizeInBits as String: 128] as CFDictionary, $0)
            }
            #expect(made.status == errSecParam)
        }
    }

    @Test func keyIsReturnedAsReferenceDataOrBoth() throws {
        try Simulator().run {
            let key = try publicKey(KeyKind.p256.make())
            #expect(add(Query.key().with(kSecValueRef, key).with(kSecAttrLabel, "peer")) == errSecSuccess)
            #expect(add(Query.key().with(kSecValueRef, key)) == errSecDuplicateItem)
            let found = try findKey(.key())
            #expect(found == key)
            let bytes = try external(key)
            #expect(find(Query.key().data).result as? Data == bytes)
            let both = try #require(find(Query.key().data.object).result as? Query)
            #expect(both[kSecValueData as String] as? Data == bytes)
            #expect(both[kSecValueRef as String] as? SecKey == key)
            #expect(both[kSecClass as String] as? String == kSecClassKey as String)
        }
    }

    @Test func addReturnsTheRequestedResult() throws {
        try Simulator().run {
            let key = try KeyKind.p256.make()
            let added = addReturning(Query.key().with(kSecValueRef, key).object)
            #expect(added.status == errSecSuccess)
            #expect(added.result as? SecKey == key)
            let other = addReturning(Query.key(tag: "other").with(kSecValueRef, key).reference)
            let found = find([kSecValuePersistentRef as String: other.result as Any, kSecReturnRef as String: true])
            #expect(found.result as? SecKey == key)
        }
    }

    @Test func rawDataWithKeyAttributesIsReadAsAKey_SK09() throws {
        try Simulator().run {
            let key = try KeyKind.p256.make()
            let bytes = try external(key)
            let item = Query.key().with(kSecValueData, bytes).with(kSecAttrKeyType, kSecAttrKeyTypeECSECPrimeRandom)
                .with(kSecAttrKeyClass, kSecAttrKeyClassPrivate).with(kSecAttrKeySizeInBits, 256)
            #expect(add(item) == errSecSuccess)
            let found = try findKey(.key())
            #expect(found == key)
            let label = (find(Query.key().attributes).result as? Query)?[kSecAttrApplicationLabel as String] as? Data
            let hash = (SecKeyCopyAttributes(key) as? Query)?[kSecAttrApplicationLabel as String] as? Data
            #expect(label == hash)
            #expect(hash?.count == 20)
        }
    }

    @Test func symmetricKeyDataIsStoredWithoutAKeyObject() throws {
        try Simulator().run {
            let item = Query.key(tag: "symmetric").with(kSecValueData, Data([1, 2, 3]))
                .with(kSecAttrKeyClass, kSecAttrKeyClassSymmetric)
            #expect(add(item) == errSecSuccess)
            #expect(find(Query.key(tag: "symmetric").data).result as? Data == Data([1, 2, 3]))
            let reference = find(Query.key(tag: "symmetric").object)
            #expect(reference.status == errSecSuccess)
            #expect(reference.result == nil)
        }
    }

    @Test func keyReferenceFindsUpdatesAndDeletesItsItem() throws {
        try Simulator().run {
            let key = try makeKey(parameters(.p256))
            _ = try makeKey(parameters(.p256, tag: "other"))
            let query: Query = [kSecValueRef as String: key]
            #expect(update(query, [kSecAttrLabel as String: "mine"]) == errSecSuccess)
            let found = try findKey(Query.key().with(kSecAttrLabel, "mine"))
            #expect(found == key)
            #expect(delete(query) == errSecSuccess)
            #expect(exists(.key()) == errSecItemNotFound)
            #expect(exists(.key(tag: "other")) == errSecSuccess)
        }
    }

    @Test func everyPartOfThePrimaryKeyDistinguishesKeys_KC05() throws {
        try Simulator().run {
            let key = try KeyKind.p256.make()
            let half = try publicKey(key)
            #expect(add(Query.key().with(kSecValueRef, key)) == errSecSuccess)
            #expect(add(Query.key().with(kSecValueRef, half)) == errSecSuccess)
            #expect(add(Query.key(tag: "two").with(kSecValueRef, key)) == errSecSuccess)
            #expect(add(Query.key().with(kSecValueRef, key).with(kSecAttrLabel, "label")) == errSecDuplicateItem)
            #expect(
                update(.key(tag: "two"), [kSecAttrApplicationTag as String: Data("signing".utf8)])
                    == errSecDuplicateItem)
            let all = find(Query.key().object.all).result as? [SecKey]
            #expect(all?.count == 2)
        }
    }

    @Test func protectedSoftwareKeyIsReleasedAfterAuthentication_AC06() throws {
        let simulator = try Simulator()
        try simulator.run {
            let control = SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, .biometryAny, nil) as Any
            let key = try makeKey(parameters(.p256, [kSecAttrAccessControl as String: control]))
            let quiet = Query.key().with(kSecUseAuthenticationUI, deprecated.kSecUseAuthenticationUIFail)
            #expect(find(quiet.object).status == errSecInteractionNotAllowed)
            simulator.touch(matching: true)
            let found = try findKey(.key())
            #expect(found == key)
        }
    }

    @Test func attributesThatContradictTheKeyAreRejected() throws {
        try Simulator().run {
            let item = Query.key().with(kSecValueRef, try KeyKind.p256.make())
            #expect(add(item.with(kSecAttrKeyClass, kSecAttrKeyClassPublic)) == errSecParam)
            #expect(add(item.with(kSecAttrKeyType, kSecAttrKeyTypeRSA)) == errSecParam)
            #expect(exists(.key()) == errSecItemNotFound)
            let told = item.with(kSecAttrKeyClass, kSecAttrKeyClassPrivate).with(kSecAttrKeyType, kSecAttrKeyTypeEC)
            #expect(add(told) == errSecSuccess)
        }
    }

    @Test func invalidAttributesAndObjectsAreRejected_KC01_KC02() throws {
        try Simulator().run {
            let key = try KeyKind.p256.make()
            #expect(add(Query.password("account").with(kSecValueRef, key)) == errSecParam)
            #expect(add([kSecValueRef as String: "key"]) == errSecParam)
            #expect(add(Query.key().with(kSecValueRef, key).with(kSecValueData, Data())) == errSecParam)
            #expect(exists(Query.key().with(kSecAttrService, "service")) == errSecNoSuchAttr)
            #expect(exists(Query.password("account").with(kSecAttrApplicationTag, Data())) == errSecNoSuchAttr)
            #expect(exists(Query.key().with(kSecAttrKeySizeInBits, "many")) == errSecParam)
            #expect(update(.key(), [kSecValueRef as String: key]) == errSecParam)
        }
    }
}
