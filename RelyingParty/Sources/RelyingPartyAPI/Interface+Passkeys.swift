// SPDX-License-Identifier: Apache-2.0

package import RelyingParty
internal import RelyingPartyCrypto
package import RelyingPartyHTTP
internal import RelyingPartyJSON
package import SignInVerification

// Requests of browsers, whose keys are passkeys.

extension Interface {
    /// The limit of what is counted for one credential: an identifier can be longer, and memory is finite.
    private static let countedBytes = 32

    func passkeyChallenge(_ request: HTTPRequest, _: [UInt8]?) throws(RelyingPartyError) -> HTTPResponse {
        let body = try RequestBody(request.body, allowing: ["purpose", "user"])
        let (purpose, user) = (try body.text("purpose"), try body.optionalText("user"))
        let (challenge, handle): ([UInt8], [UInt8]?)
        switch (purpose, user) {
        case ("login", nil): (challenge, handle) = (try service.passkeyChallenge(), nil)
        case ("register", let user?): (challenge, handle) = try service.passkeyChallenge(registering: user)
        case ("login", _), ("register", _): throw .malformed("user")
        default: throw .malformed("purpose")
        }
        // What the page gives to the browser: milliseconds, as WebAuthn has them.
        var members: [(name: String, value: JSONValue)] = [
            ("challenge", .string(StrictBase64.url.encode(challenge))),
            ("relyingParty", .string(service.relyingPartyID)), ("timeout", .integer(service.passkeySeconds * 1000)),
        ]
        if let handle { members.append(("userHandle", .string(StrictBase64.url.encode(handle)))) }
        return reply(200, members)
    }

    func registerPasskey(_ request: HTTPRequest, _ network: [UInt8]?) throws(RelyingPartyError) -> HTTPResponse {
        let body = try RequestBody(
            request.body, allowing: ["user", "device", "credential", "enrollmentCode", "sessionProof"])
        let (user, device) = (try body.text("user"), try body.optionalText("device") ?? "")
        let response = try body.registration()
        let right: RegistrationRight =
            if let code = try body.optionalText("enrollmentCode") {
                .code(code)
            } else {
                .session(try token(request), try body.sessionProof())
            }
        return try limited(user, nil, network) { () throws(RelyingPartyError) in
            let key = try service.registerPasskey(response, of: user, device: device, right)
            return registered(key, RelyingPartyService.passkeyTier, .none)
        }
    }

    func signInWithPasskey(_ request: HTTPRequest, _ network: [UInt8]?) throws(RelyingPartyError) -> HTTPResponse {
        try answerSignIn(request, network) { response throws(RelyingPartyError) in
            try opened(service.signIn(response))
        }
    }

    /// Answers a sign-in with a passkey, unless the client sent too many with this one that were refused.
    ///
    /// - Parameters:
    ///   - network: the network of the client; nil if no limits hold.
    ///   - body: opens the session with what the browser returned after a user chose a passkey.
    package func answerSignIn(
        _ request: HTTPRequest, _ network: [UInt8]?,
        _ body: (PasskeyAssertionResponse) throws(RelyingPartyError) -> HTTPResponse
    ) throws(RelyingPartyError) -> HTTPResponse {
        let response = try RequestBody(request.body, allowing: ["credential"]).assertion()
        let counted = Array(response.credential.prefix(Self.countedBytes))
        return try limited(nil, counted, network) { () throws(RelyingPartyError) in try body(response) }
    }
}
