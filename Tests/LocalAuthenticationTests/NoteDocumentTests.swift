// SPDX-License-Identifier: Apache-2.0

import Dispatch
import LatchkeySimulator
import LocalAuthentication
import Security
import TestSupport
import Testing

/// The biometric part of source-documents 001 as printed: a view that unlocks a note, without SwiftUI.
@MainActor
private final class Toolbar {
    var noteLocked = true
    var showUnlockModal = false
    /// Called where the document's view would be redrawn.
    var changed: () -> Void = {}

    func tryBiometricAuthentication() {
        // 1
        let context = LAContext()
        var error: NSError?

        // 2
        if context.canEvaluatePolicy(
            .deviceOwnerAuthenticationWithBiometrics,
            error: &error)
        {
            // 3
            let reason = "Authenticate to unlock your note."
            context.evaluatePolicy(
                .deviceOwnerAuthenticationWithBiometrics,
                localizedReason: reason
            ) { authenticated, error in
                // 4
                DispatchQueue.main.async {
                    if authenticated {
                        // 5
                        self.noteLocked = false
                    } else {
                        // 6
                        self.showUnlockModal = error?.localizedDescription != nil
                    }
                    self.changed()
                }
            }
        } else {
            // 7
            showUnlockModal = error?.localizedDescription != nil
            changed()
        }
    }

    func getBiometricType() -> String {
        let context = LAContext()

        _ = context.canEvaluatePolicy(
            .deviceOwnerAuthenticationWithBiometrics,
            error: nil)
        switch context.biometryType {
        case .faceID:
            return "faceid"
        case .touchID:
            // In iOS 14 and later, you can use "touchid" here
            return "lock"
        case .none:
            return "lock"
        default:
            return "lock"
        }
    }
}

@MainActor @Suite(.timeLimit(.minutes(5))) struct NoteDocumentTests {
    /// Taps the lock button and waits until the view changes.
    private func tap(_ simulator: Simulator) async throws -> Toolbar {
        let toolbar = Toolbar()
        try await reply { reply in
            toolbar.changed = { reply(()) }
            simulator.run { toolbar.tryBiometricAuthentication() }
        }
        return toolbar
    }

    @Test func aMatchUnlocksTheNote() async throws {
        let simulator = try Simulator()
        simulator.touch(matching: true)
        let toolbar = try await tap(simulator)
        #expect(!toolbar.noteLocked)
        #expect(!toolbar.showUnlockModal)
    }

    @Test func aFailureShowsThePasswordView() async throws {
        let simulator = try Simulator()
        for _ in 0..<3 { simulator.touch(matching: false) }
        let toolbar = try await tap(simulator)
        #expect(toolbar.noteLocked)
        #expect(toolbar.showUnlockModal)
    }

    @Test func withNothingEnrolledThePasswordViewIsShownAtOnce() async throws {
        let toolbar = try await tap(try Simulator(isEnrolled: false))
        #expect(toolbar.noteLocked)
        #expect(toolbar.showUnlockModal)
    }

    @Test func theLockButtonFollowsTheSensor() throws {
        #expect(try Simulator(sensor: .faceID).run { Toolbar().getBiometricType() } == "faceid")
        #expect(try Simulator(sensor: .touchID).run { Toolbar().getBiometricType() } == "lock")
        #expect(try Simulator(sensor: .none).run { Toolbar().getBiometricType() } == "lock")
    }
}
