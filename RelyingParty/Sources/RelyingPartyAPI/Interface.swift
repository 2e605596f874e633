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

    /// The methods of each path, for tests too.
    package static let methods: [String: [String]] = [
        "/v1/challenges": ["POST"], "/v1/keys": ["POST"], "/v1/sessions": ["POST"], "/v1/session": ["GET", "DELETE"],
        "/v1/attestations": ["POST"], "/v1/revocations": ["POST"], "/v1/rotations": ["POST"], "/v1/step-ups": ["POST"],
        "/v1/browser-codes": ["POST"],
        "/v1/passkeys": ["POST"], "/v1/passkeys/challenges": ["POST"], "/v1/passkeys/sessions": ["POST"],
        "/v1/openapi.json": ["GET"],
        "/health": ["GET"],
        "/ready": ["GET"],
    ]

    /// The paths whose answers use no database.
    private static let immediatePaths: Set<String> = [
        "/v1/challenges", "/v1/passkeys/challenges", "/v1/openapi.json", "/health",
    ]

    /// Whether the answer to a request may wait for the database.
    package static func mayWait(_ request: HTTPRequest) -> Bool { !immediatePaths.contains(request.path) }

    /// Answers a request. Blocks while the service does.
    package func respond(to request: HTTPRequest) -> HTTPResponse {
        guard let methods = Self.methods[request.path] else { return Problem.response(404) }
        guard methods.contains(request.method) else {
            return Problem.response(405, headers: [("Allow", methods.joined(separator: ", "))])
        }
        // Health and readiness are for the operator, and do no more than a refusal.
        return answer(request, isLimited: request.path.hasPrefix("/v1/")) { network in try route(request, network) }
    }

    /// Answers a request whose path and method are known, unless its client sent too many, and makes errors responses.
    ///
    /// - Parameters:
    ///   - isLimited: whether the limits of the client hold.
    ///   - body: what the request is for; throws `RelyingPartyError`. Called with the network of the client, for limits
    ///     that are its own.
    package func answer(
        _ request: HTTPRequest, isLimited: Bool = true, _ body: (_ network: [UInt8]?) throws -> HTTPResponse
    ) -> HTTPResponse {
        if request.method == "POST", !Self.isJSON(request.contentType) { return Problem.response(415) }
        let network = isLimited ? proxies.client(of: request)?.network : nil
        if let network, let seconds = limits.admit(.requests(network)) ?? limits.wait(.failures(network)) {
            return Problem.response(429, reason: "client", headers: [("Retry-After", "\(seconds)")])
        }
        do {
            return try body(network)
        } catch RelyingPartyError.refused(let reason) {
            if let network { limits.count(.failures(network)) }
            // The person has proven who it is, so this tells nothing to a stranger.
            return Problem.response(reason == .notAdministrator ? 403 : 401, reason: reason.rawValue)
        } catch RelyingPartyError.malformed(let part) {
            return Problem.response(400, reason: part)
        } catch RelyingPartyError.unavailable(let text) {
            return Problem.response(503, reason: text)
        } catch {
            return Problem.response(503, reason: "unknown error")
        }
    }

    private func route(_ request: HTTPRequest, _ network: [UInt8]?) throws(RelyingPartyError) -> HTTPResponse {
        switch (request.method, request.path) {
        case ("POST", "/v1/challenges"): return try challenge(request)
        case ("POST", "/v1/attestations"): return try attest(request)
        case ("POST", "/v1/keys"): return try register(request, network)
        case ("POST", "/v1/sessions"): return try signIn(request, network)
        case ("GET", "/v1/session"):
            let session = try service.session(token(request))
            return reply(
                200,
                [
                    ("user", .string(session.user)), ("key", .string(StrictBase64.url.encode(session.key))),
                    ("expires", .integer(session.expiry)), ("proven", proven(session.attestation)),
                    ("claimed", claimed(session.attestation, session.declaredTier)),
                ])
        case ("DELETE", "/v1/session"):
            try service.endSession(token(request))
            return HTTPResponse(204, "application/json", "")
        case ("POST", "/v1/passkeys/challenges"): return try passkeyChallenge(request)
        case ("POST", "/v1/passkeys"): return try registerPasskey(request, network)
        case ("POST", "/v1/passkeys/sessions"): return try signInWithPasskey(request, network)
        case ("POST", "/v1/revocations"): return try revoke(request, network)
        case ("POST", "/v1/rotations"): return try rotate(request, network)
        case ("POST", "/v1/step-ups"): return try stepUp(request, network)
        case ("POST", "/v1/browser-codes"): return try openBrowser(request, network)
        case ("GET", "/v1/openapi.json"): return HTTPResponse(200, "application/json", OpenAPI.text)
        case ("GET", "/health"): return reply(200, [("status", .string("alive"))])
        case ("GET", "/ready"):
            try service.checkStorage()
            return reply(200, [("status", .string("ready"))])
        default: return Problem.response(404)
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

    /// Whether the media type is JSON (RFC 9110, section 8.3.1). Its parameters have no meaning (RFC 8259, section 11).
    private static func isJSON(_ type: String?) -> Bool {
        let name = type?.prefix { $0 != ";" && $0 != " " && $0 != "\t" }
        return name?.lowercased() == "application/json"
    }

    /// The token of a header `Authorization: Bearer ...` (RFC 6750, section 2.1).
    func token(_ request: HTTPRequest) throws(RelyingPartyError) -> [UInt8] {
        guard let header = request.authorization, header.prefix(7).lowercased() == "bearer ",
            let token = StrictBase64.url.decode(header.utf8.dropFirst(7)), token.count == 32
        else { throw .refused(.unknownSession) }
        return token
    }

    private func challenge(_ request: HTTPRequest) throws(RelyingPartyError) -> HTTPResponse {
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
            let session = try service.stepUp(token, context: context, proof)
            return reply(
                200,
                [
                    ("user", .string(session.user)), ("key", .string(StrictBase64.url.encode(session.key))),
                    ("context", .string(context)),
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
