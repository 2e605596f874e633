// SPDX-License-Identifier: Apache-2.0

import LatchkeySimulator
import Security
import Testing

@Suite struct DeleteTests {
    private let simulator: Simulator

    init() throws {
        simulator = try Simulator()
        simulator.run {
            for account in ["one", "two", "three"] {
                #expect(add(.password(account, service: account == "three" ? "b" : "a").secret()) == errSecSuccess)
            }
        }
    }

    @Test func aDeletionRemovesEveryMatch_KC04() {
        simulator.run {
            #expect(delete(.password(service: "a")) == errSecSuccess)
            #expect(exists(.password(service: "a")) == errSecItemNotFound)
            #expect(secret(.password("three")) == "secret")
        }
    }

    @Test func aDeletionByClassRemovesEveryItemOfTheClass_KC04() {
        simulator.run {
            #expect(delete(.password()) == errSecSuccess)
            #expect(delete(.password()) == errSecItemNotFound)
        }
    }

    @Test func aDeletionWithoutAMatchReturnsItemNotFound() {
        simulator.run { #expect(delete(.password("four")) == errSecItemNotFound) }
    }

    @Test func limitsAndMatchKeysAreRefused_KC04() {
        simulator.run {
            for limit: Any in [kSecMatchLimitOne, 0, 1, 2] {
                #expect(delete(Query.password("one").with(kSecMatchLimit, limit)) == errSecParam)
            }
            let skip = Query.password("one").with(kSecUseAuthenticationUI, kSecUseAuthenticationUISkip)
            #expect(delete(skip) == errSecParam)
            #expect(secret(.password("one")) == "secret")
        }
    }

    /// As on macOS; iOS refuses it, and there is no danger in it.
    @Test func matchLimitAllIsAcceptedAlone_KC04() {
        simulator.run {
            let other = Query.password(service: "a").all.with(kSecMatchCaseInsensitive, true)
            #expect(delete(other) == errSecParam)
            #expect(secret(.password("one", service: "a")) == "secret")
            #expect(delete(Query.password(service: "a").all) == errSecSuccess)
            #expect(exists(.password(service: "a")) == errSecItemNotFound)
            #expect(secret(.password("three")) == "secret")
        }
    }

    @Test func returnKeysAreIgnored() {
        simulator.run { #expect(delete(Query.password("one").data.attributes) == errSecSuccess) }
    }

    /// Published code deletes with the same dictionary that it adds afterwards.
    @Test func theSecretInAQueryIsIgnored() {
        simulator.run {
            let item = Query.password("one", service: "a").secret("new")
            #expect(delete(item) == errSecSuccess)
            #expect(add(item) == errSecSuccess)
            #expect(secret(.password("one")) == "new")
        }
    }

    @Test func aDeletedItemCanBeAddedAgain() {
        simulator.run {
            #expect(delete(.password("one")) == errSecSuccess)
            #expect(add(.password("one", service: "a").secret("again")) == errSecSuccess)
            #expect(secret(.password("one")) == "again")
        }
    }
}
