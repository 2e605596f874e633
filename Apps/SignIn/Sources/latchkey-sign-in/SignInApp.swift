// SPDX-License-Identifier: Apache-2.0

package import SignInCore
import Widgets

/// Runs the app with a window.
@MainActor package enum SignInApp {
    /// Shows the window and runs until it is closed; returns false at once when there is no display.
    package static func run(model: SignInModel) -> Bool {
        // The memory of the process contains the token of the session.
        MainLoop.leaveNoCore()
        guard MainLoop.start(identifier: "org.latchkey.SignIn", name: "Sign In") else { return false }
        let window = SignInWindow(model: model)
        window.start()
        MainLoop.run()
    }
}
