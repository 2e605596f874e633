// SPDX-License-Identifier: Apache-2.0

import Dispatch
import LatchkeyDesktop

/// Runs calls that block on threads beside the main loop.
enum Work {
    private static let queue = DispatchQueue(label: "latchkey-settings.work", attributes: .concurrent)

    /// Runs `body` on another thread and passes its result to `done` on the main loop.
    @MainActor static func run<Value: Sendable>(
        _ body: @escaping @Sendable () throws(SettingsFailure) -> Value,
        done: @escaping @MainActor @Sendable (Result<Value, SettingsFailure>) -> Void
    ) {
        queue.async {
            let result = Result { () throws(SettingsFailure) in try body() }
            DispatchQueue.main.async { done(result) }
        }
    }

    /// Runs `body` on the main loop; called from another thread.
    static func report(_ body: @escaping @MainActor @Sendable () -> Void) { DispatchQueue.main.async { body() } }
}
