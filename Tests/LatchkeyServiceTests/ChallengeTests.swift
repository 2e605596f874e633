// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyService
import LatchkeyWire
import Synchronization
import TestPromises
import TestSupport
import Testing

/// The challenge of the tiers `file` and `tpm`: what was sent before it is not executed.
@Suite struct ChallengeTests {
    private let answers = Replies()
    private let connection: HostSession
    private let state: State
    private static let challenge = [UInt8](repeating: 7, count: Request.Hello.challengeBytes)

    private final class State: Sendable {
        let confirming = Recorder<@Sendable (Failure?) -> Void>()
        let isOver = Mutex(false)
    }

    init() throws {
        let (simulated, state) = (try SimulatedService(), State())
        self.state = state
        let challenge = HostSession.Challenge(Self.challenge) { answer in
            state.confirming.add(answer)
        }
        connection = HostSession(
            send: answers.add, end: { state.isOver.withLock { $0 = true } }, challenge: challenge,
            begin: { simulated.session($0) })
    }

    private func send(_ id: UInt64, _ request: Request) {
        connection.receive(Message.request(id: id, request).encoded())
    }

    private func hello(_ challenge: [UInt8]? = nil) -> Request {
        .hello(Request.Hello(application: "app", challenge: challenge))
    }

    private func confirm(_ failure: Failure?) {
        for answer in state.confirming.all { answer(failure) }
    }

    private var isOver: Bool { state.isOver.withLock { $0 } }

    private func welcome(_ id: UInt64) -> Reply.Welcome? {
        guard case .welcome(let welcome)? = answers.of(id).first else { return nil }
        return welcome
    }

    @Test func theConnectionBeginsWithARepeatedChallengeOfTheSameProgram() {
        send(1, hello())
        #expect(welcome(1)?.challenge == Self.challenge)
        send(2, hello(Self.challenge))
        #expect(answers.of(2).isEmpty, "whether the program is the same is not known so far")
        confirm(nil)
        #expect(welcome(2) != nil && welcome(2)?.challenge == nil)
        send(3, .status)
        guard case .status? = answers.of(3).first else {
            Issue.record("the connection is not open")
            return
        }
        #expect(!isOver)
    }

    @Test(.promise("users.connection")) func aRequestFromBeforeTheChallengeEndsTheConnection() {
        send(1, hello())
        send(2, .status)
        #expect(answers.of(2) == [.failure(Failure(.malformedRequest))])
        #expect(isOver)
    }

    @Test(arguments: [nil, [], [UInt8](repeating: 8, count: 16)] as [[UInt8]?])
    func anotherChallengeEndsTheConnection(_ challenge: [UInt8]?) {
        send(1, hello())
        send(2, hello(challenge))
        confirm(nil)
        #expect(isOver)
        #expect(welcome(2) == nil)
        send(3, .status)
        #expect(answers.of(3).isEmpty)
    }

    @Test func aRequestBeforeTheProgramIsConfirmedEndsTheConnection() {
        send(1, hello())
        send(2, hello(Self.challenge))
        send(3, .status)
        confirm(nil)
        #expect(answers.of(3) == [.failure(Failure(.malformedRequest))])
        #expect(isOver)
        #expect(welcome(2) == nil)
    }

    @Test(.promise("users.connection")) func anotherProgramThanTheIdentifiedOneGetsNothing() {
        send(1, hello())
        send(2, hello(Self.challenge))
        confirm(Failure(.peerNotTrusted))
        #expect(answers.of(2) == [.failure(Failure(.peerNotTrusted))])
        #expect(isOver)
        send(3, .status)
        #expect(answers.of(3).isEmpty)
    }
}
