// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
package import LatchkeyService
import LatchkeyWire
import Synchronization

/// Bytes in, bytes out: the one place where frames become requests and answers become frames.
///
/// The daemon puts a socket around it, the simulator a queue in memory; both send the same bytes.
package final class HostSession: Sendable {
    /// How far the connection is. There is no session, hence no caller, before hello.
    private enum Stage: Sendable {
        case awaitsHello
        case open(Session)
        case over
    }

    private let stage = Mutex(Stage.awaitsHello)
    private let send: @Sendable (SecretBytes) -> Void
    private let end: @Sendable () -> Void
    private let begin: @Sendable (Request.Hello) -> Session
    /// Requests without an answer so far, and what each holds meanwhile.
    private let inFlight = Mutex<[UInt64: Held]>([:])

    private struct Held: Sendable { var bytes: (any Sendable)? }

    /// Begins with a connection's first frame.
    ///
    /// - Parameters:
    ///   - send: sends a frame, from any thread.
    ///   - end: ends the connection after what was sent.
    ///   - begin: begins the session of a caller that said hello; called at most once.
    package init(
        send: @escaping @Sendable (SecretBytes) -> Void, end: @escaping @Sendable () -> Void,
        begin: @escaping @Sendable (Request.Hello) -> Session
    ) {
        self.send = send
        self.end = end
        self.begin = begin
    }

    /// Takes one frame's payload. Nothing in it can stop the program; what cannot be read is answered as such.
    ///
    /// - Parameter held: is let go of when the request has its answer.
    package func receive(_ payload: SecretBytes, holding held: (any Sendable)? = nil) {
        switch stage.withLock({ $0 }) {
        case .awaitsHello: greet(payload)
        case .open(let session): receive(payload, session, Held(bytes: held))
        case .over: break
        }
    }

    /// Takes the first frame, which is hello; anything else ends the connection, since nothing is known of the caller.
    private func greet(_ payload: SecretBytes) {
        // A first frame that cannot be read is none, and ends the connection.
        guard case .request(let id, .hello(let hello))? = try? Message(decoding: payload) else {
            let failure = Failure(
                .malformedRequest, "The first request of a connection is hello.",
                hint: "Install the same version of library and daemon.")
            return finish(Message.idOfRefusedRequest(payload) ?? 0, failure)
        }
        let session = begin(hello)
        stage.withLock { $0 = .open(session) }
        answer(id, session.welcome)
    }

    /// Answers for the last time and ends the connection with all that it has under way.
    private func finish(_ id: UInt64, _ failure: Failure) {
        answer(id, .failure(failure))
        close()
        end()
    }

    private func receive(_ payload: SecretBytes, _ session: Session, _ held: Held) {
        let message: Message
        do throws(WireError) {
            message = try Message(decoding: payload)
        } catch {
            let id = Message.idOfRefusedRequest(payload) ?? 0
            answer(id, .failure(HostSession.failure(error)))
            return
        }
        switch message {
        case .request(let id, .hello): finish(id, Session.secondHello)
        case .request(let id, let request): start(id, request, session, held)
        case .cancel(let id): session.cancel(id)
        case .reply(let id, _):
            answer(id, .failure(Failure(.malformedRequest, "A client sends requests, not replies.")))
        }
    }

    /// Answers that the frame format itself was broken.
    package func refuse(_ failure: Failure) { send(HostSession.payload(of: failure)) }

    /// The payload that tells of a failure of the connection and not of a request.
    package static func payload(of failure: Failure) -> SecretBytes {
        Message.reply(id: 0, .failure(failure)).encoded()
    }

    /// The connection is over.
    package func close() {
        let last = stage.withLock { stage in
            defer { stage = .over }
            return stage
        }
        if case .open(let session) = last { session.close() }
    }

    private func start(_ id: UInt64, _ request: Request, _ session: Session, _ held: Held) {
        let refusal: Failure? = inFlight.withLock { ids in
            if ids.count >= Limits.requestsInFlight {
                return Failure(
                    .limitExceeded, "One connection has at most \(Limits.requestsInFlight) requests at a time.")
            }
            guard ids[id] == nil else { return Failure(.malformedRequest, "The request id is in use.") }
            ids[id] = held
            return nil
        }
        if let refusal { return answer(id, .failure(refusal)) }
        session.handle(id, request) { [self] reply in
            if !reply.isPartial { _ = inFlight.withLock { $0.removeValue(forKey: id) } }
            answer(id, reply)
        }
    }

    private func answer(_ id: UInt64, _ reply: Reply) {
        let payload = Message.reply(id: id, reply).encoded()
        guard payload.count <= Limits.frameBytes else {
            let failure = Failure(.dataTooLarge, "The answer does not fit one frame.")
            return send(Message.reply(id: id, .failure(failure)).encoded())
        }
        send(payload)
    }

    private static func failure(_ error: WireError) -> Failure {
        switch error {
        case .unknownMessage:
            Failure(.unimplemented, "The daemon does not know this request.", hint: "Install the same version of both.")
        default: Failure(.malformedRequest, "The request cannot be read (\(error)).")
        }
    }
}
