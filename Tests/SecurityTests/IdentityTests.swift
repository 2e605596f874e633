// SPDX-License-Identifier: Apache-2.0

import LatchkeySimulator
import Security
import Testing

/// Identities, the public keys of certificates, and the import of PKCS#12 files.
@Suite struct IdentityTests {
    private let made: TestCertificates

    init() throws { made = try .shared() }

    private func importing(
        _ file: Data, _ options: [CFString: Any] = [kSecImportExportPassphrase: "secret"]
    ) -> (status: OSStatus, items: [[String: Any]]?) {
        var items: CFArray?
        let status = SecPKCS12Import(file as CFData, options as CFDictionary, &items)
        return (status, items as? [[String: Any]])
    }

    private func imported(_ kind: TestCertificates.Kind) throws -> SecIdentity {
        let items = try #require(importing(try made.pkcs12(kind)).items)
        return try #require(items.first?[kSecImportItemIdentity as String] as? SecIdentity)
    }

    // MARK: - Keys of certificates

    @Test(arguments: TestCertificates.Kind.allCases)
    func certificatesGiveTheirPublicKey(kind: TestCertificates.Kind) throws {
        let certificate = try made.certificate(kind)
        let key = try #require(SecCertificateCopyKey(certificate))
        let attributes = try #require(SecKeyCopyAttributes(key) as? [String: Any])
        #expect(
            attributes[kSecAttrKeyType as String] as? NSString
                == (kind == .rsa ? kSecAttrKeyTypeRSA : kSecAttrKeyTypeEC))
        #expect(
            attributes[kSecAttrKeySizeInBits as String] as? Int == (kind == .rsa ? 2048 : kind == .root ? 384 : 256))
        #expect(
            attributes[kSecAttrApplicationLabel as String] as? Data == Data(certificate.certificate.publicKeyHash),
            "the hash links the key to its certificate")
    }

    @Test func unsupportedKeyTypesReturnNil() throws {
        _ = try made.run(["genpkey", "-algorithm", "ED25519", "-out", "edwards.key"])
        let bytes = try made.run([
            "req", "-x509", "-new", "-key", "edwards.key", "-config", "openssl.cnf", "-section", "organization",
            "-days",
            "2", "-outform", "DER",
        ])
        let certificate = try #require(SecCertificateCreateWithData(nil, bytes as CFData))
        #expect(SecCertificateCopyKey(certificate) == nil)
        try made.write(bytes, "edwards.der")
        _ = try made.run(["x509", "-inform", "DER", "-in", "edwards.der", "-out", "edwards.pem"])
        let file = try made.run([
            "pkcs12", "-export", "-inkey", "edwards.key", "-in", "edwards.pem", "-passout", "pass:secret",
        ])
        #expect(importing(file).status == errSecDecode)
    }

    @available(*, deprecated)
    private struct Old {
        static func key(_ certificate: SecCertificate) -> SecKey? { SecCertificateCopyPublicKey(certificate) }
    }

    @available(*, deprecated)
    @Test func theDeprecatedCopyPublicKeyReturnsTheSameKey() throws {
        let certificate = try made.certificate(.leaf)
        #expect(Old.key(certificate) == SecCertificateCopyKey(certificate))
        #expect(Old.key(certificate) != nil)
    }

    // MARK: - Identities

    @Test(arguments: [TestCertificates.Kind.rsa, .ellipticCurve])
    func theKeyOfAnIdentitySignsForItsCertificate(kind: TestCertificates.Kind) throws {
        let identity = try imported(kind)
        var certificate: SecCertificate?
        var key: SecKey?
        #expect(SecIdentityCopyCertificate(identity, &certificate) == errSecSuccess)
        #expect(SecIdentityCopyPrivateKey(identity, &key) == errSecSuccess)
        #expect(certificate == (try made.certificate(kind)))
        let privateKey = try #require(key)
        let own = try #require(certificate)
        let publicKey = try #require(SecCertificateCopyKey(own))
        let algorithm: SecKeyAlgorithm =
            kind == .rsa ? .rsaSignatureMessagePKCS1v15SHA256 : .ecdsaSignatureMessageX962SHA256
        let message = Data("message".utf8) as CFData
        let signature = try #require(SecKeyCreateSignature(privateKey, algorithm, message, nil))
        #expect(SecKeyVerifySignature(publicKey, algorithm, message, signature, nil))
        #expect(SecKeyCopyPublicKey(privateKey) == publicKey)
    }

    @Test func identitiesAreEqualByContent() throws {
        let one = try imported(.leaf)
        let other = try imported(.leaf)
        #expect(one !== other)
        #expect(one == other)
        #expect(one.hash == other.hash)
        #expect(one != (try imported(.root)))
    }

    @Test func typeIdentifiersDistinguishIdentitiesFromCertificatesAndKeys() throws {
        let identity: CFTypeRef = try imported(.leaf)
        #expect(CFGetTypeID(identity) == SecIdentityGetTypeID())
        let all: Set = [
            SecIdentityGetTypeID(), SecCertificateGetTypeID(), SecKeyGetTypeID(), SecAccessControlGetTypeID(),
            CFDataGetTypeID(),
        ]
        #expect(all.count == 5)
        #expect((identity as Any) as! SecIdentity == (try imported(.leaf)))
    }

    @Test func aCertificateWithoutItsKeyInTheKeychainMakesNoIdentity() throws {
        var identity: SecIdentity?
        let certificate = try made.certificate(.leaf)
        try Simulator().run {
            #expect(SecIdentityCreateWithCertificate(nil, certificate, &identity) == errSecItemNotFound)
        }
        #expect(identity == nil)
    }

    @Test func identitiesInAnItemListMatchTheirCertificates() throws {
        let match = try CertificateMatch([kSecMatchItemList: [try imported(.leaf)]] as NSDictionary)
        #expect(match.accepts(try made.certificate(.leaf)))
        #expect(!match.accepts(try made.certificate(.root)))
        let key = try #require(SecCertificateCopyKey(try made.certificate(.leaf)))
        let keys = try CertificateMatch([kSecMatchItemList: [key]] as NSDictionary)
        #expect(!keys.accepts(try made.certificate(.leaf)), "a key matches no certificate")
    }

    // MARK: - Imports

    @Test func anImportReturnsLabelKeyIdentifierChainAndIdentity_ot03() throws {
        let file = try made.pkcs12(.leaf, name: "My name", chain: ["root", "intermediate"])
        let (status, items) = importing(file)
        #expect(status == errSecSuccess)
        let item = try #require(items?.first)
        #expect(items?.count == 1)
        #expect(Set(item.keys) == ["label", "keyid", "chain", "identity"])
        #expect(item[kSecImportItemLabel as String] as? String == "My name")
        #expect((item[kSecImportItemKeyID as String] as? Data)?.count == 20)
        let chain = try #require(item[kSecImportItemCertChain as String] as? [SecCertificate])
        #expect(chain == (try [.leaf, .intermediate, .root].map { try made.certificate($0) }))
        let identity = item[kSecImportItemIdentity as String] as CFTypeRef
        #expect(CFGetTypeID(identity) == SecIdentityGetTypeID())
    }

    @Test func withoutAFriendlyNameTheLabelIsTheSummary_ot03() throws {
        let item = try #require(importing(try made.pkcs12(.ellipticCurve)).items?.first)
        #expect(item[kSecImportItemLabel as String] as? String == "Zoë Ångström")
    }

    @Test func aWrongOrMissingPassphraseReturnsAuthFailed_ot03() throws {
        let file = try made.pkcs12(.leaf)
        #expect(importing(file, [kSecImportExportPassphrase: "wrong"]).status == errSecAuthFailed)
        #expect(importing(file, [kSecImportExportPassphrase: ""]).status == errSecAuthFailed)
        #expect(importing(file, [:]).status == errSecAuthFailed)
        let empty = try made.pkcs12(.leaf, passphrase: "")
        #expect(importing(empty, [:]).status == errSecAuthFailed, "an empty passphrase must be given too")
        #expect(importing(empty, [kSecImportExportPassphrase: ""]).status == errSecSuccess)
    }

    @Test func dataThatIsNotPKCS12ReturnsDecode_ot03() throws {
        let file = try made.pkcs12(.leaf)
        for bytes in [Data(), Data("text".utf8), try made.der(.leaf), file.dropLast(), file + Data([0])] {
            #expect(importing(bytes).status == errSecDecode)
            #expect(importing(bytes, [:]).status == errSecDecode, "reported before the missing passphrase")
        }
    }

    @Test func otherFailuresReturnAnInternalErrorWithTheReason_ot03() throws {
        var file = try made.pkcs12(.leaf, more: ["-iter", "65537"])
        file.replaceSubrange((file.count - 3)..<file.count, with: [0x7f, 0xff, 0xff])
        #expect(importing(file).status == -26276)
        let words = SecCopyErrorMessageString(-26276, nil)
        #expect(words?.contains("iterations") == true)
    }

    @Test func optionsOfAWrongTypeAreParameterErrors_ot03() throws {
        let file = try made.pkcs12(.leaf)
        for value in [1, Data("secret".utf8), NSNull(), ["secret"]] as [Any] {
            #expect(importing(file, [kSecImportExportPassphrase: value]).status == errSecParam)
        }
        let options: [CFString: Any] = [kSecImportExportPassphrase: "secret", kSecImportToMemoryOnly: "yes"]
        #expect(importing(file, options).status == errSecParam)
    }

    @Test func unknownOptionsAreIgnored_ot03() throws {
        let options: [CFString: Any] = [kSecImportExportPassphrase: "secret", kSecImportToMemoryOnly: true, "other": 1]
        #expect(importing(try made.pkcs12(.leaf), options).items?.count == 1)
    }

    @Test func aFailedImportLeavesTheResultUnchanged_ot03() throws {
        let before = ["before"] as NSArray
        var items: CFArray? = before
        let wrong = [kSecImportExportPassphrase: "wrong"] as CFDictionary
        #expect(SecPKCS12Import(try made.pkcs12(.leaf) as CFData, wrong, &items) == errSecAuthFailed)
        #expect(items === before)
        #expect(SecPKCS12Import(NSData(), wrong, &items) == errSecDecode)
        #expect(items === before)
    }

    @Test func aFileWithoutIdentitiesReturnsAnEmptyArray_ot03() throws {
        let file = try made.run(["pkcs12", "-export", "-nokeys", "-in", "leaf.pem", "-passout", "pass:secret"])
        let (status, items) = importing(file)
        #expect(status == errSecSuccess)
        #expect(items?.isEmpty == true)
    }
}
