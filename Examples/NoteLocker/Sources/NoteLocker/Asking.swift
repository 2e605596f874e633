// SPDX-License-Identifier: Apache-2.0

import LocalAuthentication

/// How the app asks.
enum Asking {
    /// A context whose prompt names the note.
    static func forNote(_ title: String) -> LAContext {
        let context = LAContext()
        context.localizedReason = "Read \(title)"
        return context
    }

    /// A context that never prompts.
    static func never() -> LAContext {
        let context = LAContext()
        context.interactionNotAllowed = true
        return context
    }
}
