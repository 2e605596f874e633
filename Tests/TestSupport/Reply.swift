// SPDX-License-Identifier: Apache-2.0

import Synchronization
package import Testing

/// Waits for the reply of a call with a callback, and records an issue if there is more than one.
///
/// A continuation would wait forever for a lost reply, even after `.timeLimit` has cancelled the test's task, because
/// the clock of a simulated machine does not advance. This function ends with the task and throws.
package func reply<Value: Sendable>(
    isolation: isolated (any Actor)? = #isolation, sourceLocation: SourceLocation = #_sourceLocation,
    to call: (@escaping @Sendable (Value) -> Void) throws -> Void
) async throws -> Value {
    let (stream, continuation) = AsyncStream.makeStream(of: Value.self)
    let count = Replies()
    try call { value in
        if count.next() > 1 { Issue.record("the call replied twice", sourceLocation: sourceLocation) }
        continuation.yield(value)
    }
    for await value in stream { return value }
    throw LostReply()
}

private final class Replies: Sendable {
    private let count = Mutex(0)

    func next() -> Int {
        count.withLock { count in
            count += 1
            return count
        }
    }
}

private struct LostReply: Error, CustomStringConvertible {
    let description = "the test's time limit passed before the reply arrived"
}
