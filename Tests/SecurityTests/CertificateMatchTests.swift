// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import Security
import Testing

/// Each match key of certificates, tested alone.
@Suite struct CertificateMatchTests {
    private let made: TestCertificates

    init() throws { made = try .shared() }

    private func match(_ query: [CFString: Any]) throws(Failure) -> CertificateMatch {
        try CertificateMatch(query as NSDictionary)
    }

    /// The kinds of test certificates that a query matches.
    private func matching(_ query: [CFString: Any], now: Date = Date()) throws -> Set<TestCertificates.Kind> {
        let match = try match(query)
        return try Set(TestCertificates.Kind.allCases.filter { match.accepts(try made.certificate($0), now: now) })
    }

    // MARK: - Subjects

    @Test(arguments: [
        ("Ångström", [TestCertificates.Kind.ellipticCurve]), ("Latchkey Test", [.root, .intermediate, .leaf]),
        ("latchkey", []), ("zoe@example.com", [.ellipticCurve]), ("Second", [.units]),
        ("Organisation", [.units, .organization]),
        ("Test Leaf", [.leaf]), ("Leaf Test", []), ("mailbox", []), ("Test Certificate", [.rsa]),
    ])
    func subjectContainsSearchesEveryValue(text: String, kinds: [TestCertificates.Kind]) throws {
        #expect(try matching([kSecMatchSubjectContains: text]) == Set(kinds))
    }

    @Test(arguments: [
        ("Latchkey Test R", [TestCertificates.Kind.root]), ("Second", [.units]), ("Unit", []),
        ("Zoë", [.ellipticCurve]), ("zoë", []),
    ])
    func subjectStartsWithIsAnchored(text: String, kinds: [TestCertificates.Kind]) throws {
        #expect(try matching([kSecMatchSubjectStartsWith: text]) == Set(kinds))
    }

    @Test(arguments: [
        ("Unit", [TestCertificates.Kind.units]), ("Root", [.root]), ("Latchkey", []), ("GmbH", [.ellipticCurve]),
        ("gmbh", []),
    ])
    func subjectEndsWithIsAnchored(text: String, kinds: [TestCertificates.Kind]) throws {
        #expect(try matching([kSecMatchSubjectEndsWith: text]) == Set(kinds))
    }

    @Test(arguments: [
        ("Latchkey Test Root", [TestCertificates.Kind.root]), ("Latchkey Test", []), ("First Unit", [.units]),
        ("Latchkey Tests", [.root, .intermediate, .leaf]), ("", []),
    ])
    func subjectWholeStringEqualsAWholeValue(text: String, kinds: [TestCertificates.Kind]) throws {
        #expect(try matching([kSecMatchSubjectWholeString: text]) == Set(kinds))
    }

    @Test func anEmptyStringMatchesEveryValueButNoEmptySubject() throws {
        let all = Set(TestCertificates.Kind.allCases).subtracting([.nameless])
        for key in [kSecMatchSubjectContains, kSecMatchSubjectStartsWith, kSecMatchSubjectEndsWith] {
            #expect(try matching([key: ""]) == all)
        }
    }

