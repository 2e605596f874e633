// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyWire
import Synchronization

@testable import LatchkeyClient

/// A channel to a daemon whose replies a test writes. It never waits: if there is no reply, the deadline has passed.
final class ScriptedChannel: ClientChannel {
    private struct State: Sendable {
        var sent: [Message] = []
        var waiting: [SecretBytes] = []
        var end: Failure?
    }

    private let state = Mutex(State())
    private let answer: @Sendable (Message) -> [SecretBytes]

    /// - Parameter answer: the payloads that arrive after a message was sent.
    init(_ answer: @escaping @Sendable (Message) -> [SecretBytes]) { self.answer = answer }

    /// The messages that were sent until now.
    var sent: [Message] { state.withLock { $0.sent } }

    /// Ends the connection: sending and receiving fail from now on, after what has arrived.
    func end(_ failure: Failure) { state.withLock { $0.end = failure } }

    func send(_ payload: SecretBytes) throws(Failure) {
        guard let message = try? Message(decoding: payload) else { throw Failure(.internalFailure) }
        let replies = answer(message)
        let end = state.withLock { state in
            state.sent.append(message)
            state.waiting += replies
            return state.end
        }
        if let end { throw end }
    }

    func receive(until deadline: Int64) throws(Failure) -> SecretBytes? {
        let (payload, end) = state.withLock { state in
            (state.waiting.isEmpty ? nil : state.waiting.removeFirst(), state.end)
        }
        if payload == nil, let end { throw end }
        return payload
    }
}
