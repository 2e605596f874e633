// SPDX-License-Identifier: Apache-2.0

internal import RelyingParty
internal import RelyingPartyAPI
internal import RelyingPartyCrypto
internal import RelyingPartyHTTP
internal import RelyingPartyJSON

// Requests that show something. Each reply has one page of a list; the next one begins after its last row.

extension Administration {
    func users(_ request: HTTPRequest) throws -> HTTPResponse {
        let body = try RequestBody(request.body, allowing: ["prefix", "after"])
        let users = try interface.service.users(
            prefix: body.text("prefix"), after: body.text("after"), for: administrator(request))
        return interface.reply(
            200,
            [
                (
                    "users",
                    .array(
                        users.map { user in
                            .object([
                                ("user", .string(user.user)), ("keys", .integer(user.keys)),
                                ("frozenKeys", .integer(user.frozenKeys)), ("sessions", .integer(user.sessions)),
                                ("administrator", .bool(user.isAdministrator)),
                            ])
                        })
                )
            ])
    }

    func user(_ request: HTTPRequest) throws -> HTTPResponse {
        let name = try RequestBody(request.body, allowing: ["user"]).text("user")
        guard let user = try interface.service.detail(of: name, for: administrator(request)) else {
            return Problem.response(404, reason: "user")
        }
        return interface.reply(
            200,
            [
                ("user", .string(name)), ("administrator", .bool(user.isAdministrator)),
                ("pseudonym", user.pseudonym.map { .string($0) } ?? .null),
                ("codeExpires", user.codeExpiry.map { .integer($0) } ?? .null),
                ("keys", .array(user.keys.map(KeyReport.json))), ("sessions", .array(user.sessions.map(Self.json))),
                (
                    "events",
                    .array(
                        user.events.map { node, row in
                            guard case .object(let members) = Self.json(row) else { return .null }
                            return .object([("node", .string(node))] + members)
                        })
                ),
            ])
    }

    func keys(_ request: HTTPRequest) throws -> HTTPResponse {
        let body = try RequestBody(request.body, allowing: ["state", "after"])
        guard let state = KeyState(rawValue: try body.text("state")) else {
            throw RelyingPartyError.malformed("state")
        }
        var after: (String, Int64, [UInt8])?
        if let position = try Self.position(body, ["user", "created", "key"]) {
            guard let user = position.member("user")?.text, let created = position.member("created")?.wholeNumber,
                let key = position.member("key")?.text.flatMap({ StrictBase64.url.decode($0.utf8) })
            else { throw RelyingPartyError.malformed("after") }
            after = (user, created, key)
        }
        let keys = try interface.service.keys(state, after: after, for: administrator(request))
        return interface.reply(
            200,
            [
                (
                    "keys",
                    .array(
                        keys.map { listed in
                            guard case .object(let members) = KeyReport.json(listed.key) else { return .null }
                            return .object([("user", .string(listed.user))] + members)
                        })
                )
            ])
    }

    func sessions(_ request: HTTPRequest) throws -> HTTPResponse {
        let body = try RequestBody(request.body, allowing: ["after"])
        var after: (Int64, [UInt8])?
        if let position = try Self.position(body, ["created", "session"]) {
            guard let created = position.member("created")?.wholeNumber,
                let session = position.member("session")?.text.flatMap({ StrictBase64.url.decode($0.utf8) })
            else { throw RelyingPartyError.malformed("after") }
            after = (created, session)
        }
        let sessions = try interface.service.sessions(after: after, for: administrator(request))
        return interface.reply(200, [("sessions", .array(sessions.map(Self.json)))])
    }

    func chains(_ request: HTTPRequest) throws -> HTTPResponse {
        let body = try RequestBody(request.body, allowing: ["watching"])
        let administrator = try administrator(request, isUse: !isWatching(body))
        let chains = try interface.service.chains(for: administrator).map { chain in
            JSONValue.object([("node", .string(chain.node)), ("rows", .integer(chain.count))])
        }
        return interface.reply(200, [("chains", .array(chains))])
    }

    /// The rows after a number, for the verification, or those before one, the last ones first; 0 stands for the end.
    func audit(_ request: HTTPRequest) throws -> HTTPResponse {
        let body = try RequestBody(request.body, allowing: ["node", "after", "before", "watching"])
        let (node, after, before) = (try body.text("node"), try body.number("after"), try body.number("before"))
        guard (after == nil) != (before == nil) else { throw RelyingPartyError.malformed("after") }
        let administrator = try administrator(request, isUse: !isWatching(body))
        let rows: [ListedAuditRow]
        if let after {
            rows = try interface.service.auditRows(of: node, after: after, for: administrator)
        } else {
            rows = try interface.service.auditRows(of: node, before: before == 0 ? nil : before, for: administrator)
        }
        return interface.reply(200, [("rows", .array(rows.map(Self.json)))])
    }

    /// Whether the page asks by itself, because it shows what happens.
    private func isWatching(_ body: RequestBody) throws -> Bool {
        try body.optionalValue("watching") != nil && body.flag("watching")
    }

    /// An object with exactly these members, which is optional.
    private static func position(_ body: RequestBody, _ names: Set<JSONName>) throws -> JSONValue? {
        guard let value = body.optionalValue("after") else { return nil }
        guard case .object(let members) = value, Set(members.map { JSONName($0.name) }) == names else {
            throw RelyingPartyError.malformed("after")
        }
        return value
    }

    private static func json(_ session: ListedSession) -> JSONValue {
        .object([
            ("session", .string(StrictBase64.url.encode(session.identifier))),
            ("key", .string(StrictBase64.url.encode(session.key))), ("user", .string(session.user)),
            ("device", .string(session.device)), ("created", .integer(session.created)),
            ("used", .integer(session.used)), ("expires", .integer(session.expiry)),
            ("browser", .bool(session.isBrowser)),
        ])
    }

    private static func json(_ row: ListedAuditRow) -> JSONValue {
        .object([
            ("number", .integer(row.number)), ("time", .integer(row.time)), ("event", .string(row.event)),
            ("user", .string(row.user)), ("name", row.name.map { .string($0) } ?? .null),
            ("administrator", row.actor.map { .string($0) } ?? .null),
            ("key", .string(StrictBase64.url.encode(row.key))), ("detail", .string(row.detail)),
            ("hash", .string(StrictBase64.url.encode(row.hash))),
        ])
    }
}
