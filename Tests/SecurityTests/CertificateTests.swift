// SPDX-License-Identifier: Apache-2.0

import LatchkeyCertificates
import Security
import TestSupport
import Testing

/// Contents of certificates, compared with the output of `openssl x509`.
@Suite struct CertificateTests {
    private let made: TestCertificates

    init() throws { made = try .shared() }

    @Test(arguments: TestCertificates.Kind.allCases)
    func dataIsReturnedUnchanged(kind: TestCertificates.Kind) throws {
        let der = try made.der(kind)
        let certificate = try made.certificate(kind)
        #expect(SecCertificateCopyData(certificate) as Data == der)
        #expect(CFDataGetLength(SecCertificateCopyData(certificate)) == der.count)
    }

    @Test(arguments: TestCertificates.Kind.allCases)
    func serialNumbersEqualThoseOfOpenSSL(kind: TestCertificates.Kind) throws {
        let bytes = try #require(SecCertificateCopySerialNumberData(made.certificate(kind), nil) as Data?)
        let printed = try made.printed(kind, "-serial").dropFirst("serial=".count)
        let text = bytes.map { String(format: "%02X", $0) }.joined()
        // DER puts a zero byte before a first byte above 0x7f.
        #expect(text == printed || text == "00" + printed)
        #expect(!text.hasPrefix("00") || bytes[1] > 0x7f)
    }

    @Test func aSerialNumberWithItsFirstBitSetHasALeadingZeroByte() throws {
        let bytes = SecCertificateCopySerialNumberData(try made.certificate(.rsa), nil)
        #expect(bytes as Data? == Data([0x00, 0x80, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff, 0x00, 0x11]))
    }

    @Test(arguments: TestCertificates.Kind.allCases)
    func datesEqualThoseOfOpenSSL(kind: TestCertificates.Kind) throws {
        let certificate = try made.certificate(kind)
        let format = ISO8601DateFormatter()
        format.formatOptions = [.withFullDate, .withFullTime, .withSpaceBetweenDateAndTime]
        for (option, date) in [
            ("-startdate", SecCertificateCopyNotValidBeforeDate(certificate)),
            ("-enddate", SecCertificateCopyNotValidAfterDate(certificate)),
        ] {
            let printed = try made.printed(kind, option, "-dateopt", "iso_8601")
            let expected = try #require(printed.split(separator: "=").last)
            #expect(try format.string(from: #require(date) as Date) == expected, "\(option)")
        }
    }

    @Test func datesReachFrom1949To9999() throws {
        let certificate = try made.certificate(.centuries)
        #expect(SecCertificateCopyNotValidBeforeDate(certificate)?.timeIntervalSince1970 == -662_590_555)
        #expect(SecCertificateCopyNotValidAfterDate(certificate)?.timeIntervalSince1970 == 253_402_300_799)
    }

    @Test(arguments: [
        (TestCertificates.Kind.rsa, "Rsa   Test Certificate"), (.ellipticCurve, "Zoë Ångström"),
        (.leaf, "Latchkey Test Leaf"), (.described, "Name"),
    ])
    func commonNamesAreReturnedAsText(kind: TestCertificates.Kind, name: String) throws {
        var text: CFString?
        #expect(SecCertificateCopyCommonName(try made.certificate(kind), &text) == errSecSuccess)
        #expect(text as String? == name)
        #expect(try made.printed(kind, "-subject", "-nameopt", "utf8,sep_multiline").contains("CN=\(name)"))
    }

    @Test(arguments: [TestCertificates.Kind.units, .organization, .place, .nameless])
    func withoutACommonNameAnErrorIsReturnedAndNothingIsSet(kind: TestCertificates.Kind) throws {
        var text: CFString? = "before"
        #expect(SecCertificateCopyCommonName(try made.certificate(kind), &text) == -26276)
        #expect(text == "before")
    }

    @Test(arguments: [
        (TestCertificates.Kind.rsa, "Rsa   Test Certificate"), (.ellipticCurve, "Zoë Ångström"),
        (.units, "Third Unit, Second Unit, First Unit"), (.organization, "Example Organisation"),
        (.nameless, "mailbox@example.org"), (.place, "Town, DE"), (.described, "Name (What it is for)"),
    ])
    func summariesUseTheFirstAvailablePartOfTheSubject(kind: TestCertificates.Kind, summary: String) throws {
        #expect(SecCertificateCopySubjectSummary(try made.certificate(kind)) as String? == summary)
    }

    @Test(arguments: [
        (TestCertificates.Kind.ellipticCurve, ["zoe@example.org", "Second.Address@Example.net", "zoe@example.com"]),
        (.nameless, ["mailbox@example.org"]), (.rsa, []),
    ])
    func emailAddressesComeFromAlternativeNamesAndThenTheSubject(
        kind: TestCertificates.Kind, addresses: [String]
    ) throws {
        var found: CFArray?
        #expect(SecCertificateCopyEmailAddresses(try made.certificate(kind), &found) == errSecSuccess)
        #expect(found as? [String] == addresses)
        let printed = try made.printed(kind, "-email").split(separator: "\n").map(String.init)
        #expect(Set(printed) == Set(addresses))
    }

