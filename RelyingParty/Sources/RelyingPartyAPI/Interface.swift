// SPDX-License-Identifier: Apache-2.0

package import RelyingParty
internal import RelyingPartyCrypto
package import RelyingPartyHTTP
package import RelyingPartyJSON

/// The interface `/v1` over HTTP, `docs/relying-party.md`.
package struct Interface: Sendable {
    package let service: RelyingPartyService
    private let proxies: TrustedProxies
    private let limits: RateLimits

    /// - Parameters:
    ///   - service: what the requests are for.
    ///   - proxies: the proxies that name the clients; without them no limits hold, because clients cannot be told apart.
    ///   - limits: how often each client may send requests.
    package init(_ service: RelyingPartyService, proxies: TrustedProxies, limits: RateLimits) {
        self.service = service
        self.proxies = proxies
        self.limits = limits
    }

    /// The paths below `/v1` and those for the operator.
    package static let routes = Routes<Interface>([
        Route("POST", "/v1/challenges", body: .json, mayWait: false) { try $0.challenge($1, $2) },
        Route("POST", "/v1/attestations", body: .json) { try $0.attest($1, $2) },
        Route("POST", "/v1/keys", body: .json) { try $0.register($1, $2) },
        Route("POST", "/v1/sessions", body: .json) { try $0.signIn($1, $2) },
        Route("GET", "/v1/session") { try $0.session($1, $2) },
        Route("DELETE", "/v1/session") { try $0.endSession($1, $2) },
        Route("POST", "/v1/passkeys/challenges", body: .json, mayWait: false) { try $0.passkeyChallenge($1, $2) },
        Route("POST", "/v1/passkeys", body: .json) { try $0.registerPasskey($1, $2) },
        Route("POST", "/v1/passkeys/sessions", body: .json) { try $0.signInWithPasskey($1, $2) },
        Route("POST", "/v1/revocations", body: .json) { try $0.revoke($1, $2) },
        Route("POST", "/v1/rotations", body: .json) { try $0.rotate($1, $2) },
        Route("POST", "/v1/step-ups", body: .json) { try $0.stepUp($1, $2) },
        Route("POST", "/v1/browser-codes", body: .json) { try $0.openBrowser($1, $2) },
        Route("POST", "/v1/introspection", body: .form) { try $0.introspect($1, $2) },
        Route("POST", "/v1/approvals", body: .json) { try $0.redeem($1, $2) },
        Route("POST", "/v1/enrolments", body: .json) { try $0.permitEnrolment($1, $2) },
        Route("GET", "/v1/openapi.json", mayWait: false) { interface, _, _ in
            HTTPResponse(200, "application/json", OpenAPI.text)
        },
        // Health and readiness are for the operator, and do no more than a refusal.
        Route("GET", "/health", mayWait: false, isLimited: false) { interface, _, _ in
            interface.reply(200, [("status", .string("alive"))])
        },
        Route("GET", "/ready", isLimited: false) { interface, _, _ in
            try interface.service.checkStorage()
            return interface.reply(200, [("status", .string("ready"))])
        },
    ])

    /// Answers a request. Blocks while the service does.
    package func respond(to request: HTTPRequest) -> HTTPResponse {
        switch Self.routes.find(request) {
        case .failure(let refusal): refusal.response
        case .success(let route):
            answer(request, route) { network in try route.answer(self, request, network) }
        }
    }

    /// Answers a request whose path and method are known, unless its client sent too many, and makes errors responses.
    ///
    /// - Parameters:
    ///   - route: what the request has reached.
    ///   - body: what the request is for; throws `RelyingPartyError`. Called with the network of the client, for limits
    ///     that are its own.
    package func answer<Owner>(
        _ request: HTTPRequest, _ route: Route<Owner>, _ body: (_ network: [UInt8]?) throws -> HTTPResponse
    ) -> HTTPResponse {
        let network = route.isLimited ? proxies.client(of: request)?.network : nil
        if let network, let seconds = limits.admit(.requests(network)) ?? limits.wait(.failures(network)) {
            return Problem.response(429, reason: "client", headers: [("Retry-After", "\(seconds)")])
        }
        do {
            return try body(network)
        } catch RelyingPartyError.refused(let reason) {
            if let network { limits.count(.failures(network)) }
            return Problem.response(refused: reason)
        } catch RelyingPartyError.malformed(let part) {
            return Problem.response(400, reason: part)
        } catch RelyingPartyError.unavailable(let text) {
            return Problem.response(503, reason: text)
        } catch {
            return Problem.response(503, reason: "unknown error")
        }
    }

    /// Answers a request with a proof, unless the client sent too many for this user or key that were refused.
    ///
    /// - Parameters:
    ///   - user: the user; nil if the request names none.
    ///   - key: the identifier of the key or credential; nil if the request names none.
    func limited(
        _ user: String?, _ key: [UInt8]?, _ network: [UInt8]?,
        _ body: () throws(RelyingPartyError) -> HTTPResponse
    ) throws(RelyingPartyError) -> HTTPResponse {
        guard let network else { return try body() }
        let subjects =
            (user.map { [RateLimits.Subject.failuresOfUser(network, $0)] } ?? [])
            + (key.map { [RateLimits.Subject.failuresOfKey(network, $0)] } ?? [])
        if let seconds = subjects.compactMap({ limits.wait($0) }).max() {
            return Problem.response(429, reason: "user or key", headers: [("Retry-After", "\(seconds)")])
        }
        do throws(RelyingPartyError) {
            return try body()
        } catch {
            if case .refused = error { for subject in subjects { limits.count(subject) } }
            throw error
        }
    }

    package func reply(_ status: UInt32, _ members: [(name: String, value: JSONValue)]) -> HTTPResponse {
        HTTPResponse(status, "application/json", JSONValue.object(members).encoded)
    }

    /// The token of a header `Authorization: Bearer ...` (RFC 6750, section 2.1).
    func token(_ request: HTTPRequest) throws(RelyingPartyError) -> [UInt8] {
        guard let header = request.authorization, header.prefix(7).lowercased() == "bearer ",
            let token = StrictBase64.url.decode(header.utf8.dropFirst(7)), token.count == 32
        else { throw .refused(.unknownSession) }
        return token
    }

    private func session(_ request: HTTPRequest, _: [UInt8]?) throws(RelyingPartyError) -> HTTPResponse {
        let session = try service.session(token(request))
        return reply(
            200,
            [
                ("user", .string(session.user)), ("key", .string(StrictBase64.url.encode(session.key))),
                ("expires", .integer(session.expiry)), ("proven", proven(session.attestation)),
                ("claimed", claimed(session.attestation, session.declaredTier)),
            ])
    }

    private func endSession(_ request: HTTPRequest, _: [UInt8]?) throws(RelyingPartyError) -> HTTPResponse {
        try service.endSession(token(request))
        return HTTPResponse(204, "application/json", "")
    }

    private func challenge(_ request: HTTPRequest, _: [UInt8]?) throws(RelyingPartyError) -> HTTPResponse {
        let body = try RequestBody(request.body, allowing: ["user", "key", "purpose", "context"])
        let name = try body.text("purpose")
        guard let purpose = ChallengePurpose.withKey.first(where: { $0.name == name }) else {
            throw .malformed("purpose")
        }
        let challenge = try service.challenge(
            user: body.text("user"), key: body.bytes("key"), purpose: purpose,
            context: body.optionalText("context") ?? "")
        return reply(200, [("challenge", .string(StrictBase64.url.encode(challenge)))])
    }

    private func signIn(_ request: HTTPRequest, _ network: [UInt8]?) throws(RelyingPartyError) -> HTTPResponse {
        let body = try RequestBody(request.body, allowing: RequestBody.proofNames.union(["counter"]))
        let proof = try body.proof()
        return try limited(proof.user, proof.key, network) { () throws(RelyingPartyError) in
            try opened(service.signIn(proof))
        }
    }

    /// The reply that has the token of a new session.
    func opened(_ session: (token: [UInt8], expiry: Int64)) -> HTTPResponse {
        reply(
            201,
            [
                ("token", .string(StrictBase64.url.encode(session.token))), ("expires", .integer(session.expiry)),
            ])
    }

    private func stepUp(_ request: HTTPRequest, _ network: [UInt8]?) throws(RelyingPartyError) -> HTTPResponse {
        let body = try RequestBody(request.body, allowing: RequestBody.signedNames.union(["context", "counter"]))
        let context = try body.text("context")
        let (token, proof) = (try token(request), try body.proof())
        return try limited(proof.user, proof.key, network) { () throws(RelyingPartyError) in
            let (session, approval) = try service.stepUp(token, context: context, proof)
            return reply(
                200,
                [
                    ("user", .string(session.user)), ("key", .string(StrictBase64.url.encode(session.key))),
                    ("context", .string(context)), ("approval", .string(StrictBase64.url.encode(approval.code))),
                    ("expires", .integer(approval.expiry)),
                ])
        }
    }

    /// Makes a code with which a browser opens the administration: a step-up whose act is known.
    private func openBrowser(_ request: HTTPRequest, _ network: [UInt8]?) throws(RelyingPartyError) -> HTTPResponse {
        let body = try RequestBody(request.body, allowing: RequestBody.signedNames.union(["counter"]))
        let (token, proof) = (try token(request), try body.proof())
        return try limited(proof.user, proof.key, network) { () throws(RelyingPartyError) in
            let (code, expiry) = try service.makeBrowserCode(token, proof)
            return reply(201, [("code", .string(StrictBase64.url.encode(code))), ("expires", .integer(expiry))])
        }
    }
}
