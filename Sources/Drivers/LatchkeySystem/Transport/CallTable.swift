// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
import Synchronization

/// The calls of one side of a connection that wait for their replies. May be used from any thread.
package final class CallTable<Reply: Sendable>: Sendable {
    /// Receives the reply, or the failure that ended the connection or the wait.
    package typealias Completion = @Sendable (Result<Reply, Failure>) -> Void

    private struct State: Sendable {
        /// 0 is the number of messages without a reply.
        var next: UInt64 = 1
        var waiting: [UInt64: Completion] = [:]
        var end: Failure?
    }
    private let state = Mutex(State())

    package init() {}

    /// Registers a call and returns its number; nil if the connection has ended, after `completion` was called with the
    /// reason.
    package func begin(_ completion: @escaping Completion) -> UInt64? {
        let (number, end) = state.withLock { state -> (UInt64?, Failure?) in
            if let end = state.end { return (nil, end) }
            defer { state.next += 1 }
            state.waiting[state.next] = completion
            return (state.next, nil)
        }
        if let end { completion(.failure(end)) }
        return number
    }

    /// Completes a call; false if no call has that number, for example because it was completed before.
    @discardableResult
    package func complete(_ number: UInt64, _ result: Result<Reply, Failure>) -> Bool {
        guard let completion = state.withLock({ $0.waiting.removeValue(forKey: number) }) else { return false }
        completion(result)
        return true
    }

    /// Whether a call with that number was begun; a reply to one that timed out is late and not an error.
    package func hasBegun(_ number: UInt64) -> Bool { state.withLock { number != 0 && number < $0.next } }

    /// Completes all calls with a failure; later calls fail with it too.
    package func end(_ failure: Failure) {
        let waiting = state.withLock { state in
            if state.end == nil { state.end = failure }
            defer { state.waiting = [:] }
            return state.waiting.sorted { $0.key < $1.key }
        }
        for (_, completion) in waiting { completion(.failure(failure)) }
    }

    /// Makes a call and waits for its reply. Blocks the thread, which must not be the one that receives replies.
    ///
    /// - Parameter send: sends the call under its number.
    /// - Throws: `timedOut` if no reply arrived in time, or the failure that ended the connection.
    package func call(seconds: Int64, _ send: (UInt64) -> Void) throws(Failure) -> Reply {
        let box = ReplyBox<Result<Reply, Failure>>()
        guard let number = begin({ box.put($0) }) else {
            return try (box.take(seconds: 0) ?? .failure(Failure(.systemCancel))).get()
        }
        send(number)
        if let result = box.take(seconds: seconds) { return try result.get() }
        complete(number, .failure(Failure(.timedOut)))
        // A reply that arrived at this moment counts.
        guard let result = box.take(seconds: 0) else { throw Failure(.timedOut) }
        return try result.get()
    }
}

/// A value that one thread waits for and another thread provides.
package final class ReplyBox<Value: Sendable>: Sendable {
    private let value = Monitor<Value?>(nil)

    package init() {}

    /// Provides the value; a waiting thread continues.
    package func put(_ value: Value) { self.value.change { $0 = value } }

    /// Waits for the value; nil if it was not provided in time.
    package func take(seconds: Int64) -> Value? { value.wait(seconds: seconds) { $0 } }
}
