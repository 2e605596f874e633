// SPDX-License-Identifier: Apache-2.0

import LocalAuthentication
import Observation
import Security

// Printed code of source-documents 000, as it stands there: a service for an interface, and the protocol that makes a
// context replaceable in tests. `PrintedImportTests` compiles it with the printed imports alone.

@MainActor
@Observable
final class BiometricService {
    private(set) var isAuthenticated = false
    private(set) var biometryType: LABiometryType = .none
    private(set) var error: String?

    func checkAvailability() {
        let context = LAContext()
        var nsError: NSError?
        guard
            context.canEvaluatePolicy(
                .deviceOwnerAuthenticationWithBiometrics,
                error: &nsError
            )
        else {
            error = nsError?.localizedDescription
            return
        }
        biometryType = context.biometryType
    }

    func authenticate() async {
        let context = LAContext()
        let reason = "Authenticate to access your account"
        do {
            isAuthenticated = try await context.evaluatePolicy(
                .deviceOwnerAuthentication,
                localizedReason: reason
            )
        } catch {
            self.error = error.localizedDescription
        }
    }

    func logout() {
        isAuthenticated = false
    }
}

protocol BiometryEvaluating {
    func canEvaluatePolicy(_ policy: LAPolicy, error: NSErrorPointer) -> Bool
    func evaluatePolicy(_ policy: LAPolicy, localizedReason: String) async throws -> Bool
    var biometryType: LABiometryType { get }
}

extension LAContext: BiometryEvaluating {}
