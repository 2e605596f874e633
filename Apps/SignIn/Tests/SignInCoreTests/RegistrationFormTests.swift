// SPDX-License-Identifier: Apache-2.0

import LatchkeySignIn
import Testing

@testable import SignInCore

/// How what is typed becomes an account.
@Suite struct RegistrationFormTests {
    @Test(arguments: [
        ("login.example.com", "", "https://login.example.com", "login.example.com"),
        (" login.example.com ", "example.com", "https://login.example.com", "example.com"),
        ("https://login.example.com:8443", "", "https://login.example.com:8443", "login.example.com"),
        ("localhost:8080", "", "http://localhost:8080", "localhost"),
        ("127.0.0.1:8080", "", "http://127.0.0.1:8080", "127.0.0.1"),
        ("http://Localhost:8080", "", "http://Localhost:8080", "localhost"),
    ]) func anAddressNeedsNoScheme(server: String, name: String, address: String, relyingParty: String) throws {
        let form = RegistrationForm(server: server, relyingParty: name, user: " ada ", code: "1")
        let account = try #require(form.account)
        #expect(account.address.absoluteString == address)
        #expect(account.relyingPartyID == relyingParty)
        #expect(account.user == "ada")
        _ = try account.server()
    }

    @Test(arguments: ["", " ", "https://", "a b", "://x"]) func whatIsNoAddressIsRefused(server: String) {
        #expect(RegistrationForm(server: server, user: "ada", code: "1").account == nil)
    }

    /// Without TLS an attacker on the network could answer; only this machine is exempt.
    @Test(arguments: [("http://example.com", ""), ("ftp://example.com", ""), ("example.com", "example.org")])
    func aServerThatIsNotSafeIsRefused(server: String, name: String) throws {
        let account = try #require(RegistrationForm(server: server, relyingParty: name, user: "ada", code: "1").account)
        #expect(throws: SignInError.self) { try account.server() }
    }

    @Test func aFormNeedsServerUserAndCode() {
        #expect(RegistrationForm(server: "a", user: "b", code: "c").isComplete)
        for form in [
            RegistrationForm(user: "b", code: "c"), RegistrationForm(server: "a", code: "c"),
            RegistrationForm(server: "a", user: "b", code: " "),
        ] { #expect(!form.isComplete) }
    }
}
