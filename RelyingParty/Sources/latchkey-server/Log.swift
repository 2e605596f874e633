// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import RelyingPartyHTTP
internal import RelyingPartyJSON
internal import Synchronization

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

    /// Writes the refusal of a request whose body was not read.
    static func write(unread status: UInt32) {
        line(
            "request",
            [("path", .string("unread")), ("status", .integer(Int64(status))), ("reason", .string("framing"))])
    }

    static func line(_ event: String, _ members: [(name: String, value: JSONValue)]) {
        let time = JSONValue.integer(Int64(Glibc.time(nil)))
        var text: [UInt8] = []
        JSONValue.object([("time", time), ("event", .string(event))] + members).write(to: &text)
        write(line: text)
    }

    /// The lines that were lost since the last one that was written.
    private static let lost = Mutex(0)

    /// Writes a line in one call. A log that nothing reads must not stop the server: a line that would block is lost, and
    /// the next one that is written says how many were.
    static func error(_ text: String) { write(line: Array(text.utf8)) }

    private static func write(line: [UInt8]) {
        lost.withLock { lost in
            var bytes = line + [0x0a]
            if lost > 0 {
                bytes = Array((JSONValue.object([("lostLines", .integer(Int64(lost)))]).encoded + "\n").utf8) + bytes
            }
            var output = pollfd(fd: 2, events: Int16(POLLOUT), revents: 0)
            // A pipe that takes anything takes PIPE_BUF bytes, 4096, without blocking (pipe(7)).
            if bytes.count > 4096 { bytes = Array(bytes[..<4095]) + [0x0a] }
            guard poll(&output, 1, 0) == 1, Glibc.write(2, bytes, bytes.count) == bytes.count else {
                lost += 1
                return
            }
            lost = 0
        }
    }
}
