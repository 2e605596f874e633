// SPDX-License-Identifier: Apache-2.0

/// A callback assigned after its caller exists; breaks an initialisation cycle.
@MainActor final class Later {
    /// The callback; does nothing until it is assigned.
    var action: @MainActor () -> Void = {}

    /// Calls `action`.
    func run() { action() }
}
