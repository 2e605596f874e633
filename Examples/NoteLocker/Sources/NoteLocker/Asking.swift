// SPDX-License-Identifier: Apache-2.0

import LocalAuthentication

/// The authentication contexts of the app.
enum Asking {
    /// Creates a context whose prompt names the note.
    static func forNote(_ title: String) -> LAContext {
        let context = LAContext()
        context.localizedReason = "Read \(title)"
        return context
    }

    /// Creates a context that never prompts.
    static func never() -> LAContext {
        let context = LAContext()
        context.interactionNotAllowed = true
        return context
    }
}
