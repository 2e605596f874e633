// SPDX-License-Identifier: Apache-2.0

internal import RelyingParty
internal import RelyingPartyAPI
internal import RelyingPartyJSON

/// The command `export USER [--json]`: everything that is stored of a user, but hashes of tokens and codes.
enum ExportCommand {
    static func run(_ command: Invocation) throws {
        let stored = try command.service().export(command.words[0])
        guard stored.pseudonym != nil || !stored.keys.isEmpty || !stored.events.isEmpty else {
            throw Usage("nothing is stored of this user")
        }
        let text = command.has(.json) ? json(stored).encoded : lines(stored).joined(separator: "\n")
        Output.write(text + "\n")
    }

    private static func lines(_ stored: StoredUser) -> [String] {
        var lines = ["user: \(JSONValue.string(stored.user).encoded)"]
        lines.append("pseudonym in the audit log: \(stored.pseudonym ?? "none")")
        if let expiry = stored.codeExpiry { lines.append("enrolment code: expires at \(expiry)") }
        lines.append("keys: \(stored.keys.count)")
        lines += stored.keys.flatMap(AccountReport.lines).map { "    " + $0 }
        lines.append("open sessions: \(stored.sessions.count)")
        lines += stored.sessions.map { "    opened \($0.created), used \($0.used), ends \($0.expiry)" }
        lines.append("audit log: \(stored.events.count) rows")
        lines += stored.events.map { event in
            "    \(event.number) at \(event.time): \(event.event) \(JSONValue.string(event.detail).encoded)"
        }
        return lines
    }

    private static func json(_ stored: StoredUser) -> JSONValue {
        let sessions = stored.sessions.map { session in
            JSONValue.object([
                ("key", KeyReport.bytes(session.key)), ("created", .integer(session.created)),
                ("used", .integer(session.used)), ("expires", .integer(session.expiry)),
            ])
        }
        let events = stored.events.map { event in
            JSONValue.object([
                ("number", .integer(event.number)), ("time", .integer(event.time)), ("event", .string(event.event)),
                ("key", KeyReport.bytes(event.key)), ("detail", .string(event.detail)),
            ])
        }
        return .object([
            ("user", .string(stored.user)), ("pseudonym", stored.pseudonym.map { .string($0) } ?? .null),
            ("codeExpires", KeyReport.number(stored.codeExpiry)),
            ("keys", .array(stored.keys.map(KeyReport.json))), ("sessions", .array(sessions)),
            ("events", .array(events)),
        ])
    }
}
