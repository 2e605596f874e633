// SPDX-License-Identifier: Apache-2.0

internal import RelyingParty
internal import RelyingPartyAPI
internal import RelyingPartyCrypto
internal import RelyingPartyHTTP
internal import RelyingPartyJSON

// Requests that begin and end the session of a browser.

extension Administration {
    /// What answers a request of the page; throws `RelyingPartyError`.
    typealias Request = @Sendable (Administration, HTTPRequest) throws -> HTTPResponse

    /// The requests by the ends of their paths.
    static let requests: [String: Request] = [
        "code": { try $0.describeCode($1) },
        "sign-in": { try $0.signIn($1) },
        "passkey": { try $0.signInWithPasskey($1) },
        "sign-out": { try $0.signOut($1) },
        "session": { try $0.session($1) },
        "users": { try $0.users($1) },
        "user": { try $0.user($1) },
        "keys": { try $0.keys($1) },
        "sessions": { try $0.sessions($1) },
        "chains": { try $0.chains($1) },
        "audit": { try $0.audit($1) },
        "revoke": { try $0.revoke($1) },
        "unfreeze": { try $0.unfreeze($1) },
        "enrolment-code": { try $0.makeCode($1) },
        "end-sessions": { try $0.endSessions($1) },
    ]

    /// The right to answer a request: a browser's session of a user who is an administrator now.
    func administrator(_ request: HTTPRequest) throws -> AdministratorSession {
        guard let token = Cookie.token(request) else { throw RelyingPartyError.refused(.unknownSession) }
        return try interface.service.administrator(token)
    }

    /// Whose session a code would open. The page asks, so that a link with a code of somebody else is noticed.
    private func describeCode(_ request: HTTPRequest) throws -> HTTPResponse {
        let code = try RequestBody(request.body, allowing: ["code"]).bytes("code")
        return interface.reply(200, [("user", .string(try interface.service.userOfBrowserCode(code)))])
    }

    private func signIn(_ request: HTTPRequest) throws -> HTTPResponse {
        let code = try RequestBody(request.body, allowing: ["code"]).bytes("code")
        let (token, expiry) = try interface.service.openBrowserSession(code: code)
        return try signedIn(request, token, expiry)
    }

    private func signInWithPasskey(_ request: HTTPRequest) throws -> HTTPResponse {
        let (token, expiry) = try interface.service.signIn(interface.passkeySignIn(request), in: .browser)
        do {
            _ = try interface.service.administrator(token)
        } catch {
            // The user has proven who it is, and has no use for the session.
            try interface.service.endSession(token, of: .browser)
            throw error
        }
        return try signedIn(request, token, expiry)
    }

    /// The cookie of a new session. The session of the one before ends: nobody looks after it any more.
    private func signedIn(_ request: HTTPRequest, _ token: [UInt8], _ expiry: Int64) throws -> HTTPResponse {
        if let before = Cookie.token(request) { try interface.service.endSession(before, of: .browser) }
        let reply = interface.reply(201, [("expires", .integer(expiry))])
        return HTTPResponse(reply.status, reply.contentType, reply.body, headers: [Cookie.setting(token)])
    }

    /// Ends the session, or all sessions of its user.
    private func signOut(_ request: HTTPRequest) throws -> HTTPResponse {
        let body = try RequestBody(request.body, allowing: ["everywhere"])
        guard case .bool(let everywhere) = try body.value("everywhere") else {
            throw RelyingPartyError.malformed("everywhere")
        }
        if everywhere {
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
                ("expires", .integer(session.expiry)), ("idleSeconds", .integer(session.idleSeconds)),
                ("relyingParty", .string(interface.service.relyingPartyID)),
            ])
    }
}
