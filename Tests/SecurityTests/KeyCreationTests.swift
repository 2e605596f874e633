// SPDX-License-Identifier: Apache-2.0

import Security
import Testing

/// Generating and importing keys: parameters, refusals and reported attributes.
@Suite struct KeyCreationTests {
    private func create(_ parameters: [String: Any]) throws -> Result<SecKey, KeyRefusal> {
        try outcome { SecKeyCreateRandomKey(parameters as CFDictionary, $0) }
    }

    private func attributes(_ key: SecKey) throws -> [String: Any] {
        try #require(SecKeyCopyAttributes(key) as? [String: Any])
    }

    private func with(_ changes: [CFString: Any?], _ kind: KeyKind = .p256) -> [String: Any] {
        var parameters = kind.parameters
        for (name, value) in changes { parameters[name as String] = value }
        return parameters
    }

    // MARK: - Generation

    @Test(arguments: KeyKind.all) func bothHalvesHaveTheRequestedSize_T29(kind: KeyKind) throws {
        let key = try kind.make()
        for half in [key, try publicKey(key)] {
            let attributes = try attributes(half)
            #expect(attributes[kSecAttrKeySizeInBits as String] as? Int == kind.bitCount)
            #expect(attributes[kSecAttrEffectiveKeySize as String] as? Int == kind.bitCount)
            #expect(SecKeyGetBlockSize(half) == (kind.bitCount + 7) / 8)
        }
    }

    @Test(arguments: [1024, 3072, 4096]) func rsaKeysOfOtherSizesAreGenerated_T29(bits: Int) throws {
        let key = try KeyKind(bitCount: bits, isRSA: true).make()
        #expect(SecKeyGetBlockSize(key) == bits / 8)
        #expect(try attributes(key)[kSecAttrKeySizeInBits as String] as? Int == bits)
    }

    @Test(arguments: ["256", 256, 256.0, NSNumber(value: 256)] as [any Sendable])
    func theSizeMayBeANumberOrAStringOfDigits(size: any Sendable) throws {
        let key = try create(with([kSecAttrKeySizeInBits: size])).get()
        #expect(SecKeyGetBlockSize(key) == 32)
    }

    @Test func aMissingOrUnknownTypeIsRefused_SK02() throws {
        for type: Any? in [nil, "44", "", "RSA", kSecAttrKeyClassPublic, 1, true, Data("42".utf8), ["42"], NSNull()] {
            #expect(try create(with([kSecAttrKeyType: type])).status == errSecParam, "\(type ?? "nil")")
        }
    }

    @Test func anInvalidSizeIsRefused_SK02() throws {
        let sizes: [Any?] = [
            nil, 0, -256, 255, 257, 224, 192, 512, "p256", "", "256 ", 256.5, true, Data([1]), NSNull(), 1e300, Int.max,
            Int.min, Double.nan,
        ]
        for size in sizes {
            #expect(try create(with([kSecAttrKeySizeInBits: size])).status == errSecParam, "\(size ?? "nil")")
        }
        for size: Any in [0, 512, 1023, 1025, 4097, 8192, 1 << 40, "x"] {
            #expect(try create(with([kSecAttrKeySizeInBits: size], .rsa)).status == errSecParam, "\(size)")
        }
    }

