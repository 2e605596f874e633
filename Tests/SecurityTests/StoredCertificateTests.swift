// SPDX-License-Identifier: Apache-2.0

import LatchkeyClient
import LocalAuthentication
import Security
import Testing

@testable import LatchkeySimulator

/// Certificates and identities in the keychain.
@Suite struct StoredCertificateTests {
    private static var any: Query { [kSecClass as String: kSecClassCertificate] }
    private static var identities: Query { [kSecClass as String: kSecClassIdentity] }

    private func certificate(_ kind: TestCertificates.Kind) throws -> SecCertificate {
        try TestCertificates.shared().certificate(kind)
    }

    /// The private key of a test certificate, imported from its PKCS#12 file.
    private func privateKey(_ kind: TestCertificates.Kind) throws -> SecKey {
        let files = try TestCertificates.shared()
        let items = try #require(importPKCS12(try files.pkcs12(kind)) as? [Query])
        let identity = try #require(items.first?[kSecImportItemIdentity as String] as? SecIdentity)
        var key: SecKey?
        #expect(SecIdentityCopyPrivateKey(identity, &key) == errSecSuccess)
        return try #require(key)
    }

    private func importPKCS12(_ data: Data) -> CFArray? {
        var items: CFArray?
        let options: Query = [kSecImportExportPassphrase as String: "secret"]
        guard SecPKCS12Import(data as CFData, options as CFDictionary, &items) == errSecSuccess else { return nil }
        return items
    }

    // MARK: - Certificates

    @Test func certificateIsAddedOnce_T01_T02() throws {
        try Simulator().run {
            let item: Query = [kSecValueRef as String: try certificate(.leaf)]
            #expect(add(item) == errSecSuccess)
            #expect(add(item) == errSecDuplicateItem)
        }
    }

    @Test func addWithoutReturnKeysReturnsNothing_T03_KC08() throws {
        try Simulator().run {
            let added = addReturning([kSecValueRef as String: try certificate(.leaf)])
            #expect(added.status == errSecSuccess)
            #expect(added.result == nil)
        }
    }

    @Test func addReturnsTheRequestedResult_T04_T05_T06_T07() throws {
        let files = try TestCertificates.shared()
        for kind in [kSecReturnPersistentRef, kSecReturnRef, kSecReturnData, kSecReturnAttributes] {
            try Simulator().run {
                let certificate = try files.certificate(.leaf)
                let bytes = try files.der(.leaf)
                let added = addReturning([kSecValueRef as String: certificate, kind as String: true])
                #expect(added.status == errSecSuccess)
                switch kind {
                case kSecReturnPersistentRef:
                    let query: Query = [kSecValuePersistentRef as String: added.result as Any]
                    #expect(find(query.data).result as? Data == bytes)
                case kSecReturnRef: #expect(added.result as? SecCertificate == certificate)
                case kSecReturnData: #expect(added.result as? Data == bytes)
                default:
                    let attributes = try #require(added.result as? Query)
                    #expect(attributes[kSecAttrSerialNumber as String] is Data)
                    #expect((attributes[kSecAttrPublicKeyHash as String] as? Data)?.count == 20)
                }
            }
        }
    }

    @Test func certificatesAreReadableWhileLocked_KC13() throws {
        let simulator = try Simulator()
        try simulator.run {
            #expect(add([kSecValueRef as String: try certificate(.leaf)]) == errSecSuccess)
            try simulator.lock()
            #expect(find(Self.any.data).status == errSecSuccess)
        }
    }

    @Test func malformedCertificatesAreRejected() throws {
        try Simulator().run {
            #expect(add(Self.any.with(kSecValueData, Data("certificate".utf8))) == errSecParam)
            #expect(add(Self.any) == errSecParam)
            let der = try TestCertificates.shared().der(.leaf)
            #expect(add(Self.any.with(kSecValueData, der)) == errSecSuccess)
        }
    }

