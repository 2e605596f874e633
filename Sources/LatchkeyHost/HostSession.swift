// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
package import LatchkeyService
import LatchkeyWire
import Synchronization

/// Bytes in, bytes out: the one place where frames become requests and answers become frames.
///
/// The daemon puts a socket around it, the simulator a queue in memory; both send the same bytes.
package final class HostSession: Sendable {
    private let session: Session
    private let send: @Sendable (SecretBytes) -> Void
    private let inFlight = Mutex<Set<UInt64>>([])

    /// Begins a session whose frames go to `send`, from any thread.
    package init(_ session: Session, send: @escaping @Sendable (SecretBytes) -> Void) {
        self.session = session
        self.send = send
    }

    /// Takes one frame's payload. Nothing in it can stop the program; what cannot be read is answered as such.
    package func receive(_ payload: SecretBytes) {
        let message: Message
        do throws(WireError) {
            message = try Message(decoding: payload)
        } catch {
            let id = Message.idOfRefusedRequest(payload) ?? 0
            answer(id, .failure(HostSession.failure(error)))
            return
        }
        switch message {
        case .request(let id, let request): begin(id, request)
        case .cancel(let id): session.cancel(id)
        case .reply(let id, _):
            answer(id, .failure(Failure(.malformedRequest, "A client sends requests, not replies.")))
        }
    }

    /// Answers that the frame format itself was broken.
    package func refuse(_ failure: Failure) { answer(0, .failure(failure)) }

    /// The connection is over.
    package func close() { session.close() }

    private func begin(_ id: UInt64, _ request: Request) {
        let refusal: Failure? = inFlight.withLock { ids in
            if ids.count >= Limits.requestsInFlight {
                return Failure(
                    .limitExceeded, "One connection has at most \(Limits.requestsInFlight) requests at a time.")
            }
            return ids.insert(id).inserted ? nil : Failure(.malformedRequest, "The request id is in use.")
        }
        if let refusal { return answer(id, .failure(refusal)) }
        session.handle(id, request) { [self] reply in
            if !reply.isPartial { _ = inFlight.withLock { $0.remove(id) } }
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
