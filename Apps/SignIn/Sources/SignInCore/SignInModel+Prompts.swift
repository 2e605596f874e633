// SPDX-License-Identifier: Apache-2.0

import LatchkeyKit
import LatchkeySignIn
import LocalAuthentication

/// The prompts of the system, whose cancel button says how the app goes on after it, as in Apple's sample
/// (`context.localizedCancelTitle = "Enter Username/Password"`).
extension SignInModel {
    /// Runs a call that shows a prompt. The proof of the prompt ends with the call.
    func prompting<Value>(
        _ operation: Failure.Operation, _ body: @MainActor (LAContext?) async throws(SignInError) -> Value
    ) async throws(Failure) -> Value {
        // A test double of the sensor shows no prompt for a key.
        let context = setup.makeContext() as? LAContext
        context?.localizedCancelTitle = operation.cancelTitle
        promptContext = context
        defer {
            promptContext = nil
            context?.invalidate()
        }
        do throws(SignInError) { return try await body(context) } catch { throw Failure(operation, error) }
    }
}

extension Failure.Operation {
    /// The title of the cancel button in the prompt; nil for the title of the system.
    var cancelTitle: String? {
        switch self {
        case .registration: "Do Not Register"
        case .signIn: "Stay Signed Out"
        case .approval: "Approve Nothing"
        case .forgetting: "Keep Key"
        case .unlocking: "Leave Locked"
        case .signOut: nil
        }
    }
}