    @Test func attributesAndMatchesFindCertificates() throws {
        try Simulator().run {
            for kind in [TestCertificates.Kind.root, .intermediate, .leaf, .rsa] {
                #expect(add([kSecValueRef as String: try certificate(kind)]) == errSecSuccess)
            }
            let leaf = try certificate(.leaf)
            let root = try certificate(.root)
            let subject = try #require(SecCertificateCopyNormalizedSubjectSequence(root) as Data?)
            func found(_ query: Query) -> [SecCertificate] {
                find(Self.any.merging(query) { $1 }.object.all).result as? [SecCertificate] ?? []
            }
            #expect(found([:]).count == 4)
            let chain = found([kSecMatchIssuers as String: [subject]])
            #expect(chain.count == 3)
            #expect(chain.contains(leaf))
            let name = try #require(SecCertificateCopySubjectSummary(leaf) as String?)
            #expect(found([kSecMatchSubjectWholeString as String: name]) == [leaf])
            #expect(found([kSecMatchItemList as String: [leaf, root]]).count == 2)
            #expect(found([kSecMatchValidOnDate as String: Date.distantPast]).isEmpty)
            #expect(!found([kSecMatchValidOnDate as String: NSNull()]).isEmpty)
            #expect(exists(Self.any.with(kSecMatchSubjectContains, "no such subject")) == errSecItemNotFound)
            #expect(exists(Self.any.with(kSecMatchSubjectContains, 1)) == errSecParam)
            let one = find(Self.any.with(kSecMatchSubjectWholeString, name).object).result
            #expect(one as? SecCertificate == leaf)
        }
    }

    // MARK: - Identities

    @Test func certificateAndItsKeyFormAnIdentity() throws {
        try Simulator().run {
            let leaf = try certificate(.leaf)
            let key = try privateKey(.leaf)
            #expect(add([kSecValueRef as String: leaf]) == errSecSuccess)
            #expect(exists(Self.identities) == errSecItemNotFound)
            #expect(add([kSecValueRef as String: key]) == errSecSuccess)
            let identity = try #require(find(Self.identities.object).result as? SecIdentity)
            var found: SecCertificate?
            #expect(SecIdentityCopyCertificate(identity, &found) == errSecSuccess)
            #expect(found == leaf)
            var made: SecIdentity?
            #expect(SecIdentityCreateWithCertificate(nil, leaf, &made) == errSecSuccess)
            #expect(made == identity)
        }
    }

