// SPDX-License-Identifier: Apache-2.0

import LatchkeySimulator
import Security
import TestPromises
import Testing

/// Secrets of any bytes, up to 1 MiB, are returned unchanged.
@Suite struct SecretRoundTripTests {
    private static let limit = 1 << 20
    private static let secrets: [(String, Data)] = [
        ("no bytes", Data()), ("one NUL", Data([0])), ("NULs around text", Data("\0secret\0".utf8)),
        ("a newline", Data("\n".utf8)), ("lines of both kinds", Data("one\r\ntwo\n".utf8)),
        ("invalid UTF-8", Data([0xff, 0xfe, 0xc0, 0x80, 0xed, 0xa0, 0x80])), ("every byte", Data(0...255)),
        ("1 MiB", Data(repeating: 0xa5, count: limit)), ("1 MiB less one", Data(count: limit - 1)),
        ("text beyond the first plane", Data("🔑\u{10FFFF}".utf8)),
    ]
    private let simulator: Simulator

    init() throws { simulator = try Simulator() }

    @Test(.promise("abuse.34"), arguments: secrets.indices)
    func anySecretRoundTrips_abuse34(index: Int) {
        let (name, bytes) = Self.secrets[index]
        simulator.run {
            #expect(add(Query.password(name).with(kSecValueData, bytes)) == errSecSuccess, "\(name)")
            let found = find(Query.password(name).data)
            #expect(found.status == errSecSuccess, "\(name)")
            #expect(found.result as? Data == bytes, "\(name)")
        }
    }

    @Test(arguments: secrets.indices)
    func anySecretRoundTripsAfterAnUpdate_abuse34(index: Int) {
        let (name, bytes) = Self.secrets[index]
        simulator.run {
            #expect(add(.password("account").secret("first")) == errSecSuccess)
            #expect(update(.password("account"), [kSecValueData as String: bytes]) == errSecSuccess, "\(name)")
            #expect(find(Query.password("account").data).result as? Data == bytes, "\(name)")
        }
    }

    @Test(.promise("abuse.34")) func emptySecretDiffersFromNoSecret_abuse34() throws {
        try simulator.run { () throws in
            #expect(add(Query.password("empty").with(kSecValueData, Data())) == errSecSuccess)
            #expect(add(.password("none")) == errSecSuccess)
            let empty = try #require(find(Query.password("empty").data.attributes).result as? Query)
            let none = try #require(find(Query.password("none").data.attributes).result as? Query)
            #expect(empty[kSecValueData as String] as? Data == Data())
            #expect(none[kSecValueData as String] == nil)
        }
    }

    @Test(.promise("abuse.34"), arguments: [limit + 1, 2 << 20, 5 << 20])
    func secretAboveTheLimitReturnsDataTooLarge_abuse34(length: Int) {
        simulator.run {
            let bytes = Data(count: length)
            #expect(add(Query.password("new").with(kSecValueData, bytes)) == errSecDataTooLarge)
            #expect(exists(.password("new")) == errSecItemNotFound)
            #expect(add(.password("old").secret()) == errSecSuccess)
            #expect(update(.password("old"), [kSecValueData as String: bytes]) == errSecDataTooLarge)
            #expect(secret(.password("old")) == "secret")
        }
    }

    @Test func attributesAcceptAnyTextUpTo64KiB() {
        let texts = ["", "\0", "a\0b", "\n", "é", "e\u{301}", "🔑", String(repeating: "x", count: 64 << 10)]
        simulator.run {
            for (number, text) in texts.enumerated() {
                let item = Query.password(text, service: "service \(number)")
                #expect(add(item.secret("\(number)")) == errSecSuccess)
                #expect(secret(item) == "\(number)")
                let found = find(item.attributes).result as? Query
                #expect((found?[kSecAttrAccount as String] as? String)?.utf8.elementsEqual(text.utf8) == true)
            }
            let long = String(repeating: "x", count: (64 << 10) + 1)
            #expect(add(.password(long)) == errSecDataTooLarge)
            #expect(exists(.password(long)) == errSecDataTooLarge)
        }
    }

    /// Swift compares text by canonical equivalence, but the keychain compares its bytes.
    @Test func canonicallyEquivalentTextsAreDifferentAccounts() {
        simulator.run {
            #expect(add(.password("\u{e9}").secret("one code point")) == errSecSuccess)
            #expect(add(.password("e\u{301}").secret("two code points")) == errSecSuccess)
            #expect(secret(.password("\u{e9}")) == "one code point")
            #expect(secret(.password("e\u{301}")) == "two code points")
            #expect(add(Query.password("comment").with(kSecAttrComment, "\u{e9}")) == errSecSuccess)
            #expect(exists(Query.password().with(kSecAttrComment, "e\u{301}")) == errSecItemNotFound)
        }
    }
}