    @Test(arguments: [TestCertificates.Kind.root, .intermediate, .leaf, .ellipticCurve])
    func thePublicKeyHashEqualsTheKeyIdentifierOfOpenSSL(kind: TestCertificates.Kind) throws {
        // "subjectKeyIdentifier = hash" is SHA-1 of the contents of the BIT STRING (RFC 5280, section 4.2.1.2, method 1).
        let certificate = try made.certificate(kind).certificate
        #expect(certificate.subjectKeyIdentifier == certificate.publicKeyHash)
        let printed = try made.printed(kind, "-ext", "subjectKeyIdentifier").split(separator: "\n").last
        let text = certificate.publicKeyHash.map { String(format: "%02X", $0) }.joined(separator: ":")
        #expect(printed?.trimmingCharacters(in: .whitespaces) == text)
    }

    @Test func aCertificateWithoutAKeyIdentifierHasNone() throws {
        #expect(try made.certificate(.leaf).certificate.version == 3)
        // One of version 1, which OpenSSL 3.5 no longer writes.
        let old = try #require(Repository.inputs("certificate").first { $0.name == "centuries" })
        let certificate = try #require(Certificate(der: old.bytes))
        #expect(certificate.version == 1)
        #expect(certificate.subjectKeyIdentifier == nil)
        #expect(Certificate.encoding == 3)
    }

    @Test(arguments: TestCertificates.Kind.allCases)
    func publicKeysEqualThoseOfOpenSSL(kind: TestCertificates.Kind) throws {
        let pem = try made.printed(kind, "-pubkey")
        let lines = pem.split(separator: "\n").filter { !$0.hasPrefix("-----") }.joined()
        #expect(Data(try made.certificate(kind).certificate.subjectPublicKeyInfo) == Data(base64Encoded: lines))
    }

    @Test func normalizedNamesFoldPrintableStringsOnly() throws {
        let certificate = try made.certificate(.rsa)
        let subject = try #require(SecCertificateCopyNormalizedSubjectSequence(certificate) as Data?)
        let issuer = SecCertificateCopyNormalizedIssuerSequence(certificate) as Data?
        #expect(subject == issuer, "self-signed")
        for text in ["DE", "EXAMPLE TRUST", "RSA TEST CERTIFICATE"] {
            #expect(subject.range(of: Data(text.utf8)) != nil)
        }
        #expect(subject.range(of: Data("Rsa".utf8)) == nil)
        let accents = try made.certificate(.ellipticCurve)
        let untouched = SecCertificateCopyNormalizedSubjectSequence(accents) as Data?
        #expect(untouched == Data(accents.certificate.subject))
        #expect(untouched?.range(of: Data("Zoë Ångström".utf8)) != nil)
    }

    @Test func chainsAreLinkedByNormalizedNames() throws {
        let leaf = try made.certificate(.leaf)
        let intermediate = try made.certificate(.intermediate)
        let root = try made.certificate(.root)
        #expect(
            SecCertificateCopyNormalizedIssuerSequence(leaf)
                == SecCertificateCopyNormalizedSubjectSequence(intermediate))
        #expect(leaf.certificate.namesAsIssuer(intermediate.certificate))
        #expect(intermediate.certificate.namesAsIssuer(root.certificate))
        #expect(!leaf.certificate.namesAsIssuer(root.certificate))
    }

    @Test func certificatesAreEqualByContent() throws {
        let one = try made.certificate(.rsa)
        let other = try made.certificate(.rsa)
        #expect(one !== other)
        #expect(one == other)
        #expect(one.hash == other.hash)
        #expect(one != (try made.certificate(.leaf)))
        #expect([one: 1][other] == 1)
    }

    @Test func typeIdentifiersDistinguishCertificatesFromOtherObjects() throws {
        let object: CFTypeRef = try made.certificate(.rsa)
        #expect(CFGetTypeID(object) == SecCertificateGetTypeID())
        #expect(CFGetTypeID(NSData()) != SecCertificateGetTypeID())
        #expect(CFGetTypeID(NSObject()) != SecCertificateGetTypeID())
        #expect(object as? SecCertificate != nil)
        #expect((object as Any) as! SecCertificate == (try made.certificate(.rsa)))
    }

    @available(*, deprecated)
    private struct Old {
        static func serial(_ certificate: SecCertificate) -> CFData? { SecCertificateCopySerialNumber(certificate) }
        static func names(_ certificate: SecCertificate) -> [CFData?] {
            [
                SecCertificateCopyNormalizedIssuerContent(certificate, nil),
                SecCertificateCopyNormalizedSubjectContent(certificate, nil),
            ]
        }
    }

    @available(*, deprecated)
    @Test func deprecatedFunctionsReturnTheSameValues() throws {
        let certificate = try made.certificate(.leaf)
        #expect(Old.serial(certificate) == SecCertificateCopySerialNumberData(certificate, nil))
        let sequences = [
            SecCertificateCopyNormalizedIssuerSequence(certificate),
            SecCertificateCopyNormalizedSubjectSequence(certificate),
        ]
        for (content, sequence) in zip(Old.names(certificate), sequences) {
            // The contents have 1 to 127 bytes, so the header of the sequence is a tag and one length byte.
            #expect(content as Data? == (sequence as Data?)?.dropFirst(2))
        }
    }
}
