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
        case open(any RequestHandler)
        case over
    }

    private let stage = Mutex(Stage.awaitsHello)
    private let send: @Sendable (SecretBytes) -> Void
    private let end: @Sendable () -> Void
    private let begin: @Sendable (Request.Hello) -> any RequestHandler
    /// Requests whose last reply was not sent yet, by request ID, with the object that each holds until then.
    private let inFlight = Mutex<[UInt64: Held]>([:])

    private struct Held: Sendable { var bytes: (any Sendable)? }

    /// Creates the host side of a connection.
    ///
    /// - Parameters:
    ///   - send: sends the payload of a frame; called on any thread.
    ///   - end: closes the connection after all sent frames.
    ///   - begin: creates the handler of the requests when hello arrives; called at most once.
    package init(
        send: @escaping @Sendable (SecretBytes) -> Void, end: @escaping @Sendable () -> Void,
        begin: @escaping @Sendable (Request.Hello) -> any RequestHandler
    ) {
        self.send = send
        self.end = end
        self.begin = begin
    }

    /// Handles the payload of one frame; a payload that cannot be decoded is answered with a failure.
    ///
    /// - Parameter held: an object that is released when the request has its last reply, such as the lease of the
    ///   frame's bytes.
    package func receive(_ payload: SecretBytes, holding held: (any Sendable)? = nil) {
        switch stage.withLock({ $0 }) {
        case .awaitsHello: greet(payload)
        case .open(let handler): receive(payload, handler, Held(bytes: held))
        case .over: break
        }
    }

    /// Handles the first frame, which must be hello; any other ends the connection, since the caller is not known.
    private func greet(_ payload: SecretBytes) {
        // A first frame that cannot be decoded is treated like any other that is not hello.
        guard case .request(let id, .hello(let hello))? = try? Message(decoding: payload) else {
            let failure = Failure(
                .malformedRequest, "The first request of a connection must be hello.",
                hint: "Install the same version of library and daemon.")
            return finish(Message.idOfRefusedRequest(payload) ?? 0, failure)
        }
        let handler = begin(hello)
        stage.withLock { $0 = .open(handler) }
        answer(id, handler.welcome)
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
    package static func payload(of failure: Failure) -> SecretBytes {
        Message.reply(id: 0, .failure(failure)).encoded()
    }

    /// Ends all requests, because the connection has ended.
    package func close() {
        let last = stage.withLock { stage in
            defer { stage = .over }
            return stage
        }
        if case .open(let handler) = last { handler.close() }
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
        let payload = Message.reply(id: id, reply).encoded()
        guard payload.count <= Limits.frameBytes else {
            let failure = Failure(.dataTooLarge, "The reply is larger than a frame can be.")
            return send(Message.reply(id: id, .failure(failure)).encoded())
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
