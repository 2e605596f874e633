// SPDX-License-Identifier: Apache-2.0

import LatchkeyKit
import LocalAuthentication
import Testing

@Suite struct ScriptedBiometryTests {
    @Test func answersAreUsedInOrder() async throws {
        let context = ScriptedBiometry(answers: [.failure(.authenticationFailed), .success])
        await #expect(throws: LAError(.authenticationFailed)) {
            try await context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "one")
        }
        #expect(try await context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "two"))
        #expect(context.asked.map(\.reason) == ["one", "two"])
    }

    @Test func anObstacleFailsPreflightAndEvaluation() async {
        let context = ScriptedBiometry(obstacle: .biometryLockout, answers: [.success])
        var error: NSError?
        #expect(!context.canEvaluatePolicy(.deviceOwnerAuthentication, error: &error))
        #expect((error as? LAError)?.code == .biometryLockout)
        await #expect(throws: LAError(.biometryLockout)) {
            try await context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "test")
        }
    }

    @Test func anInvalidatedDoubleFailsWithInvalidContext() async {
        let context = ScriptedBiometry(answers: [.success])
        context.invalidate()
        #expect(!context.canEvaluatePolicy(.deviceOwnerAuthentication, error: nil))
        await #expect(throws: LAError(.invalidContext)) {
            try await context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "test")
        }
    }

    @Test func optionsAreRecorded() {
        let context = ScriptedBiometry()
        context.apply(AuthenticationOptions(reason: "test", fallbackTitle: "", cancelTitle: "Use Password"))
        #expect(context.titles.fallback == "")
        #expect(context.titles.cancel == "Use Password")
    }
}
