// SPDX-License-Identifier: Apache-2.0

internal import RelyingParty
internal import RelyingPartyAPI
internal import RelyingPartyCrypto
internal import RelyingPartyHTTP
internal import RelyingPartyJSON

// Requests that begin and end the session of a browser.

extension Administration {
    /// The requests of the page.
    static let routes = Routes<Administration>([
        request("code") { page, request, _ in try page.describeCode(request) },
        request("sign-in") { page, request, _ in try page.signIn(request) },
        request("passkey") { page, request, network in try page.signInWithPasskey(request, network) },
        request("sign-out") { page, request, _ in try page.signOut(request) },
        request("session") { page, request, _ in try page.session(request) },
        request("users") { page, request, _ in try page.users(request) },
        request("user") { page, request, _ in try page.user(request) },
        request("keys") { page, request, _ in try page.keys(request) },
        request("sessions") { page, request, _ in try page.sessions(request) },
        request("chains") { page, request, _ in try page.chains(request) },
        request("audit") { page, request, _ in try page.audit(request) },
        request("revoke") { page, request, _ in try page.revoke(request) },
        request("unfreeze") { page, request, _ in try page.unfreeze(request) },
        request("enrolment-code") { page, request, _ in try page.makeCode(request) },
        request("end-sessions") { page, request, _ in try page.endSessions(request) },
    ])

    private static func request(
        _ name: String, _ answer: @escaping Route<Administration>.Answer
    ) -> Route<Administration> {
        Route("POST", "/admin/api/" + name, body: .json, answer)
    }

    /// The right to answer a request: a browser's session of a user who is an administrator now.
    ///
    /// - Parameter isUse: whether a person asks. What the page asks for by itself must not prolong the session.
    func administrator(_ request: HTTPRequest, isUse: Bool = true) throws -> AdministratorSession {
        guard let token = Cookie.token(request) else { throw RelyingPartyError.refused(.unknownSession) }
        return try interface.service.administrator(token, isUse: isUse)
    }

    /// Returns the user for whom a code opens a session. The page asks before it uses a code, so that the person notices a
    /// link that would sign them in as another user.
    private func describeCode(_ request: HTTPRequest) throws -> HTTPResponse {
        let code = try RequestBody(request.body, allowing: ["code"]).bytes("code")
        return interface.reply(200, [("user", .string(try interface.service.userOfBrowserCode(code)))])
    }

    private func signIn(_ request: HTTPRequest) throws -> HTTPResponse {
        let code = try RequestBody(request.body, allowing: ["code"]).bytes("code")
        let (token, expiry) = try interface.service.openBrowserSession(code: code)
        return try signedIn(request, token, expiry)
    }

    private func signInWithPasskey(_ request: HTTPRequest, _ network: [UInt8]?) throws -> HTTPResponse {
        try interface.answerSignIn(request, network) { response throws(RelyingPartyError) in
            let (token, expiry) = try interface.service.signInAdministrator(response)
            return try signedIn(request, token, expiry)
        }
    }

    /// The cookie of a new session. The session of the one before ends: the browser has no cookie of it any more.
    private func signedIn(
        _ request: HTTPRequest, _ token: [UInt8], _ expiry: Int64
    ) throws(RelyingPartyError) -> HTTPResponse {
        if let before = Cookie.token(request) { try interface.service.endSession(before, of: .browser) }
        let reply = interface.reply(201, [("expires", .integer(expiry))])
        return HTTPResponse(reply.status, reply.contentType, reply.body, headers: [Cookie.setting(token)])
    }

    /// Ends the session, or all sessions of its user.
    private func signOut(_ request: HTTPRequest) throws -> HTTPResponse {
        let body = try RequestBody(request.body, allowing: ["everywhere"])
        if try body.flag("everywhere") {
            let administrator = try administrator(request)
            _ = try interface.service.endSessions(of: administrator.user, nil, by: administrator)
        } else if let token = Cookie.token(request) {
            try interface.service.endSession(token, of: .browser)
        }
        return HTTPResponse(204, "application/json", "", headers: [Cookie.ending])
    }

    private func session(_ request: HTTPRequest) throws -> HTTPResponse {
        _ = try RequestBody(request.body, allowing: [])
        // Not counted as a refused proof: the page asks before it knows whether it has a session.
        guard Cookie.token(request) != nil else { return Problem.response(401, reason: "no cookie") }
        let session = try administrator(request)
        return interface.reply(
            200,
            [
                ("user", .string(session.user)), ("key", .string(StrictBase64.url.encode(session.key))),
                ("session", .string(StrictBase64.url.encode(session.identifier))),
                ("form", .string(session.form.name)),
                ("expires", .integer(session.expiry)), ("idleSeconds", .integer(session.idleSeconds)),
                ("relyingParty", .string(interface.service.relyingPartyID)),
            ])
    }
}
