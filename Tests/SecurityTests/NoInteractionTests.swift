// SPDX-License-Identifier: Apache-2.0

import LatchkeySimulator
import LocalAuthentication
import Security
import TestPromises
import Testing

/// Queries that forbid interaction show no prompt: a touch that the script has queued is still queued afterwards.
@Suite struct NoInteractionTests {
    private let simulator: Simulator
    private let item = Query.password("account")

    init() throws {
        simulator = try Simulator()
        simulator.run { #expect(add(item.secret().under(.userPresence)) == errSecSuccess) }
        simulator.touch(matching: true)
    }

    /// Expects that reading and searching return `status` without a prompt.
    private func expect(
        _ status: OSStatus, _ query: Query, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        simulator.run {
            let found = find(query.data)
            #expect(found.status == status, sourceLocation: sourceLocation)
            #expect(found.result == nil, sourceLocation: sourceLocation)
            #expect(exists(query) == status, sourceLocation: sourceLocation)
            #expect(secret(item) == "secret", "no prompt used the touch", sourceLocation: sourceLocation)
        }
    }

    @Test func uiFailReturnsInteractionNotAllowed_AC07_T35_abuse25() {
        expect(errSecInteractionNotAllowed, item.with(kSecUseAuthenticationUI, deprecated.kSecUseAuthenticationUIFail))
    }

    @Test func useNoAuthenticationUIReturnsInteractionNotAllowed_AC07() {
        expect(errSecInteractionNotAllowed, item.with(deprecated.kSecUseNoAuthenticationUI, true))
    }

    @Test func useNoAuthenticationUISetToFalseIsIgnored_AC07() {
        simulator.run { #expect(secret(item.with(deprecated.kSecUseNoAuthenticationUI, false)) == "secret") }
    }

    @Test(.promise("abuse.25")) func contextWithInteractionNotAllowedReturnsInteractionNotAllowed_AC07_abuse25() {
        let context = simulator.run { LAContext() }
        context.interactionNotAllowed = true
        expect(errSecInteractionNotAllowed, item.with(kSecUseAuthenticationContext, context))
    }

    @Test func contextThatForbidsInteractionOverridesUIAllow_AC07() {
        let context = simulator.run { LAContext() }
        context.interactionNotAllowed = true
        expect(
            errSecInteractionNotAllowed,
            item.with(kSecUseAuthenticationContext, context)
                .with(kSecUseAuthenticationUI, deprecated.kSecUseAuthenticationUIAllow))
    }

    @Test func uiAllowEqualsTheDefault_AC07() {
        simulator.run {
            #expect(secret(item.with(kSecUseAuthenticationUI, deprecated.kSecUseAuthenticationUIAllow)) == "secret")
        }
    }

    @Test func skipOmitsProtectedItems_AC07_T36() {
        expect(errSecItemNotFound, item.with(kSecUseAuthenticationUI, kSecUseAuthenticationUISkip))
    }

    @Test func skipReturnsUnprotectedItems_AC07_AC16() {
        simulator.run {
            #expect(add(.password("free").secret("free")) == errSecSuccess)
            #expect(add(.password("more").secret("more")) == errSecSuccess)
            let query = Query.password().with(kSecUseAuthenticationUI, kSecUseAuthenticationUISkip)
            let found = find(query.data.all).result as? [Data]
            #expect(found == ["free", "more"].map { Data($0.utf8) })
            #expect(find(query.data).result as? Data == Data("free".utf8))
        }
    }

    /// Some libraries set Skip on every read with a context.
    @Test func skipReturnsItemsThatTheContextIsAuthenticatedFor_AC07() async throws {
        try await simulator.run {
            #expect(add(.password("free").secret("free")) == errSecSuccess)
            let context = LAContext()
            let skip = Query.password().with(kSecUseAuthenticationUI, kSecUseAuthenticationUISkip)
                .with(kSecUseAuthenticationContext, context)
            #expect(find(skip.data.all).result as? [Data] == [Data("free".utf8)])
            try await context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "test")
            #expect((find(skip.data.all).result as? [Data])?.count == 2)
            #expect(secret(skip.with(kSecAttrAccount, "account")) == "secret")
            let other = skip.with(kSecUseAuthenticationContext, LAContext())
            #expect(find(other.data.all).result as? [Data] == [Data("free".utf8)])
        }
    }

    @Test func skipReturnsItemsWhoseApplicationPasswordTheContextHas_AC07() {
        simulator.run {
            let context = LAContext()
            #expect(context.setCredential(Data("word".utf8), type: .applicationPassword))
            let own = Query.password("own").with(kSecUseAuthenticationContext, context)
            #expect(add(own.secret("own").under(.applicationPassword)) == errSecSuccess)
            let skip = Query.password("own").with(kSecUseAuthenticationUI, kSecUseAuthenticationUISkip)
            #expect(exists(skip) == errSecItemNotFound)
            #expect(exists(skip.all) == errSecItemNotFound)
            #expect(secret(skip.with(kSecUseAuthenticationContext, context)) == "own")
        }
    }

    @Test func skipIsValidForSearchesOnly_AC07() {
        simulator.run {
            let query = item.with(kSecUseAuthenticationUI, kSecUseAuthenticationUISkip)
            #expect(add(query.secret()) == errSecParam)
            #expect(update(query, [kSecAttrLabel as String: "label"]) == errSecParam)
            #expect(delete(query) == errSecParam)
        }
    }

    @Test func unprotectedItemsAreReadWithEveryUIOption_AC07() {
        simulator.run {
            #expect(add(.password("free").secret("free")) == errSecSuccess)
            for wish in [
                deprecated.kSecUseAuthenticationUIFail, kSecUseAuthenticationUISkip,
                deprecated.kSecUseAuthenticationUIAllow,
            ] {
                #expect(secret(Query.password("free").with(kSecUseAuthenticationUI, wish)) == "free")
            }
        }
    }

    @Test func authenticatedContextNeedsNoInteraction_AC08() async throws {
        try await simulator.run {
            let context = LAContext()
            try await context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "test")
            context.interactionNotAllowed = true
            #expect(secret(item.with(kSecUseAuthenticationContext, context)) == "secret")
        }
    }
}
