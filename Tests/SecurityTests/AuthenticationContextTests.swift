// SPDX-License-Identifier: Apache-2.0

import LatchkeySimulator
import LocalAuthentication
import Security
import TestPromises
import Testing

/// A context releases protected items only by the proofs that it holds.
@Suite struct AuthenticationContextTests {
    private let simulator: Simulator
    private let item = Query.password("account")

    init() throws {
        simulator = try Simulator()
        simulator.run { #expect(add(item.secret().under(.userPresence)) == errSecSuccess) }
    }

    private func prove(_ context: LAContext, _ policy: LAPolicy = .deviceOwnerAuthentication) async throws {
        simulator.touch(matching: true)
        try await context.evaluatePolicy(policy, localizedReason: "test")
    }

    @Test func anAuthenticatedContextDoesNotPrompt_AC08() async throws {
        try await simulator.run {
            let context = LAContext()
            try await prove(context)
            for _ in 0..<3 { #expect(secret(item.with(kSecUseAuthenticationContext, context)) == "secret") }
        }
    }

    @Test func aFreshContextPromptsOnceAndIsReusable_AC08() {
        simulator.run {
            let query = item.with(kSecUseAuthenticationContext, LAContext())
            simulator.touch(matching: true)
            #expect(secret(query) == "secret")
            #expect(secret(query) == "secret")
            #expect(exists(query) == errSecSuccess)
        }
    }

    @Test func theProofOfAKeychainCallIsReusedByTheContext_AC08_LA34() async throws {
        try await simulator.run {
            let context = LAContext()
            simulator.touch(matching: true)
            #expect(secret(item.with(kSecUseAuthenticationContext, context)) == "secret")
            try await context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "test")
        }
    }

    @Test(.promise("abuse.10")) func aContextThatWasNeverEvaluatedReadsNoProtectedItem_abuse10() {
        simulator.run {
            let context = LAContext()
            context.interactionNotAllowed = true
            let found = find(item.data.with(kSecUseAuthenticationContext, context))
            #expect(found.status == errSecInteractionNotAllowed)
            #expect(found.result == nil)
            context.interactionNotAllowed = false
            simulator.cancel()
            #expect(find(item.data.with(kSecUseAuthenticationContext, context)).status == errSecUserCanceled)
        }
    }

    @Test func aContextWhoseEvaluationFailedReadsNoProtectedItem_abuse10() async throws {
        await simulator.run {
            let context = LAContext()
            simulator.cancel()
            await #expect(throws: LAError.self) {
                try await context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "test")
            }
            context.interactionNotAllowed = true
            #expect(find(item.data.with(kSecUseAuthenticationContext, context)).status == errSecInteractionNotAllowed)
        }
    }

    @Test func aContextOfAnotherMachineReadsNoItemHere_abuse11() async throws {
        let other = try Simulator()
        let context = other.run { LAContext() }
        other.touch(matching: true)
        try await context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "test")
        // The call goes to the context's machine, which has no such item.
        simulator.run {
            #expect(find(item.data.with(kSecUseAuthenticationContext, context)).status == errSecItemNotFound)
        }
    }

    @Test(.promise("abuse.12")) func anInvalidatedContextIsRefused_abuse12() async throws {
        try await simulator.run {
            let context = LAContext()
            try await prove(context)
            context.invalidate()
            simulator.touch(matching: true)
            let query = item.with(kSecUseAuthenticationContext, context)
            #expect(find(query.data).status == errSecAuthFailed)
            #expect(update(query, [kSecAttrLabel as String: "label"]) == errSecAuthFailed)
            #expect(secret(item) == "secret", "the touch was not consumed by the refused call")
        }
    }

    @Test func thePasscodeDoesNotSatisfyABiometryConstraint_AC02() async throws {
        try await simulator.run {
            let bound = Query.password("bound")
            #expect(add(bound.secret().under(.biometryAny)) == errSecSuccess)
            let context = LAContext()
            simulator.touch(matching: false)
            simulator.chooseFallback()
            simulator.enter(passcode: "1234")
            try await context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "test")
            #expect(secret(item.with(kSecUseAuthenticationContext, context)) == "secret")
            context.interactionNotAllowed = true
            #expect(find(bound.data.with(kSecUseAuthenticationContext, context)).status == errSecInteractionNotAllowed)
        }
    }

    @Test func biometryDoesNotSatisfyAPasscodeConstraint_AC02() async throws {
        try await simulator.run {
            let bound = Query.password("bound")
            #expect(add(bound.secret().under(.devicePasscode)) == errSecSuccess)
            let context = LAContext()
            try await prove(context)
            context.interactionNotAllowed = true
            #expect(find(bound.data.with(kSecUseAuthenticationContext, context)).status == errSecInteractionNotAllowed)
        }
    }

    @Test func aMatchOfAnEarlierEnrolmentSetIsNoProof_abuse32() async throws {
        try await simulator.run {
            let context = LAContext()
            try await prove(context)
            try simulator.replaceFinger()
            context.interactionNotAllowed = true
            #expect(find(item.data.with(kSecUseAuthenticationContext, context)).status == errSecInteractionNotAllowed)
        }
    }

    @Test func aContextIsAcceptedForItemsWithoutAccessControl() {
        simulator.run {
            let query = Query.password("free").with(kSecUseAuthenticationContext, LAContext())
            #expect(add(query.secret()) == errSecSuccess)
            #expect(secret(query) == "secret")
            #expect(update(query, [kSecAttrLabel as String: "label"]) == errSecSuccess)
            #expect(delete(query) == errSecSuccess)
        }
    }
}
