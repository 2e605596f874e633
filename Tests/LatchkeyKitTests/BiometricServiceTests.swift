// SPDX-License-Identifier: Apache-2.0

import LatchkeyKit
import LatchkeySimulator
import LatchkeyTesting
import LocalAuthentication
import Observation
import Testing

@MainActor @Suite struct BiometricServiceTests {
    @Test(.simulator(sensor: .faceID)) func aFaceLogsInAndLogoutLogsOut() async throws {
        let service = BiometricService()
        #expect(service.biometryType == .none)
        service.checkAvailability()
        #expect(service.biometryType == .faceID)
        #expect(service.error == nil)
        try machine().presentFace(matching: true)
        await service.authenticate()
        #expect(service.isAuthenticated)
        #expect(!service.isAuthenticating)
        service.logout()
        #expect(!service.isAuthenticated)
    }

    @Test(.simulator(sensor: .faceID, isEnrolled: false)) func checkAvailabilityReportsWhyBiometryCannotBeUsed() {
        let service = BiometricService()
        service.checkAvailability()
        #expect(service.biometryType == .faceID, "the kind is reported although biometry cannot be used")
        #expect(service.support == .notEnrolled(.faceID))
        #expect(service.failure?.advice == .explainEnrollment)
        #expect(service.error?.contains("enrolled") == true)
    }

    @Test func aCancelledPromptHasNoErrorMessage() async {
        let service = BiometricService(auth: auth(ScriptedBiometry(answers: [.failure(.userCancel)])))
        await service.authenticate()
        #expect(!service.isAuthenticated)
        #expect(service.failure?.code == .userCancel)
        #expect(service.error == nil)
    }

    @Test func aNewAttemptClearsThePreviousFailure() async {
        let service = BiometricService(
            auth: auth(
                ScriptedBiometry(answers: [.failure(.authenticationFailed)]), ScriptedBiometry(answers: [.success])))
        await service.authenticate()
        #expect(service.error != nil)
        await service.authenticate()
        #expect(service.isAuthenticated)
        #expect(service.error == nil)
    }

    @Test func concurrentAttemptsAreOneAttempt() async {
        let context = ScriptedBiometry()
        let service = BiometricService(auth: auth(context))
        let first = Task { await service.authenticate() }
        while context.asked.isEmpty { await Task.yield() }
        #expect(service.isAuthenticating)
        let second = Task { await service.authenticate() }
        context.answer(.success)
        await first.value
        await second.value
        #expect(context.asked.count == 1)
        #expect(service.isAuthenticated)
    }

    @Test func logoutEndsThePromptAndDoesNotLogInLater() async {
        let (first, second) = (ScriptedBiometry(), ScriptedBiometry(answers: [.success]))
        let service = BiometricService(auth: auth(first, second))
        let attempt = Task { await service.authenticate() }
        while first.asked.isEmpty { await Task.yield() }
        service.logout()
        #expect(first.isInvalidated)
        await attempt.value
        #expect(!service.isAuthenticated)
        #expect(service.failure == nil)
        await service.authenticate()
        #expect(service.isAuthenticated, "the next attempt uses a new context")
    }

    @Test func aSuccessAfterLogoutDoesNotLogIn() async {
        /// Succeeds although it was invalidated, like an engine that was about to succeed.
        final class Late: BiometryEvaluating, Sendable {
            let script = ScriptedBiometry()
            var biometryType: LABiometryType { .touchID }
            func canEvaluatePolicy(_ policy: LAPolicy, error: NSErrorPointer) -> Bool { true }
            func evaluatePolicy(_ policy: LAPolicy, localizedReason: String) async throws -> Bool {
                try await script.evaluatePolicy(policy, localizedReason: localizedReason)
            }
        }
        let late = Late()
        let service = BiometricService(auth: BiometricAuth { late })
        let attempt = Task { await service.authenticate() }
        while late.script.asked.isEmpty { await Task.yield() }
        service.logout()
        late.script.answer(.success)
        await attempt.value
        #expect(!service.isAuthenticated)
    }

    @Test func observersAreNotifiedOfAChange() async {
        let service = BiometricService(auth: auth(ScriptedBiometry(answers: [.success])))
        let told = Counter()
        withObservationTracking {
            _ = service.isAuthenticated
        } onChange: {
            _ = told.next()
        }
        await service.authenticate()
        #expect(told.value == 1)
    }
}
