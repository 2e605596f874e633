// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyService
import LatchkeyWire
import SimulatedDriver
import TestPromises
import TestSupport
import Testing

/// Requests and replies over frames: request IDs, cancelling, one reply for each request.
@Suite struct HostSessionTests {
    private let answers = Replies()
    private let session: HostSession
    private let other: HostSession
    private let othersAnswers = Replies()
    private let world: SimulatedWorld

    init() throws {
        let simulated = try SimulatedService()
        world = simulated.world
        session = HostSession(greeted: simulated.session(), send: answers.add)
        other = HostSession(greeted: simulated.session(), send: othersAnswers.add)
        session.receive(Message.request(id: 1000, .setPasscode("1234")).encoded())
    }

    private func send(_ id: UInt64, _ request: Request) { session.receive(Message.request(id: id, request).encoded()) }

    private func newContext(_ id: UInt64) throws -> ContextHandle {
        send(id, .createContext)
        guard case .context(let handle)? = answers.of(id).first else { throw Failure(.internalFailure) }
        return handle
    }

    private func evaluation(_ handle: ContextHandle) -> Request {
        .evaluate(
            Request.Evaluate(
                context: handle, policy: .deviceOwnerAuthentication, prompting: Prompting(reason: "test")))
    }

    @Test func cancelledRequestIsAnsweredOnceWithAppCancel() throws {
        send(2, evaluation(try newContext(1)))
        #expect(answers.of(2).isEmpty, "it waits for the user")
        session.receive(Message.cancel(id: 2).encoded())
        #expect(answers.of(2) == [.failure(Failure(.appCancel))])
        session.receive(Message.cancel(id: 2).encoded())
        world.perform(.touch(matching: true))
        #expect(answers.of(2).count == 1)
    }

    @Test func invalidatingAContextEndsItsEvaluation_LA36() throws {
        let handle = try newContext(1)
        send(2, evaluation(handle))
        send(3, .invalidateContext(handle))
        #expect(answers.of(2) == [.failure(Failure(.appCancel))])
        #expect(answers.of(3) == [.done])
        send(4, evaluation(handle))
        #expect(answers.of(4) == [.failure(Failure(.invalidContext))])
    }

    @Test(.promise("abuse.11")) func contextOfAnotherConnectionIsInvalid_abuse11() throws {
        let handle = try newContext(1)
        other.receive(Message.request(id: 9, evaluation(handle)).encoded())
        #expect(othersAnswers.of(9) == [.failure(Failure(.invalidContext))])
    }

    @Test func requestIDInUseIsRefusedAndItsRequestContinues() throws {
        send(2, evaluation(try newContext(1)))
        send(2, .status)
        #expect(answers.of(2) == [.failure(Failure(.malformedRequest))])
        world.perform(.touch(matching: true))
        #expect(answers.of(2).last == .proven([.biometry]))
    }

    @Test func closingAConnectionEndsItsPromptAndActivatesTheNext() throws {
        send(2, evaluation(try newContext(1)))
        other.receive(Message.request(id: 1, .createContext).encoded())
        guard case .context(let handle)? = othersAnswers.of(1).first else { throw Failure(.internalFailure) }
        other.receive(Message.request(id: 2, evaluation(handle)).encoded())
        #expect(othersAnswers.of(2).isEmpty, "one prompt at a time")
        session.close()
        world.perform(.touch(matching: true))
        #expect(othersAnswers.of(2) == [.proven([.biometry])])
    }

    @Test func singleItemIsSentInOneFrameWhateverItsSize() throws {
        let secret = SecretBytes([UInt8](repeating: 7, count: Limits.secretBytes))
        send(1, .addItem(Request.AddItem(secret: secret)))
        send(2, .copyItems(Request.CopyItems(limit: .all)))
        #expect(answers.of(2).count == 1)
    }
}
