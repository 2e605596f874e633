// SPDX-License-Identifier: Apache-2.0

import LocalAuthentication
import Observation
import Security

// The code of source-documents 000 as printed: a service for a user interface, and the protocol through which tests
// replace a context. `PrintedImportTests` compiles the protocol with exactly the printed imports.

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