    @Test func attributesOfTheWrongTypeAreRefused() throws {
        let wrong: [(CFString, [Any])] = [
            (kSecPrivateKeyAttrs, ["x", 1, NSNull(), [1]]), (kSecPublicKeyAttrs, ["x", Data()]),
            (kSecAttrIsPermanent, ["yes", Data(), 2]), (kSecAttrLabel, [1.5, true, Date()]),
            (kSecAttrApplicationTag, [false, ["a"]]),
            (kSecAttrApplicationLabel, [Date()]), (kSecAttrAccessControl, ["x", 1]), (kSecAttrAccessible, ["x", 1]),
            (kSecAttrCanSign, ["x", 3]), (kSecAttrIsExtractable, ["x"]), (kSecAttrTokenID, ["x", 1, NSNull()]),
            (kSecAttrSynchronizable, ["x"]), (kSecAttrAccessGroup, [1]),
        ]
        for (name, values) in wrong {
            for value in values {
                #expect(try create(with([name: value])).status == errSecParam, "\(name): \(value)")
                guard name != kSecPrivateKeyAttrs, name != kSecPublicKeyAttrs, name != kSecAttrTokenID else { continue }
                let half = [name as String: value]
                #expect(try create(with([kSecPrivateKeyAttrs: half])).status == errSecParam, "\(name): \(value)")
                #expect(try create(with([kSecPublicKeyAttrs: half])).status == errSecParam, "\(name): \(value)")
            }
        }
        let key: NSDictionary = [1: "x", kSecAttrKeyType: kSecAttrKeyTypeEC]
        #expect(try outcome { SecKeyCreateRandomKey(key, $0) }.status == errSecParam)
    }

    @Test func theSecureEnclaveAcceptsP256Only_SE01() throws {
        for kind in [KeyKind.rsa, KeyKind.curves[1], KeyKind.curves[2]] {
            let parameters = with([kSecAttrTokenID: kSecAttrTokenIDSecureEnclave], kind)
            #expect(try create(parameters).status == errSecParam, "\(kind)")
        }
    }

    @Test func theTokenMustBeGivenAtTheTopLevel_SE02() throws {
        let half = [kSecAttrTokenID: kSecAttrTokenIDSecureEnclave]
        #expect(try create(with([kSecPrivateKeyAttrs: half])).status == errSecParam)
        #expect(try create(with([kSecPublicKeyAttrs: half])).status == errSecParam)
    }

    @Test func aKeyInMemoryReportsPermanentAndExtractable_SK11() throws {
        let parameters = with([kSecPrivateKeyAttrs: [kSecAttrIsPermanent: false]])
        let key = try create(parameters).get()
        for half in [key, try publicKey(key), try readKey(external(key), .p256, isPrivate: true).get()] {
            let attributes = try attributes(half)
            #expect(attributes[kSecAttrIsPermanent as String] as? Bool == true)
            #expect(attributes[kSecAttrIsSensitive as String] as? Bool == false)
            #expect(attributes[kSecAttrIsExtractable as String] as? Bool == true)
        }
        let kept = try create(with([kSecPrivateKeyAttrs: [kSecAttrIsExtractable: false]])).get()
        #expect(try attributes(kept)[kSecAttrIsExtractable as String] as? Bool == false)
    }

    @Test func theErrorPointerMayBeNil() {
        #expect(SecKeyCreateRandomKey([:] as CFDictionary, nil) == nil)
        #expect(SecKeyCreateWithData(Data() as CFData, [:] as CFDictionary, nil) == nil)
    }

    @Test func twoGeneratedKeysDiffer() throws {
        let (one, two) = (try KeyKind.p256.make(), try KeyKind.p256.make())
        #expect(one != two)
        #expect(try publicKey(one) != publicKey(two))
    }

    // MARK: - Attributes

