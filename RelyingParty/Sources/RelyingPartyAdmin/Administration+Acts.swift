// SPDX-License-Identifier: Apache-2.0

internal import RelyingParty
internal import RelyingPartyAPI
internal import RelyingPartyCrypto
internal import RelyingPartyHTTP
internal import RelyingPartyJSON

// Requests that change something.

extension Administration {
    /// The target is `user`, `device:NAME` or `key:IDENTIFIER`, as of `POST /v1/revocations`.
    func revoke(_ request: HTTPRequest) throws -> HTTPResponse {
        let body = try RequestBody(request.body, allowing: ["user", "target"])
        let (user, target) = (try body.text("user"), try body.revocationTarget())
        let count = try interface.service.revoke(target, of: user, by: administrator(request))
        return interface.reply(200, [("revokedKeys", .integer(Int64(count)))])
    }

    func unfreeze(_ request: HTTPRequest) throws -> HTTPResponse {
        let body = try RequestBody(request.body, allowing: ["user", "key", "proof"])
        let (user, key, proof) = (try body.text("user"), try body.bytes("key"), try body.administratorProof())
        guard try interface.service.unfreeze(key, of: user, by: administrator(request), proof) else {
            return Problem.response(404, reason: "frozen key")
        }
        return interface.reply(200, [("unfrozen", .bool(true))])
    }

    func makeCode(_ request: HTTPRequest) throws -> HTTPResponse {
        let body = try RequestBody(request.body, allowing: ["user", "proof"])
        let (user, proof) = (try body.text("user"), try body.administratorProof())
        let (code, expiry) = try interface.service.makeCode(for: user, by: administrator(request), proof)
        return interface.reply(201, [("code", .string(code)), ("expires", .integer(expiry))])
    }

    /// Ends one session of a user, or all of them if none is named.
    func endSessions(_ request: HTTPRequest) throws -> HTTPResponse {
        let body = try RequestBody(request.body, allowing: ["user", "session"])
        let (user, named) = (try body.text("user"), try body.optionalText("session") != nil)
        let session = named ? try body.bytes("session") : nil
        let count = try interface.service.endSessions(of: user, session, by: administrator(request))
        return interface.reply(200, [("endedSessions", .integer(Int64(count)))])
    }
}
