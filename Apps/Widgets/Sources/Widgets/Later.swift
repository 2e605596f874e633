// SPDX-License-Identifier: Apache-2.0

/// A callback assigned after its caller exists; breaks an initialisation cycle.
@MainActor public final class Later {
    /// The callback; does nothing until it is assigned.
    public var action: @MainActor () -> Void = {}

    /// Creates a callback that does nothing.
    public init() {}

    /// Calls `action`.
    public func run() { action() }
}