    @Test func severalSubjectKeysMustAllMatch() throws {
        #expect(try matching([kSecMatchSubjectContains: "Test", kSecMatchSubjectEndsWith: "Leaf"]) == [.leaf])
        #expect(
            try matching([kSecMatchSubjectStartsWith: "First", kSecMatchSubjectEndsWith: "Organisation"]) == [.units])
    }

    @Test func caseInsensitiveAppliesToEverySubjectKey() throws {
        for key in [
            kSecMatchSubjectContains, kSecMatchSubjectStartsWith, kSecMatchSubjectEndsWith, kSecMatchSubjectWholeString,
        ] {
            #expect(try matching([key: "LATCHKEY TEST ROOT"]).isEmpty)
            #expect(try matching([key: "LATCHKEY TEST ROOT", kSecMatchCaseInsensitive: false]).isEmpty)
            #expect(try matching([key: "LATCHKEY TEST ROOT", kSecMatchCaseInsensitive: true]) == [.root])
        }
        #expect(
            try matching([kSecMatchSubjectContains: "ÅNGSTRÖM", kSecMatchCaseInsensitive: true]) == [.ellipticCurve])
        #expect(try matching([kSecMatchSubjectContains: "ANGSTROM", kSecMatchCaseInsensitive: true]).isEmpty)
    }

    @Test func diacriticInsensitiveIgnoresAccents() throws {
        for key in [
            kSecMatchSubjectContains, kSecMatchSubjectStartsWith, kSecMatchSubjectEndsWith, kSecMatchSubjectWholeString,
        ] {
            #expect(try matching([key: "Zoe Angstrom"]).isEmpty)
            #expect(try matching([key: "Zoe Angstrom", kSecMatchDiacriticInsensitive: true]) == [.ellipticCurve])
            #expect(try matching([key: "zoe angstrom", kSecMatchDiacriticInsensitive: true]).isEmpty)
            let both: [CFString: Any] = [
                key: "zoe ANGSTROM", kSecMatchDiacriticInsensitive: true, kSecMatchCaseInsensitive: true,
            ]
            #expect(try matching(both) == [.ellipticCurve])
        }
    }

    @Test func widthInsensitiveMatchesFullWidthForms() throws {
        let wide = "Ｌｅａｆ"
        #expect(try matching([kSecMatchSubjectEndsWith: wide]).isEmpty)
        #expect(try matching([kSecMatchSubjectEndsWith: wide, kSecMatchWidthInsensitive: true]) == [.leaf])
    }

    @Test func composedAndDecomposedAccentsAreEqual() throws {
        #expect(try matching([kSecMatchSubjectContains: "Zoe\u{308}"]) == [.ellipticCurve])
    }

    // MARK: - E-mail addresses

    @Test(arguments: [
        "zoe@example.org", "zoe@example.com", "Second.Address@Example.net", "second.address@example.NET",
    ])
    func emailAddressIfPresentMatchesTheAddressAndCertificatesWithoutAny(address: String) throws {
        #expect(
            try matching([kSecMatchEmailAddressIfPresent: address])
                == Set(TestCertificates.Kind.allCases).subtracting([.nameless]))
    }

    @Test func anUnknownEmailAddressMatchesOnlyCertificatesWithoutAny() throws {
        let without = Set(TestCertificates.Kind.allCases).subtracting([.nameless, .ellipticCurve])
        #expect(try matching([kSecMatchEmailAddressIfPresent: "zoe@example"]) == without)
    }

    // MARK: - Dates

    @Test func validOnDateIncludesBothEndsOfTheValidity() throws {
        let start = Date(timeIntervalSince1970: -662_590_555)
        let end = Date(timeIntervalSince1970: 253_402_300_799)
        #expect(try matching([kSecMatchValidOnDate: start]) == [.centuries])
        #expect(try matching([kSecMatchValidOnDate: end]) == [.centuries])
        #expect(try matching([kSecMatchValidOnDate: start.addingTimeInterval(-1)]).isEmpty)
        #expect(try matching([kSecMatchValidOnDate: end.addingTimeInterval(1)]).isEmpty)
        #expect(try matching([kSecMatchValidOnDate: Date(timeIntervalSince1970: 0)]) == [.centuries, .utcTime])
    }

    @Test func validOnNullMeansNow() throws {
        let query: [CFString: Any] = [kSecMatchValidOnDate: NSNull()]
        #expect(try matching(query, now: Date(timeIntervalSince1970: 0)) == [.centuries, .utcTime])
        #expect(try matching(query) == Set(TestCertificates.Kind.allCases))
        #expect(try matching(query, now: .distantFuture).isEmpty == false)
    }

    // MARK: - Issuers

    @Test func issuersMatchTheCertificatesOwnIssuer() throws {
        let root = Data(try made.certificate(.root).certificate.subject)
        #expect(try matching([kSecMatchIssuers: [root]]) == [.root, .intermediate])
        let normal = Data(try made.certificate(.root).certificate.normalizedSubject)
        #expect(try matching([kSecMatchIssuers: [normal]]) == [.root, .intermediate])
    }

    @Test func issuersMatchAnyKnownCertificateOfTheChain() throws {
        let root = Data(try made.certificate(.root).certificate.subject)
        let intermediate = try made.certificate(.intermediate)
        let leaf = try made.certificate(.leaf)
        let match = try match([kSecMatchIssuers: [Data([0x30, 0]), root]])
        #expect(!match.accepts(leaf))
        var asked: [Data] = []
        let isAccepted = match.accepts(leaf) { subject in
            asked.append(subject)
            return [leaf, intermediate]
        }
        #expect(isAccepted)
        #expect(asked == [Data(intermediate.certificate.normalizedSubjectContent)])
        #expect(!match.accepts(try made.certificate(.units)) { _ in [leaf, intermediate] })
    }

    @Test func anEmptyIssuerListAndMalformedNamesMatchNothing() throws {
        #expect(try matching([kSecMatchIssuers: [Data]()]).isEmpty)
        #expect(try matching([kSecMatchIssuers: [Data("text".utf8)]]).isEmpty)
        // The empty name is valid: the test certificate with an empty subject has an empty issuer too.
        #expect(try matching([kSecMatchIssuers: [Data([0x30, 0])]]) == [.nameless])
    }

    // MARK: - Items

    @Test func itemListAcceptsCertificatesAndPersistentReferences() throws {
        let leaf = try made.certificate(.leaf)
        let reference = Data([1, 2, 3])
        #expect(try matching([kSecMatchItemList: [leaf]]) == [.leaf])
        #expect(try matching([kSecMatchItemList: [leaf, try made.certificate(.root)]]) == [.leaf, .root])
        #expect(try matching([kSecMatchItemList: [Any]()]).isEmpty)
        let match = try match([kSecMatchItemList: [leaf, reference] as [Any]])
        let root = try made.certificate(.root)
        #expect(match.accepts(root, persistentReference: reference))
        #expect(!match.accepts(root, persistentReference: Data([1, 2])))
        #expect(!match.accepts(root))
        #expect(match.accepts(leaf))
    }

    // MARK: - Combinations and refusals

    @Test func noMatchKeyAcceptsEverything() throws {
        #expect(try matching([kSecClass: kSecClassCertificate]) == Set(TestCertificates.Kind.allCases))
        let empty = try match([kSecClass: kSecClassCertificate, kSecMatchLimit: kSecMatchLimitAll])
        #expect(empty.isEmpty)
        #expect(try match([kSecMatchCaseInsensitive: true]).isEmpty)
        #expect(try !match([kSecMatchSubjectContains: ""]).isEmpty)
    }

    @Test func everyMatchKeyMustHold() throws {
        let query: [CFString: Any] = [
            kSecMatchSubjectContains: "Latchkey",
            kSecMatchItemList: [try made.certificate(.leaf), try made.certificate(.rsa)],
            kSecMatchValidOnDate: NSNull(), kSecMatchEmailAddressIfPresent: "a@b",
        ]
        #expect(try matching(query) == [.leaf])
    }

    @Test func trustedOnlyIsRefusedWhenItIsTrue() throws {
        #expect(throws: Failure(.unimplemented)) { try match([kSecMatchTrustedOnly: true]) }
        #expect(throws: Failure(.unimplemented)) { try match([kSecMatchTrustedOnly: kCFBooleanTrue as Any]) }
        #expect(try match([kSecMatchTrustedOnly: false]).isEmpty)
    }

    @Test(arguments: ["m_Policy", "m_SearchList", "m_HostOrSubdomainOfHost"])
    func unsupportedMatchKeysAreUnimplemented(name: String) {
        #expect(throws: Failure(.unimplemented)) { try match([name as NSString: "value"]) }
    }

    @Test func wrongTypesAndUnknownKeysAreParameterErrors_kc01() throws {
        let certificate = try made.certificate(.leaf)
        let wrong: [(CFString, [Any])] = [
            (kSecMatchIssuers, [Data(), "text", ["text"], [1], NSNull(), [[Data()]]]),
            (kSecMatchSubjectContains, [1, Data(), ["text"], NSNull()]),
            (kSecMatchSubjectStartsWith, [true, Date()]), (kSecMatchSubjectEndsWith, [1]),
            (kSecMatchSubjectWholeString, [NSNull()]), (kSecMatchEmailAddressIfPresent, [1, ["a@b"]]),
            (kSecMatchCaseInsensitive, ["true", 2, Data(), NSNull()]), (kSecMatchDiacriticInsensitive, ["yes"]),
            (kSecMatchWidthInsensitive, [0.5]), (kSecMatchTrustedOnly, ["no", 7]),
            (kSecMatchValidOnDate, ["now", 0, true, Data()]),
            (kSecMatchItemList, [certificate, Data(), ["text"], [NSNull()], [[certificate]], "text"]),
            ("m_Nothing", [true]), ("m_", [true]),
        ]
        for (key, values) in wrong {
            for value in values {
                #expect(throws: Failure(.invalidParameter), "\(key): \(value)") { try match([key: value]) }
            }
        }
    }
}
