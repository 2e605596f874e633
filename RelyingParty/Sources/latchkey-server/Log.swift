// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import RelyingPartyAPI
internal import RelyingPartyHTTP
internal import RelyingPartyJSON
internal import Synchronization

/// The log: a JSON object in each line of standard error.
enum Log {
    /// Writes one request. Bodies, tokens, signatures and names of users are never written.
    ///
    /// - Parameters:
    ///   - request: the request; nil if libmicrohttpd does not tell which one it refused.
    ///   - route: its path and method, if they are known ones.
    ///   - reason: why it was refused; empty for no reason.
    ///   - key: a pseudonym of the key that it is about; empty for none.
    ///   - node: the name of this node; empty for a server with a database of its own.
    static func write(
        _ request: HTTPRequest?, _ route: (path: String, method: String)?, status: UInt32, reason: String,
        key: String = "", node: String
    ) {
        var members: [(name: String, value: JSONValue)] = [
            ("path", .string(route?.path ?? "unread")), ("method", .string(route?.method ?? "unread")),
            ("status", .integer(Int64(status))), ("reason", .string(reason)), ("node", .string(node)),
        ]
        if let request {
            members += [
                ("request", .string(request.identifier)),
                ("network", request.network.map { .string(ClientAddress.text(of: $0)) } ?? .null),
            ]
            // One that libmicrohttpd refused was never complete.
            if request.received > 0 {
                members.append(("microseconds", .integer((MonotonicTime.nanoseconds - request.received) / 1000)))
            }
        }
        if !key.isEmpty { members.append(("key", .string(key))) }
        line("request", members)
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
