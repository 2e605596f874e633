// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import FoundationNetworking
internal import KeyFormats

/// The requests of `docs/reference/relying-party.md` to one server.
struct Exchange: Sendable {
    let server: RelyingPartyServer

    init(_ server: RelyingPartyServer) { self.server = server }

    /// Gets a challenge for a message, and checks it.
    func challenge(for message: BoundMessage) async throws(SignInError) -> ServerChallenge {
        let body = RequestBody(
            user: message.user, key: Base64.url.encode(message.key), purpose: message.purpose.name,
            context: message.context)
        let reply = try await send("POST", "challenges", body, as: nil)
        guard reply.status == 200 else { throw failure(reply, of: nil) }
        let text = try decode(reply, as: ChallengeReply.self).challenge
        guard let bytes = Base64.url.decode(text.utf8) else { throw SignInError(.unexpectedReply) }
        return try ServerChallenge(
            bytes, for: message, at: Int64(Date().timeIntervalSince1970), serverTime: reply.serverTime)
    }

    /// Sends a request that has an effect, and reads its reply.
    ///
    /// - Parameters:
    ///   - path: below `/v1`.
    ///   - body: the members of the request.
    ///   - request: what the effect is.
    ///   - status: the status of a reply that confirms the effect.
    ///   - session: the session in which it is sent.
    /// - Throws: `outcomeUnknown` unless it is certain that the server did not accept the request: it was not sent, or
    ///   the server has refused it.
    func commit<Reply: Decodable>(
        _ path: String, _ body: RequestBody, as request: SignInError.Request, expecting status: Int,
        in session: SignInSession? = nil
    ) async throws(SignInError) -> Reply {
        let reply = try await send("POST", path, body, as: request, in: session)
        guard reply.status == status else { throw failure(reply, of: request) }
        do throws(SignInError) {
            return try decode(reply, as: Reply.self)
        } catch {
            throw request.canBeOpen ? SignInError(.outcomeUnknown(request)) : error
        }
    }

    func endSession(_ session: SignInSession) async throws(SignInError) {
        let reply = try await send("DELETE", "session", nil, as: .signOut, in: session)
        // A session that the server does not know has ended.
        guard reply.status == 204 || reply.status == 401 else { throw failure(reply, of: .signOut) }
    }

    private func send(
        _ method: String, _ path: String, _ body: RequestBody?, as request: SignInError.Request?,
        in session: SignInSession? = nil
    ) async throws(SignInError) -> HTTPReply {
        guard !Task.isCancelled else { throw SignInError(.cancelled) }
        var message = URLRequest(url: server.url.appending(path: "/v1/\(path)"))
        message.httpMethod = method
        if let body {
            message.httpBody = try body.encoded()
            message.setValue("application/json", forHTTPHeaderField: "Content-Type")
        }
        if let session { try session.authorize(&message) }
        do throws(HTTPFailure) {
            guard let request, request.canBeOpen else {
                return try await HTTPTransport.shared.send(message, timeout: server.timeout)
            }
            return try await HTTPTransport.sendOnce(message, timeout: server.timeout)
        } catch {
            guard let request, request.canBeOpen else { throw SignInError(SignInError.Kind(error)) }
            // No failure proves that the server did not get the request. libcurl reports that nothing listens when one
            // address of the host refused the connection and another one accepted the request and ended, and it reports a
            // failure of TLS when an attacker on the network changes a byte of the reply.
            throw SignInError(.outcomeUnknown(request))
        }
    }

    private func failure(_ reply: HTTPReply, of request: SignInError.Request?) -> SignInError {
        let kind: SignInError.Kind =
            switch reply.status {
            case 401: request.map { .refused($0) } ?? .unexpectedReply
            case 403 where request == .administration: .refused(.administration)
            case 429: .tooManyTries(seconds: reply.retryAfter)
            case 500...: .serverNotAvailable
            default: .unexpectedReply
            }
        // Only a refusal says that nothing was stored. A server whose database fails while it stores a change does not know
        // it, and a proxy that answers by itself does not either. A proxy does not repeat a POST (RFC 9110, section 9.2.2), so
        // that a refusal is not that of a second request.
        guard let request, request.canBeOpen, !(400..<500).contains(reply.status) else { return SignInError(kind) }
        return SignInError(.outcomeUnknown(request))
    }

    private func decode<Reply: Decodable>(_ reply: HTTPReply, as type: Reply.Type) throws(SignInError) -> Reply {
        do {
            return try JSONDecoder().decode(type, from: reply.body)
        } catch {
            // The decoder's error contains parts of the reply.
            throw SignInError(.unexpectedReply)
        }
    }
}

extension SignInError.Request {
    /// Whether the effect may exist after a failure that says nothing about it. A session whose token is lost is of no
    /// use, nor is a code, and a session that was not ended can be ended again.
    fileprivate var canBeOpen: Bool {
        switch self {
        case .registration, .rotation, .revocation, .stepUp: true
        case .signIn, .signOut, .administration: false
        }
    }
}

extension SignInError.Kind {
    fileprivate init(_ failure: HTTPFailure) {
        self =
            switch failure {
            case .lost: .offline
            case .timedOut: .tooSlow
            case .certificateNotTrusted: .certificateNotTrusted
            case .redirected: .redirected
            case .tooLarge: .unexpectedReply
            case .cancelled: .cancelled
            }
    }
}