    @Test(arguments: KeyKind.all) func attributesDescribeTypeClassAndSize_SK09(kind: KeyKind) throws {
        let key = try kind.make()
        let half = try publicKey(key)
        // SHA-1 computed by the openssl command.
        let openssl = try OpenSSLCommand()
        try openssl.write("key", external(half))
        try openssl.succeed("dgst", "-sha1", "-binary", "-out", "hash", "key")
        let hash = try openssl.read("hash")
        for (half, isPrivate) in [(key, true), (half, false)] {
            let attributes = try attributes(half)
            #expect(attributes[kSecClass as String] as? String == "keys")
            #expect(attributes[kSecAttrKeyClass as String] as? String == (isPrivate ? "1" : "0"))
            #expect(attributes[kSecAttrKeyType as String] as? String == (kind.isRSA ? "42" : "73"))
            #expect(attributes[kSecAttrApplicationLabel as String] as? Data == hash)
            #expect(attributes[kSecAttrIsPermanent as String] as? Bool == true)
            #expect(try attributes[kSecValueData as String] as? Data == external(half))
            let flags = [
                kSecAttrCanEncrypt: !isPrivate, kSecAttrCanDecrypt: isPrivate, kSecAttrCanSign: isPrivate,
                kSecAttrCanVerify: !isPrivate, kSecAttrCanDerive: true, kSecAttrCanWrap: !isPrivate,
                kSecAttrCanUnwrap: isPrivate,
            ]
            for (name, flag) in flags { #expect(attributes[name as String] as? Bool == flag, "\(name)") }
        }
    }

    @Test func attributesGivenForAHalfAreReported() throws {
        let control = try #require(SecAccessControlCreateWithFlags(nil, deprecated.kSecAttrAccessibleAlways, [], nil))
        let key = try create(
            with([
                kSecAttrLabel: "both", kSecAttrApplicationTag: Data("tag".utf8),
                kSecPrivateKeyAttrs: [
                    kSecAttrLabel: "private", kSecAttrAccessControl: control, kSecAttrCanDerive: false,
                    kSecAttrApplicationLabel: Data([7]),
                ] as [CFString: Any],
            ])
        ).get()
        let own = try attributes(key)
        #expect(own[kSecAttrLabel as String] as? String == "private")
        #expect(own[kSecAttrApplicationTag as String] as? Data == Data("tag".utf8))
        #expect(own[kSecAttrApplicationLabel as String] as? Data == Data([7]))
        #expect(own[kSecAttrAccessControl as String] as? SecAccessControl == control)
        #expect(own[kSecAttrCanDerive as String] as? Bool == false)
        let other = try attributes(publicKey(key))
        #expect(other[kSecAttrLabel as String] as? String == "both")
        #expect(other[kSecAttrAccessControl as String] == nil)
    }

    @Test func laterChangesOfTheAppsObjectsAreNotReported() throws {
        let (tag, label) = (NSMutableData(data: Data("tag".utf8)), NSMutableString(string: "label"))
        let key = try create(with([kSecAttrApplicationTag: tag, kSecAttrLabel: label])).get()
        tag.append(Data([1]))
        label.append("!")
        for half in [key, try publicKey(key)] {
            let attributes = try attributes(half)
            #expect(attributes[kSecAttrApplicationTag as String] as? Data == Data("tag".utf8))
            #expect(attributes[kSecAttrLabel as String] as? String == "label")
        }
    }

    @Test func aNonExtractableKeyIsNotExported_SK02() throws {
        let key = try create(with([kSecPrivateKeyAttrs: [kSecAttrIsExtractable: false]])).get()
        #expect(try outcome { SecKeyCopyExternalRepresentation(key, $0) }.status == errSecUnimplemented)
        #expect(try attributes(key)[kSecValueData as String] == nil)
        #expect(try external(publicKey(key)).count == 65)
    }

    // MARK: - Equality and type

    @Test(arguments: KeyKind.all) func keysAreEqualByHalfAndPublicKey(kind: KeyKind) throws {
        let key = try kind.make()
        let again = try readKey(external(key), kind, isPrivate: true).get()
        let half = try publicKey(key)
        #expect(key == again)
        #expect(key.hash == again.hash)
        #expect(key != half)
        #expect(try half == publicKey(again))
        #expect(try half.hash == publicKey(again).hash)
        #expect(SecKeyCopyPublicKey(half) === half)
        #expect(!key.isEqual("key"))
        #expect(Set([key, again, half]).count == 2)
    }

    @Test func aKeyHasItsOwnTypeID() throws {
        let key: CFTypeRef = try KeyKind.p256.make()
        #expect(CFGetTypeID(key) == SecKeyGetTypeID())
        #expect(SecKeyGetTypeID() != SecAccessControlGetTypeID())
        let dictionary: [String: Any] = ["key": key]
        #expect((dictionary["key"] as! SecKey) === key)
        #expect((dictionary as CFDictionary)["key"] as? SecKey === key)
    }

    // MARK: - Import

    @Test(arguments: KeyKind.all) func anExportedKeyCanBeImported_SK03_T24(kind: KeyKind) throws {
        let key = try kind.make()
        let (secret, open) = (try external(key), try external(publicKey(key)))
        let width = (kind.bitCount + 7) / 8
        if !kind.isRSA {
            #expect(open.count == 1 + 2 * width)
            #expect(secret.count == 1 + 3 * width)
            #expect(open.first == 4)
            #expect(secret.prefix(open.count) == open)
        }
        #expect(try readKey(secret, kind, isPrivate: true).get() == key)
        #expect(try readKey(open, kind, isPrivate: false).get() == publicKey(key))
        #expect(try external(readKey(secret, kind, isPrivate: true).get()) == secret)
    }

    @Test(arguments: KeyKind.all) func dataThatIsNotTheGivenKeyIsRefused_SK02_SK03_T25(kind: KeyKind) throws {
        let key = try kind.make()
        let (secret, open) = (try external(key), try external(publicKey(key)))
        for (data, isPrivate) in [(secret, false), (open, true)] {
            #expect(try readKey(data, kind, isPrivate: isPrivate).status == errSecParam)
        }
        for (data, isPrivate) in [(secret, true), (open, false)] {
            let other = kind.isRSA ? KeyKind.p256 : KeyKind.rsa
            #expect(try readKey(data, other, isPrivate: isPrivate).status == errSecParam)
            #expect(try readKey(data.dropLast(), kind, isPrivate: isPrivate).status == errSecParam)
            #expect(try readKey(data + Data([0]), kind, isPrivate: isPrivate).status == errSecParam)
            #expect(try readKey(Data(), kind, isPrivate: isPrivate).status == errSecParam)
            var changed = data
            changed[data.count / 2] ^= 1
            // A flipped bit in an RSA modulus gives another well-formed public key.
            if isPrivate || !kind.isRSA {
                #expect(try readKey(changed, kind, isPrivate: isPrivate).status == errSecParam)
            }
            changed = data
            changed[0] ^= 1
            #expect(try readKey(changed, kind, isPrivate: isPrivate).status == errSecParam)
        }
    }

    @Test func typeAndClassAreRequired_SK02_SK11() throws {
        let data = try external(publicKey(KeyKind.p256.make()))
        let good: [CFString: Any] = [kSecAttrKeyType: kSecAttrKeyTypeEC, kSecAttrKeyClass: kSecAttrKeyClassPublic]
        func status(_ changes: [CFString: Any?]) throws -> OSStatus {
            var attributes = good
            for (name, value) in changes { attributes[name] = value }
            return try outcome { SecKeyCreateWithData(data as CFData, attributes as CFDictionary, $0) }.status
        }
        #expect(try status([:]) == errSecSuccess)
        #expect(try status([kSecAttrKeyType: 73, kSecAttrKeyClass: 0]) == errSecSuccess)
        // kSecAttrKeySizeInBits is ignored, because published code often passes a wrong one, and nothing is stored.
        let ignored: [CFString: Any?] = [kSecAttrKeySizeInBits: 520, kSecAttrIsPermanent: true]
        #expect(try status(ignored) == errSecSuccess)
        // Behaviour SK-11: the symmetric class is refused with -4.
        #expect(try status([kSecAttrKeyClass: kSecAttrKeyClassSymmetric]) == errSecUnimplemented)
        for value: Any? in [nil, "3", "", true, NSNull(), Data()] {
            #expect(try status([kSecAttrKeyClass: value]) == errSecParam)
        }
        for value: Any? in [nil, "44", "", true, NSNull()] {
            #expect(try status([kSecAttrKeyType: value]) == errSecParam)
        }
        #expect(try status([kSecAttrTokenID: kSecAttrTokenIDSecureEnclave]) == errSecParam)
    }
}