    @Test func importedIdentityIsAddedFoundAndDeletedAsAUnit_OT03() throws {
        try Simulator().run {
            let items = try #require(importPKCS12(try TestCertificates.shared().pkcs12(.leaf)) as? [Query])
            let identity = try #require(items.first?[kSecImportItemIdentity as String] as? SecIdentity)
            let added = addReturning([kSecValueRef as String: identity, kSecReturnPersistentRef as String: true])
            #expect(added.status == errSecSuccess)
            #expect(add([kSecValueRef as String: identity]) == errSecDuplicateItem)
            let query: Query = [kSecValuePersistentRef as String: added.result as Any]
            #expect(find(query.object).result as? SecIdentity == identity)
            let attributes = try #require(find(Self.identities.attributes).result as? Query)
            #expect(
                attributes[kSecAttrPublicKeyHash as String] as? Data
                    == attributes[kSecAttrApplicationLabel as String] as? Data)
            #expect(update(Self.identities, [kSecAttrLabel as String: "new"]) == errSecUnimplemented)
            #expect(delete([kSecValueRef as String: identity]) == errSecSuccess)
            #expect(exists(Self.any) == errSecItemNotFound)
            #expect(exists([kSecClass as String: kSecClassKey]) == errSecItemNotFound)
        }
    }

    @Test func identitiesAreMatchedByTheirCertificates() throws {
        try Simulator().run {
            for kind in [TestCertificates.Kind.leaf, .rsa] {
                #expect(add([kSecValueRef as String: try certificate(kind)]) == errSecSuccess)
                #expect(add([kSecValueRef as String: try privateKey(kind)]) == errSecSuccess)
            }
            #expect(add([kSecValueRef as String: try certificate(.root)]) == errSecSuccess)
            #expect((find(Self.identities.object.all).result as? [SecIdentity])?.count == 2)
            let name = try #require(SecCertificateCopySubjectSummary(try certificate(.rsa)) as String?)
            let one = find(Self.identities.with(kSecMatchSubjectWholeString, name).object.all).result as? [SecIdentity]
            #expect(one?.count == 1)
            let tagged = find(Self.identities.with(kSecAttrApplicationTag, Data("other".utf8)).object).status
            #expect(tagged == errSecItemNotFound)
        }
    }

    @Test func identityWithABiometricKeyPromptsWhenItIsRead() throws {
        let simulator = try Simulator()
        try simulator.run {
            #expect(add([kSecValueRef as String: try certificate(.leaf)]) == errSecSuccess)
            let key: Query = [kSecValueRef as String: try privateKey(.leaf)]
            #expect(add(key.under(.biometryAny)) == errSecSuccess)
            let quiet = Self.identities.with(kSecUseAuthenticationUI, deprecated.kSecUseAuthenticationUIFail)
            #expect(find(quiet.object).status == errSecInteractionNotAllowed)
            simulator.touch(matching: true)
            #expect(find(Self.identities.object).result is SecIdentity)
        }
    }

    @Test func attributesThatContradictTheCertificateAreRejected() throws {
        try Simulator().run {
            let item: Query = [kSecValueRef as String: try certificate(.leaf)]
            for name in [kSecAttrPublicKeyHash, kSecAttrSubject, kSecAttrIssuer, kSecAttrSerialNumber] {
                #expect(add(item.with(name, Data("other".utf8))) == errSecParam)
            }
            #expect(add(item.with(kSecAttrLabel, "label")) == errSecSuccess)
            let found = try #require(find(Self.any.attributes).result as? Query)
            let again = item.merging(found.filter { $0.key != kSecAttrAccessGroup as String }) { $1 }
            #expect(add(again) == errSecDuplicateItem, "matching attributes are accepted")
        }
    }

    @Test func keyWithAForgedApplicationLabelFormsNoIdentity() throws {
        try Simulator().run {
            let leaf = try certificate(.leaf)
            #expect(add([kSecValueRef as String: leaf]) == errSecSuccess)
            let stranger: Query = [kSecValueRef as String: try privateKey(.rsa)]
            let hash = Data(leaf.certificate.publicKeyHash)
            #expect(add(stranger.with(kSecAttrApplicationLabel, hash)) == errSecSuccess)
            var made: SecIdentity?
            #expect(find(Self.identities.object).status == errSecItemNotFound)
            #expect(SecIdentityCreateWithCertificate(nil, leaf, &made) == errSecItemNotFound)
            #expect(add([kSecValueRef as String: try privateKey(.leaf)]) == errSecSuccess)
            let identity = try #require(find(Self.identities.object).result as? SecIdentity)
            #expect(SecIdentityCreateWithCertificate(nil, leaf, &made) == errSecSuccess)
            #expect(made == identity)
            var key: SecKey?
            SecIdentityCopyPrivateKey(identity, &key)
            #expect(key == (try privateKey(.leaf)))
        }
    }

    private func identity() throws -> SecIdentity {
        let items = try #require(importPKCS12(try TestCertificates.shared().pkcs12(.leaf)) as? [Query])
        return try #require(items.first?[kSecImportItemIdentity as String] as? SecIdentity)
    }

    @Test func identityReferenceMatchesNoOtherClass() throws {
        try Simulator().run {
            let added = addReturning([kSecValueRef as String: try identity(), kSecReturnPersistentRef as String: true])
            let query: Query = [kSecValuePersistentRef as String: added.result as Any]
            for itemClass in [kSecClassKey, kSecClassCertificate, kSecClassGenericPassword] {
                #expect(exists(query.with(kSecClass, itemClass)) == errSecItemNotFound)
                #expect(delete(query.with(kSecClass, itemClass)) == errSecItemNotFound)
            }
            #expect(exists(query.with(kSecClass, kSecClassIdentity)) == errSecSuccess)
        }
    }

    @Test func identityIsFoundByAttributesOfItsKey() throws {
        try Simulator().run {
            #expect(add([kSecValueRef as String: try identity()]) == errSecSuccess)
            let hash = Data(try certificate(.leaf).certificate.publicKeyHash)
            let cases: [(CFString, own: Any, other: Any)] = [
                (kSecAttrKeyType, kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeyTypeRSA),
                (kSecAttrKeySizeInBits, 256, 384),
                (kSecAttrKeyClass, kSecAttrKeyClassPrivate, kSecAttrKeyClassPublic),
                (kSecAttrApplicationLabel, hash, Data("other".utf8)),
            ]
            for (name, own, other) in cases {
                #expect(exists(Self.identities.with(name, own)) == errSecSuccess, "\(name)")
                #expect(exists(Self.identities.with(name, other)) == errSecItemNotFound, "\(name)")
            }
        }
    }

    @Test func returnedAttributesOfAnIdentityFindItAgain_KC09() throws {
        try Simulator().run {
            #expect(add([kSecValueRef as String: try identity()]) == errSecSuccess)
            let reported = try #require(find(Self.identities.attributes).result as? Query)
            #expect(exists(reported.with(kSecClass, kSecClassIdentity)) == errSecSuccess)
        }
    }

    @Test func identityReferenceCannotBeCombinedWithAttributes_KC10() throws {
        try Simulator().run {
            let added = addReturning([kSecValueRef as String: try identity(), kSecReturnPersistentRef as String: true])
            let query: Query = [kSecValuePersistentRef as String: added.result as Any]
            for mixed in [
                query.with(kSecAttrLabel, "Latchkey Test Leaf"), query.with(kSecAttrKeySizeInBits, 256),
                query.with(kSecAttrAccessible, kSecAttrAccessibleWhenUnlocked), query.under([]),
            ] {
                #expect(exists(mixed) == errSecParam)
                #expect(delete(mixed) == errSecParam)
            }
            #expect(exists(query) == errSecSuccess)
        }
    }

    @Test func identitiesOfOneKeyAreDeletedTogether_KC04() throws {
        let bytes = try TestCertificates.shared().run([
            "req", "-x509", "-new", "-key", "leaf.key", "-config", "openssl.cnf", "-section", "described", "-days",
            "10", "-outform", "DER",
        ])
        let renewed = try #require(SecCertificateCreateWithData(nil, bytes as CFData))
        let identity = try identity()
        try Simulator().run {
            #expect(add([kSecValueRef as String: identity]) == errSecSuccess)
            #expect(add([kSecValueRef as String: renewed]) == errSecSuccess)
            #expect((find(Self.identities.object.all).result as? [SecIdentity])?.count == 2)
            #expect(delete(Self.identities) == errSecSuccess)
            #expect(exists(Self.any) == errSecItemNotFound)
            #expect(exists(.anyKey) == errSecItemNotFound)
        }
    }

    @Test func objectAndAttributesMustBothMatch() throws {
        let certificate = try certificate(.leaf)
        let key = try privateKey(.leaf)
        try Simulator().run {
            for (object, name, value) in [
                (certificate, kSecAttrSerialNumber, Data("other".utf8)), (key, kSecAttrKeySizeInBits, 384),
            ] as [(AnyObject, CFString, Any)] {
                let query: Query = [kSecValueRef as String: object]
                #expect(add(query) == errSecSuccess)
                #expect(exists(query.with(name, value)) == errSecItemNotFound)
                #expect(delete(query.with(name, value)) == errSecItemNotFound)
                #expect(exists(query) == errSecSuccess)
            }
        }
    }

    @Test func matchKeysApplyToACertificateFoundByReference() throws {
        try Simulator().run {
            let added = addReturning([
                kSecValueRef as String: try certificate(.leaf), kSecReturnPersistentRef as String: true,
            ])
            let query: Query = [kSecValuePersistentRef as String: added.result as Any]
            #expect(exists(query.with(kSecMatchSubjectContains, "Leaf")) == errSecSuccess)
            #expect(exists(query.with(kSecMatchSubjectContains, "absent")) == errSecItemNotFound)
        }
    }

    @Test func accessibilityOfAnIdentityAppliesToBothItems_KC24() throws {
        try Simulator().run {
            let rule: Query = [kSecAttrAccessible as String: kSecAttrAccessibleAfterFirstUnlock]
            let item: Query = [kSecValueRef as String: try identity(), kSecReturnRef as String: true]
            let added = addReturning(item.merging(rule) { $1 })
            #expect(added.status == errSecSuccess)
            #expect(added.result is SecIdentity)
            #expect(find(Self.identities.object.merging(rule) { $1 }).result is SecIdentity)
            let other = Self.identities.with(kSecAttrAccessible, kSecAttrAccessibleWhenUnlocked)
            #expect(exists(other) == errSecItemNotFound)
            for itemClass in [Self.any, .anyKey] {
                #expect(exists(itemClass.merging(rule) { $1 }) == errSecSuccess)
                let found = try #require(find(itemClass.attributes).result as? Query)
                #expect(found[kSecAttrAccessible as String] as? String == rule[kSecAttrAccessible as String] as? String)
            }
        }
    }

    @Test func accessControlOfAnIdentityAppliesToItsCertificate_KC24() throws {
        let simulator = try Simulator()
        try simulator.run {
            let item: Query = [kSecValueRef as String: try identity()]
            #expect(add(item.under([.userPresence, .privateKeyUsage])) == errSecSuccess)
            let context = LAContext()
            context.interactionNotAllowed = true
            for itemClass in [Self.any, .anyKey, Self.identities] {
                let query = itemClass.with(kSecUseAuthenticationContext, context)
                #expect(find(query.data).status == errSecInteractionNotAllowed)
            }
            simulator.touch(matching: true)
            #expect(find(Self.any.data).status == errSecSuccess)
        }
    }

    @Test func identityObjectReturnsItsPersistentReferenceOnly_KC24() throws {
        try Simulator().run {
            let identity = try identity()
            let item: Query = [kSecValueRef as String: identity]
            for query in [item.data, item.attributes, item.data.attributes, item.data.all] {
                #expect(find(query).status == errSecItemNotFound)
            }
            let added = addReturning(item.reference)
            #expect(added.status == errSecSuccess)
            for query in [item.data, item.attributes, item.data.attributes, item.data.all] {
                let found = find(query)
                #expect(found.status == errSecSuccess)
                #expect(found.result == nil)
            }
            #expect(find(item.reference).result as? Data == added.result as? Data)
            #expect(find(item.reference.attributes).result as? Data == added.result as? Data)
        }
    }

    @Test func searchByAnIdentityForEverythingSucceedsWithoutAResult_KC24() throws {
        try Simulator().run {
            let item: Query = [kSecValueRef as String: try identity()]
            let everything = item.data.attributes.object.reference
            for query in [everything, everything.all] {
                #expect(find(query).status == errSecItemNotFound)
            }
            #expect(add(item) == errSecSuccess)
            for query in [everything, everything.all] {
                let before = "before" as NSString
                var result: CFTypeRef? = before
                #expect(SecItemCopyMatching(query as CFDictionary, &result) == errSecSuccess)
                #expect(result === before, "unchanged")
                #expect(find(query).result == nil)
                #expect(SecItemCopyMatching(query as CFDictionary, nil) == errSecParam)
            }
            // Each combination of three still has a result, and so has the class without an object.
            #expect(find(item.data.attributes.object).result is SecIdentity)
            #expect(find(item.attributes.object.reference).result is Query)
            #expect(find(item.data.object.reference).result is Query)
            #expect(find(item.data.attributes.reference).result is Data)
            let ofTheClass = try #require(find(Self.identities.data.attributes.object.reference).result as? Query)
            #expect(ofTheClass[kSecValueData as String] is Data)
        }
    }

    @Test func identityRequiresTheCertificatesOwnPrivateKey() throws {
        try Simulator().run {
            let (leaf, key) = (try certificate(.leaf), try privateKey(.leaf))
            let made = try #require(SecIdentityCreate(nil, leaf, key))
            let same = try identity()
            #expect(made == same)
            let foreign = try privateKey(.rsa)
            let half = try publicKey(key)
            #expect(SecIdentityCreate(nil, leaf, foreign) == nil)
            #expect(SecIdentityCreate(kCFAllocatorDefault, leaf, half) == nil)
        }
    }

    @Test func partlyAddedIdentityIsRolledBack() throws {
        let simulator = try Simulator()
        let machine = simulator.machine
        let client = Client(application: "app") { CertificateRefusingChannel(machine.connect("app")) }
        try ClientScope.$world.withValue(client) {
            let identity = try identity()
            #expect(add([kSecValueRef as String: identity]) == errSecDiskFull)
        }
        simulator.run { #expect(exists(.anyKey) == errSecItemNotFound) }
    }
}
