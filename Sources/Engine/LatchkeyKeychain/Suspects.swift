// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The identifiers of rows that failed authentication in a search and wait for `quarantineDamaged`.
final class Suspects: Sendable {
    private struct State: Sendable {
        var ids: Set<[UInt8]> = []
        var handler: (@Sendable () -> Void)?
    }
    /// Maximum number of identifiers; a later search finds the other rows again.
    private static let limit = 1024
    private let state = Mutex(State())

    func note(_ id: [UInt8]) { state.withLock { if $0.ids.count < Self.limit { $0.ids.insert(id) } } }

    func whenNoted(_ handler: @escaping @Sendable () -> Void) { state.withLock { $0.handler = handler } }

    /// Calls the handler if identifiers are waiting.
    func report() { state.withLock { $0.ids.isEmpty ? nil : $0.handler }?() }

    /// Returns the identifiers and clears them.
    func take() -> Set<[UInt8]> {
        state.withLock { state in
            defer { state.ids = [] }
            return state.ids
        }
    }
}
