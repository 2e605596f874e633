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

    static func error(_ text: String) { write(line: Array(text.utf8)) }

    private static let queue = Mutex(LogQueue())

    /// Writes a line, unless another thread is writing, which then writes this one as well: threads that wait for each other
    /// here would cost more than all of the rest of a request. A log that nothing reads must not stop the server: lines that
    /// would block are lost, and the next one that is written says how many were.
    private static func write(line: [UInt8]) {
        guard queue.withLock({ $0.add(line) }) else { return }
        while let (bytes, lines) = queue.withLock({ $0.next() }) {
            var output = pollfd(fd: 2, events: Int16(POLLOUT), revents: 0)
            if poll(&output, 1, 0) == 1, Glibc.write(2, bytes, bytes.count) == bytes.count { continue }
            queue.withLock { $0.lose(lines) }
        }
    }
}
