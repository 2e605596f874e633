// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Runs blocking work on a thread of its own and calls `handler` there, never on the main thread.
func detached<R>(
    _ handler: @escaping @Sendable (R?, (any Error)?) -> Void, _ work: @escaping @Sendable () throws -> R
) {
    Thread.detachNewThread {
        do {
            handler(try work(), nil)
        } catch {
            handler(nil, error)
        }
    }
}

/// Runs blocking work without a result on a thread of its own and calls `handler` there.
func detachedCall(_ handler: @escaping @Sendable ((any Error)?) -> Void, _ work: @escaping @Sendable () throws -> Void)
{
    let ended: @Sendable (Void?, (any Error)?) -> Void = { _, error in handler(error) }
    detached(ended, work)
}

/// Runs blocking work on a thread of its own and returns its result; suspends meanwhile.
func detached<R: Sendable>(_ work: @escaping @Sendable () throws -> R) async throws -> R {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { continuation.resume(with: Result { try work() }) }
    }
}

/// Moves a context or a right to another thread.
///
/// Both protect their mutable state with a lock, but are not Sendable, as on Apple systems (behaviour LA-43).
package struct Carried<Value>: @unchecked Sendable {
    // The reason is above: only contexts and rights are wrapped.
    package let value: Value
    package init(value: Value) { self.value = value }
}
