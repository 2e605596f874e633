// SPDX-License-Identifier: Apache-2.0

package import RelyingParty
package import RelyingPartyHTTP
internal import Synchronization

/// What the server has done since it started, in the text format of Prometheus 0.0.4. Contains no names of users.
package final class Metrics: Sendable {
    private struct Request: Hashable {
        let path: String
        let method: String
        let status: UInt32
    }

    /// What the metrics show of a server that is running.
    package struct Running: Sendable {
        var rows: [(name: String, type: String, value: String)]

        /// - Parameters:
        ///   - connections: the counts of the server of the interface.
        ///   - queue: its requests that wait for a worker, and those that were refused before.
        ///   - database: how the database is used.
        package init(
            _ connections: ConnectionCounts, _ queue: (waiting: Int, shed: UInt64, late: UInt64),
            _ database: DatabaseUse
        ) {
            rows = [
                ("connections", "gauge", "\(connections.open)"),
                ("connections_accepted_total", "counter", "\(connections.accepted)"),
                ("connections_refused_total", "counter", "\(connections.refused)"),
                ("connections_without_request_total", "counter", "\(connections.withoutRequest)"),
                ("tls_handshake_failures_total", "counter", "\(connections.failedHandshakes)"),
                ("queue_requests", "gauge", "\(queue.waiting)"),
                ("queue_shed_total", "counter", "\(queue.shed)"),
                ("queue_abandoned_total", "counter", "\(queue.late)"),
                ("database_connections", "gauge", "\(database.connections)"),
                ("database_connections_in_use", "gauge", "\(database.inUse)"),
                ("database_waiting", "gauge", "\(database.waiting)"),
            ]
        }
    }

    private struct State: Sendable {
        var requests: [Request: UInt64] = [:]
        var reasons: [String: UInt64] = [:]
        /// By the index of the bound; the last one is for longer durations.
        var durations = [UInt64](repeating: 0, count: Metrics.bounds.count + 1)
        var nanoseconds: UInt64 = 0
        var certificateExpiry: Int64?
        /// Requests that were refused without asking the handler, by the reason and status.
        var refused: [Refused: UInt64] = [:]
        var withoutClient: UInt64 = 0
    }

    private struct Refused: Hashable {
        let reason: String
        let status: UInt32
    }

    /// Upper bounds of durations, in microseconds.
    private static let bounds: [UInt64] = [100, 250, 500, 1_000, 2_500, 5_000, 10_000, 50_000, 250_000, 1_000_000]
    private let state = Mutex(State())
    private let paths: Set<String>
    private let version: String
    private static let methods: Set<String> = ["GET", "HEAD", "POST", "DELETE", "PUT", "PATCH", "OPTIONS"]

    /// Begins with zeros.
    ///
    /// - Parameters:
    ///   - version: that of the program.
    ///   - paths: the paths that exist besides those of the interface.
    package init(version: String, paths: Set<String> = []) {
        self.version = version
        self.paths = paths.union(Interface.routes.paths)
    }

    /// Counts a request.
    ///
    /// - Parameters:
    ///   - request: the request.
    ///   - response: its response.
    ///   - nanoseconds: how long the response took since the request was complete.
    package func count(_ request: HTTPRequest, _ response: HTTPResponse, nanoseconds: Int64) {
        let (path, method) = route(of: request)
        let duration = UInt64(max(0, nanoseconds))
        let index = Self.bounds.firstIndex { duration <= $0 * 1000 } ?? Self.bounds.count
        let reason = response.status == 401 || response.status == 429 ? response.reason : nil
        state.withLock { state in
            state.requests[Request(path: path, method: method, status: response.status), default: 0] += 1
            if let reason { state.reasons[reason, default: 0] += 1 }
            state.durations[index] += 1
            state.nanoseconds &+= duration
        }
    }

    /// The path and method of a request, for metrics and the log. Paths that do not exist are one, and so are other methods:
    /// a client cannot invent series, or write into the log.
    package func route(of request: HTTPRequest) -> (path: String, method: String) {
        (
            paths.contains(request.path) ? request.path : "unknown",
            request.isHead ? "HEAD" : Self.methods.contains(request.method) ? request.method : "unknown"
        )
    }

    /// Counts a request to which the handler gave no answer.
    package func count(_ refusal: HTTPRefusal) {
        state.withLock {
            $0.refused[Refused(reason: refusal.reason.rawValue, status: refusal.status), default: 0] += 1
        }
    }

    /// Counts a request of a trusted proxy that named no client.
    package func countWithoutClient() { state.withLock { $0.withoutClient += 1 } }

    /// How many requests of trusted proxies named no client.
    package var withoutClient: UInt64 { state.withLock(\.withoutClient) }

    /// Sets when the certificate of TLS expires, in seconds since 1970; nil without TLS.
    package func setCertificateExpiry(_ seconds: Int64?) { state.withLock { $0.certificateExpiry = seconds } }

    /// Answers a request to the port for metrics.
    ///
    /// - Parameters:
    ///   - request: the request.
    ///   - running: the state of the server of the interface.
    package func respond(to request: HTTPRequest, _ running: Running) -> HTTPResponse {
        guard request.path == "/metrics" else { return Problem.response(404) }
        guard request.method == "GET" else { return Problem.response(405, headers: [("Allow", "GET")]) }
        return HTTPResponse(200, "text/plain; version=0.0.4", text(running))
    }

    private func text(_ running: Running) -> String {
        let state = state.withLock(\.self)
        var lines = [
            "# TYPE latchkey_server_build_info gauge", "latchkey_server_build_info{version=\"\(version)\"} 1",
            "# TYPE latchkey_server_requests_total counter",
        ]
        for (request, count) in state.requests.sorted(by: {
            ($0.key.path, $0.key.method, $0.key.status) < ($1.key.path, $1.key.method, $1.key.status)
        }) {
            let labels = "path=\"\(request.path)\",method=\"\(request.method)\",status=\"\(request.status)\""
            lines.append("latchkey_server_requests_total{\(labels)} \(count)")
        }
        lines.append("# TYPE latchkey_server_unanswered_total counter")
        for (refused, count) in state.refused.sorted(by: {
            ($0.key.reason, $0.key.status) < ($1.key.reason, $1.key.status)
        }) {
            let labels = "reason=\"\(refused.reason)\",status=\"\(refused.status)\""
            lines.append("latchkey_server_unanswered_total{\(labels)} \(count)")
        }
        lines.append("# TYPE latchkey_server_refusals_total counter")
        for (reason, count) in state.reasons.sorted(by: { $0.key < $1.key }) {
            lines.append("latchkey_server_refusals_total{reason=\"\(reason)\"} \(count)")
        }
        lines.append("# TYPE latchkey_server_request_seconds histogram")
        var sum: UInt64 = 0
        for (bound, count) in zip(Self.bounds.map { "\(Double($0) / 1_000_000)" } + ["+Inf"], state.durations) {
            sum += count
            lines.append("latchkey_server_request_seconds_bucket{le=\"\(bound)\"} \(sum)")
        }
        lines.append("latchkey_server_request_seconds_sum \(Double(state.nanoseconds) / 1_000_000_000)")
        lines.append("latchkey_server_request_seconds_count \(sum)")
        var rows = running.rows
        rows.append(("requests_without_client_total", "counter", "\(state.withoutClient)"))
        if let expiry = state.certificateExpiry {
            rows.append(("certificate_expiry_timestamp_seconds", "gauge", "\(expiry)"))
        }
        lines += rows.flatMap { name, type, value in
            ["# TYPE latchkey_server_\(name) \(type)", "latchkey_server_\(name) \(value)"]
        }
        return lines.joined(separator: "\n") + "\n"
    }
}
