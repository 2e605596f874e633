// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import LatchkeySignIn

/// Which names of relying parties belong to which hosts.
@Suite struct RelyingPartyServerTests {
    private func refusal(_ address: String, _ party: String) throws -> SignInError.Kind? {
        let url = try #require(URL(string: address), "\(address)")
        do throws(SignInError) {
            _ = try RelyingPartyServer(url: url, relyingPartyID: party)
            return nil
        } catch {
            return error.kind
        }
    }

    @Test(arguments: [
        ("https://example.com", "example.com"), ("https://login.example.com", "example.com"),
        ("https://a.b.example.com:8443/", "b.example.com"), ("https://EXAMPLE.com", "example.com"),
        ("https://192.0.2.1", "192.0.2.1"), ("https://[2001:db8::1]", "[2001:db8::1]"),
        ("http://localhost:8440", "localhost"), ("http://127.0.0.1:8440", "127.0.0.1"),
        ("http://[::1]:8440", "[::1]"), ("https://localhost", "localhost"),
        ("https://xn--bcher-kva.example", "xn--bcher-kva.example"),
    ]) func hostOrDomainAboveItIsAccepted(address: String, party: String) throws {
        #expect(try refusal(address, party) == nil)
    }

    @Test(arguments: [
        ("https://example.com", "example.org"), ("https://example.com", "login.example.com"),
        ("https://notexample.com", "example.com"), ("https://example.com", "com"), ("https://example.com", ".com"),
        ("https://example.com", ""), ("https://example.com", "Example.com"), ("https://example.com", "example.com."),
        ("https://example.com", "example..com"), ("https://intranet", "intranet"), ("https://a.localhost", "localhost"),
        ("https://192.0.2.1", "0.2.1"), ("https://192.0.2.1", "2.1"), ("https://example.com", "example.com\u{0}"),
        ("https://example.com", "https://example.com"), ("https://example.com", "example.com/"),
        ("https://b\u{fc}cher.example", "b\u{fc}cher.example"), ("https://example.com", "exam\u{200b}ple.com"),
        ("http://127.0.0.1", "localhost"), ("https://[2001:db8::1]", "2001:db8::1"),
    ]) func anotherNameIsRefused(address: String, party: String) throws {
        #expect(try refusal(address, party) == .invalidServer(.relyingPartyID))
    }

    @Test(arguments: [
        "http://example.com", "http://192.0.2.1", "http://localhost.example.com", "ftp://example.com", "example.com",
        "https://ada@example.com", "https://ada:secret@example.com", "https://example.com/path",
        "https://example.com?query", "https://example.com#fragment", "file:///etc/passwd", "https://127.1",
        "https://0x7f000001", "https://2130706433", "https://0177.0.0.1", "https://exa_mple.com", "https://-a.com",
        "https://example.com.", "https://example.com:0", "http://127.0.0.1.example.com",
    ]) func addressIsRefused(address: String) throws {
        #expect(try refusal(address, "example.com") == .invalidServer(.address))
    }

    /// `make test SUITE=server` has a proxy that shows which of these variables URLSession uses.
    @Test(
        arguments: [
            (["http_proxy": "p"], nil), (["all_proxy": "p"], nil), (["ALL_PROXY": "p"], nil),
            (["http_proxy": "", "all_proxy": "p"], nil), (["http_proxy": "p", "no_proxy": ""], nil),
            (["http_proxy": "p", "no_proxy": "example.com"], nil),
            (["http_proxy": "p", "no_proxy": "localhost:80"], nil),
            (["http_proxy": "p", "no_proxy": "a", "NO_PROXY": "localhost"], nil),
            (["http_proxy": "p", "no_proxy": "a b,localhost"], nil), (["http_proxy": "p", "no_proxy": " *"], nil),
            ([:], "http://localhost"), (["http_proxy": ""], "http://localhost"),
            (["HTTP_PROXY": "p", "https_proxy": "p", "HTTPS_PROXY": "p"], "http://localhost"),
            (["http_proxy": "p", "no_proxy": "*"], "http://localhost"),
            (["http_proxy": "p", "no_proxy": "a, LocalHost"], "http://localhost"),
            (["http_proxy": "p", "no_proxy": "", "NO_PROXY": "localhost"], "http://localhost"),
        ] as [([String: String], String?)]) func aProxyMustNotReadRequests(
            environment: [String: String], address: String?
        ) throws
    {
        let url = try #require(URL(string: "http://LOCALHOST"))
        #expect(ServerAddress(url, environment: environment)?.url.absoluteString == address)
        let secure = try #require(URL(string: "https://localhost"))
        #expect(ServerAddress(secure, environment: environment) != nil, "a proxy passes on TLS without reading it")
    }

    @Test func anExceptionForAnAddressIsThatAddress() throws {
        for (address, exception, isAccepted) in [
            ("http://127.0.0.1", "127.0.0.1", true), ("http://127.0.0.1", "localhost", false),
            ("http://127.0.0.2", "127.0.0.1", false), ("http://[::1]", "::1", true), ("http://[::1]", "[::1]", false),
        ] {
            let environment = ["all_proxy": "p", "no_proxy": exception]
            let url = try #require(URL(string: address))
            #expect((ServerAddress(url, environment: environment) != nil) == isAccepted, "\(address) \(exception)")
        }
    }

    @Test func aNameThatHidesTheActIsRefused() throws {
        let label = String(repeating: "a", count: 48)
        let (longest, longer) = ("\(label).\(label).ab", "\(label).\(label).abc")
        #expect(longest.utf8.count == 100)
        #expect(try refusal("https://\(longest)", longest) == nil)
        #expect(try refusal("https://\(longer)", longer) == .invalidServer(.relyingPartyID))
    }

    @Test func addressesOfOneServerAreEqual() throws {
        let addresses = ["https://example.com", "https://EXAMPLE.com:443/", "HTTPS://example.com/"]
        let servers = try addresses.map {
            try RelyingPartyServer(url: #require(URL(string: $0)), relyingPartyID: "example.com")
        }
        #expect(Set(servers).count == 1)
        #expect(servers[0].url.absoluteString == "https://example.com")
    }
}
