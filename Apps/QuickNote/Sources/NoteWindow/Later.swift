// SPDX-License-Identifier: Apache-2.0

/// Something to do that is known only after what calls it was made.
@MainActor final class Later {
    /// What is done; nothing at first.
    var action: @MainActor () -> Void = {}

    /// Does it.
    func run() { action() }
}
