// SPDX-License-Identifier: Apache-2.0

internal import RelyingParty
internal import RelyingPartyCrypto
internal import RelyingPartyHTTP
internal import RelyingPartyJSON

// Requests of registered services: the back ends of applications.

extension Interface {
    /// Whether a token is that of an open session (RFC 7662). A token of another form is that of none.
    func introspect(_ request: HTTPRequest, _: [UInt8]?) throws(RelyingPartyError) -> HTTPResponse {
        let body = try RequestBody(form: request.body, allowing: ["token", "token_type_hint", "use"])
        let token = try body.bytesOrNone("token")
        let isUse: Bool
        switch try body.optionalText("use") {
        case nil, "false": isUse = false
        case "true": isUse = true
        default: throw .malformed("use")
        }
        guard let session = try service.introspect(token, isUse: isUse, by: credential(request)) else {
            return reply(200, [("active", .bool(false))])
        }
        let known = session.session
        var response = reply(
            200,
            [
                ("active", .bool(true)), ("token_type", .string("Bearer")), ("iss", .string(service.relyingPartyID)),
                ("sub", .string(known.user)), ("iat", .integer(session.created)), ("exp", .integer(known.expiry)),
                ("auth_time", .integer(session.created)),
            ] + (session.stepped.map { [("last_step_up", .integer($0))] } ?? []) + [
                ("session", .string(StrictBase64.url.encode(session.identifier))),
                ("key", .string(StrictBase64.url.encode(known.key))), ("form", .string(known.form.name)),
                ("proven", proven(known.attestation)), ("claimed", claimed(known.attestation, known.declaredTier)),
            ])
        response.key = Self.pseudonym(known.key)
        return response
    }

    /// Redeems the approval of a step-up. An approval or token of another form, which the service has from its client, is none.
    func redeem(_ request: HTTPRequest, _: [UInt8]?) throws(RelyingPartyError) -> HTTPResponse {
        let body = try RequestBody(request.body, allowing: ["approval", "token", "context"])
        let (approval, token, context) = (
            try body.bytesOrNone("approval"), try body.bytesOrNone("token"), try body.text("context")
        )
        guard let redeemed = try service.redeem(approval, token: token, context: context, by: credential(request))
        else { return reply(200, [("valid", .bool(false))]) }
        return reply(
            200,
            [
                ("valid", .bool(true)), ("user", .string(redeemed.user)),
                ("key", .string(StrictBase64.url.encode(redeemed.key))), ("context", .string(context)),
                ("approved", .integer(redeemed.approved)),
            ])
    }

    /// Makes an enrolment code for a user of the service.
    func permitEnrolment(_ request: HTTPRequest, _: [UInt8]?) throws(RelyingPartyError) -> HTTPResponse {
        let user = try RequestBody(request.body, allowing: ["user"]).text("user")
        let (code, expiry) = try service.makeCode(for: user, by: credential(request))
        return reply(201, [("code", .string(code)), ("expires", .integer(expiry))])
    }

    /// The name and the credential of a header `Authorization: Basic ...` (RFC 7617).
    private func credential(_ request: HTTPRequest) throws(RelyingPartyError) -> ServiceCredential {
        guard let header = request.authorization, header.prefix(6).lowercased() == "basic ",
            let pair = StrictBase64.standard.decode(Array(header.utf8.dropFirst(6))),
            let colon = pair.firstIndex(of: UInt8(ascii: ":")),
            let name = String(validating: pair[..<colon], as: UTF8.self),
            let secret = StrictBase64.url.decode(pair[(colon + 1)...]), secret.count == 32
        else { throw .refused(.unknownService) }
        return ServiceCredential(name: name, secret: secret)
    }
}

extension RequestBody {
    /// The bytes of a member; none for a text that is not base64url.
    fileprivate func bytesOrNone(_ name: String) throws(RelyingPartyError) -> [UInt8] {
        StrictBase64.url.decode(try text(name).utf8) ?? []
    }
}
