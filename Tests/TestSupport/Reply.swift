// SPDX-License-Identifier: Apache-2.0

import Synchronization
package import Testing

/// Waits for the reply of a call that takes a callback, and expects that there is only one.
///
/// A continuation waits for ever when the reply is lost, also when the test's time is up (`.timeLimit` cancels its task):
/// where the clock of a machine is virtual, nothing else ends that. This ends with the task, and says so.
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
    let description = "the time of the test was up before the reply came"
}
