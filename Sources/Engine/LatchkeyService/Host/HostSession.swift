// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
package import LatchkeySeams
import LatchkeyWire
import Synchronization

/// Decodes the frames of one connection into requests and encodes replies into frames.
///
/// The daemon connects it to a socket, the simulator to a queue in memory; both exchange the same bytes.
package final class HostSession: Sendable {
    /// The stage of the connection. Before hello there is no handler and so no caller.
    private enum Stage: Sendable {
        case awaitsHello
        /// The challenge was sent, and only a hello with it continues the connection.
        case awaitsAnswer(any RequestHandler)
        /// Whether the process is still the one that was identified is being determined.
        case confirms(any RequestHandler)
        case open(any RequestHandler)
        case over
    }

    private let stage = Mutex(Stage.awaitsHello)
    private let send: @Sendable (SecretBytes) -> Void
    private let end: @Sendable () -> Void
    private let begin: @Sendable (Request.Hello) -> any RequestHandler
    private let challenge: Challenge?
    /// Requests whose last reply was not sent yet, by request ID, with the object that each holds until then.
    private let inFlight = Mutex<[UInt64: Held]>([:])

    private struct Held: Sendable { var bytes: (any Sendable)? }

    /// Proves that the program which sends requests is the one that was identified. A process can send a request, and then execute
    /// another program before it is identified: that program does not know the challenge, which is sent afterwards.
    package struct Challenge: Sendable {
        /// Random bytes, made after the identification.
        let bytes: [UInt8]
        /// Determines, without blocking, whether the process still is the one that was identified; calls the function that it
        /// is given with nil if so, once and from any thread.
        let confirm: @Sendable (@escaping @Sendable (Failure?) -> Void) -> Void

        package init(_ bytes: [UInt8], confirm: @escaping @Sendable (@escaping @Sendable (Failure?) -> Void) -> Void) {
            (self.bytes, self.confirm) = (bytes, confirm)
        }
    }

    /// Creates the host side of a connection.
    ///
    /// - Parameters:
    ///   - send: sends the payload of a frame; called on any thread.
    ///   - end: closes the connection after all sent frames.
    ///   - challenge: what hello must repeat; nil where every program of the user is the same.
    ///   - begin: creates the handler of the requests when hello arrives; called at most once.
    package init(
        send: @escaping @Sendable (SecretBytes) -> Void, end: @escaping @Sendable () -> Void,
        challenge: Challenge? = nil, begin: @escaping @Sendable (Request.Hello) -> any RequestHandler
    ) {
        (self.send, self.end, self.challenge, self.begin) = (send, end, challenge, begin)
    }

    /// Handles the payload of one frame; a payload that cannot be decoded is answered with a failure.
    ///
    /// - Parameter held: an object that is released when the request has its last reply, such as the lease of the
    ///   frame's bytes.
    package func receive(_ payload: SecretBytes, holding held: (any Sendable)? = nil) {
        switch stage.withLock({ $0 }) {
        case .awaitsHello: greet(payload)
        case .awaitsAnswer(let handler): confirm(payload, handler)
        // The reply to hello is awaited before another request is sent.
        case .confirms: finish(Message.idOfRefusedRequest(payload) ?? 0, Self.notHello)
        case .open(let handler): receive(payload, handler, Held(bytes: held))
        case .over: break
        }
    }

    /// Handles the first frame, which must be hello; any other ends the connection, since the caller is not known.
    private func greet(_ payload: SecretBytes) {
        // A first frame that cannot be decoded is treated like any other that is not hello.
        guard case .request(let id, .hello(let hello))? = try? Message(decoding: payload) else {
            return finish(Message.idOfRefusedRequest(payload) ?? 0, Self.notHello)
        }
        let handler = begin(hello)
        guard let challenge else {
            stage.withLock { $0 = .open(handler) }
            return answer(id, handler.welcome)
        }
        stage.withLock { $0 = .awaitsAnswer(handler) }
        guard case .welcome(var welcome) = handler.welcome else { return answer(id, handler.welcome) }
        welcome.challenge = challenge.bytes
        answer(id, .welcome(welcome))
    }

    private static let notHello = Failure(
        .malformedRequest,
        "The first request of a connection must be hello, and repeat a challenge that it is answered with.",
        hint: "Install the same version of library and daemon.")

    /// Handles the second hello, which repeats the challenge.
    private func confirm(_ payload: SecretBytes, _ handler: any RequestHandler) {
        // As for the first one.
        guard let challenge, case .request(let id, .hello(let hello))? = try? Message(decoding: payload),
            hello.challenge == challenge.bytes
        else { return finish(Message.idOfRefusedRequest(payload) ?? 0, Self.notHello) }
        stage.withLock { $0 = .confirms(handler) }
        challenge.confirm { [self] failure in
            if let failure { return finish(id, failure) }
            let isOpen = stage.withLock { stage in
                // The connection may have ended meanwhile.
                guard case .confirms = stage else { return false }
                stage = .open(handler)
                return true
            }
            if isOpen { answer(id, handler.welcome) }
        }
    }

    /// Sends a last reply and ends the connection with all its requests.
    private func finish(_ id: UInt64, _ failure: Failure) {
        answer(id, .failure(failure))
        close()
        end()
    }

    private func receive(_ payload: SecretBytes, _ handler: any RequestHandler, _ held: Held) {
        let message: Message
        do throws(WireError) {
            message = try Message(decoding: payload)
        } catch {
            let id = Message.idOfRefusedRequest(payload) ?? 0
            answer(id, .failure(HostSession.failure(error)))
            return
        }
        switch message {
        case .request(let id, .hello): finish(id, .secondHello)
        case .request(let id, let request): start(id, request, handler, held)
        case .cancel(let id): handler.cancel(id)
        case .reply(let id, _):
            answer(id, .failure(Failure(.malformedRequest, "A client sends requests, not replies.")))
        }
    }

    /// Reports a malformed frame to the client.
    package func refuse(_ failure: Failure) { send(HostSession.payload(of: failure)) }

    /// Returns the payload that reports a failure of the connection rather than of a request (request ID 0).
    package static func payload(of failure: Failure) -> SecretBytes { Message.encoded(.failure(failure), id: 0) }

    /// Ends all requests, because the connection has ended.
    package func close() {
        let last = stage.withLock { stage in
            defer { stage = .over }
            return stage
        }
        switch last {
        case .open(let handler), .awaitsAnswer(let handler), .confirms(let handler): handler.close()
        case .awaitsHello, .over: break
        }
    }

    private func start(_ id: UInt64, _ request: Request, _ handler: any RequestHandler, _ held: Held) {
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
        handler.handle(id, request) { [self] reply in
            if !reply.isPartial { _ = inFlight.withLock { $0.removeValue(forKey: id) } }
            answer(id, reply)
        }
    }

    private func answer(_ id: UInt64, _ reply: Reply) {
        let payload = Message.encoded(reply, id: id)
        guard payload.count <= Limits.frameBytes else {
            let failure = Failure(.dataTooLarge, "The reply is larger than a frame can be.")
            return send(Message.encoded(.failure(failure), id: id))
        }
        send(payload)
    }

    private static func failure(_ error: WireError) -> Failure {
        switch error {
        case .unknownMessage:
            Failure(
                .unimplemented, "The daemon does not know this request.",
                hint: "Install the same version of library and daemon.")
        default: Failure(.malformedRequest, "The request cannot be read (\(error)).")
        }
    }
}
