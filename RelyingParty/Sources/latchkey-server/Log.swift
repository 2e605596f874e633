// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import RelyingPartyHTTP
internal import RelyingPartyJSON

/// The log: a JSON object in each line of standard error.
enum Log {
    /// Writes one request. The path is written only if the interface knows it; bodies, tokens, signatures and
    /// names of users are never written.
    static func write(_ request: HTTPRequest, _ response: HTTPResponse) {
        let isKnown = response.status != 404
        line(
            "request",
            [
                ("path", .string(isKnown ? request.path : "unknown")), ("status", .integer(Int64(response.status))),
                ("reason", .string(response.reason)),
            ])
    }

    static func line(_ event: String, _ members: [(name: String, value: JSONValue)]) {
        let time = JSONValue.integer(Int64(Glibc.time(nil)))
        let text = JSONValue.object([("time", time), ("event", .string(event))] + members).encoded
        error(text)
    }

    /// Writes a line in one call, so that lines of several threads do not mix. A log that cannot be written is lost.
    static func error(_ text: String) {
        let bytes = Array((text + "\n").utf8)
        _ = Glibc.write(2, bytes, bytes.count)
    }
}
