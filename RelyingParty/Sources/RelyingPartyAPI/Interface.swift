// SPDX-License-Identifier: Apache-2.0

package import RelyingParty
internal import RelyingPartyCrypto
package import RelyingPartyHTTP
package import RelyingPartyJSON
internal import SignInVerification

/// The interface `/v1` over HTTP, `docs/reference/relying-party.md`.
package struct Interface: Sendable {
    package let service: RelyingPartyService
    private let limits: RateLimits

    /// - Parameters:
    ///   - service: what the requests are for.
    ///   - limits: how often the clients of each network are refused.
    package init(_ service: RelyingPartyService, limits: RateLimits) {
        self.service = service
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
        Route("GET", "/health", mayWait: false) { interface, _, _ in
            interface.reply(200, [("status", .string("alive"))])
        },
        Route("GET", "/ready") { interface, _, _ in
            try interface.service.checkStorage()
            return interface.reply(200, [("status", .string("ready"))])
        },
    ])

    /// Answers a request. Blocks while the service does.
    package func respond(to request: HTTPRequest) -> HTTPResponse {
        switch Self.routes.find(request) {
        case .failure(let refusal): refusal.response
        case .success(let route):
            route.refusal(of: request) ?? answer(request) { network in try route.answer(self, request, network) }
        }
    }

    /// Answers a request whose path and method are known, and makes errors responses. Transactions of the request do not
    /// begin, and do not commit, once its client is gone or its time is up.
    ///
    /// - Parameter body: what the request is for; throws `RelyingPartyError`. Called with the network of the client, for
    ///   limits of its own.
    package func answer(
        _ request: HTTPRequest, _ body: (_ network: [UInt8]?) throws -> HTTPResponse
    ) -> HTTPResponse {
        do {
            return try CurrentRequest.run(unless: request.isOver) { try body(request.network) }
        } catch RelyingPartyError.refused(let reason) {
            return refusal(reason, request.network)
        } catch RelyingPartyError.malformed(let part) {
            return Problem.response(400, reason: part)
        } catch RelyingPartyError.unavailable(let text) {
            return Problem.unavailable(text)
        } catch {
            return Problem.unavailable("unknown error")
        }
    }

    /// The response to a refused proof, which counts for the network of the client: 429 in place of 401 if that had too many
    /// of the same kind.
    ///
    /// - Parameter subjects: what the refusal counts for besides, if it is one of a signature.
    private func refusal(
        _ reason: RefusalReason, _ network: [UInt8]?, _ subjects: [RateLimits.Subject] = []
    ) -> HTTPResponse {
        let response = Problem.response(refused: reason)
        guard response.status == 401 else { return response }
        let counted =
            (network.map { [RateLimits.Subject.refusals(reason.kind, $0)] } ?? [])
            + (reason.kind == .signature ? subjects : [])
        guard let seconds = counted.compactMap({ limits.admit($0) }).max() else { return response }
        return Problem.response(429, reason: reason.rawValue, headers: [("Retry-After", "\(seconds)")])
    }

    /// Answers a request with a proof, which counts for its user and key if its signature is refused.
    ///
    /// - Parameters:
    ///   - user: the user; nil if the request names none.
    ///   - key: the identifier of the key or credential; nil if the request names none.
    func limited(
        _ user: String?, _ key: [UInt8]?, _ network: [UInt8]?,
        _ body: () throws(RelyingPartyError) -> HTTPResponse
    ) throws(RelyingPartyError) -> HTTPResponse {
        var response: HTTPResponse
        do throws(RelyingPartyError) {
            response = try body()
        } catch {
            guard case .refused(let reason) = error else { throw error }
            let subjects = network.map { network in
                (user.map { [RateLimits.Subject.signaturesOfUser(network, Array($0.utf8))] } ?? [])
                    + (key.map { [RateLimits.Subject.signaturesOfKey(network, $0)] } ?? [])
            }
            response = refusal(reason, network, subjects ?? [])
        }
        response.key = key.map(Self.pseudonym) ?? ""
        return response
    }

    /// What the log has of a key: enough to find the lines of one key, which an operator can compute from its identifier.
    static func pseudonym(_ key: [UInt8]) -> String {
        // Without a digest the line has no key; the request has its answer.
        guard let digest = try? LibCrypto.sha256(Array("latchkey log key 1\0".utf8) + key) else { return "" }
        return StrictBase64.url.encode(Array(digest.prefix(9)))
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
        var response = reply(
            200,
            [
                ("user", .string(session.user)), ("key", .string(StrictBase64.url.encode(session.key))),
                ("expires", .integer(session.expiry)), ("proven", proven(session.attestation)),
                ("claimed", claimed(session.attestation, session.declaredTier)),
            ])
        response.key = Self.pseudonym(session.key)
        return response
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
