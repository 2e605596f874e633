// SPDX-License-Identifier: Apache-2.0

package import RelyingPartyHTTP
internal import Synchronization

/// What the server has done since it started, in the text format of Prometheus 0.0.4. Contains no names of users.
package final class Metrics: Sendable {
    private struct Request: Hashable {
        let path: String
        let status: UInt32
    }

    private struct State: Sendable {
        var requests: [Request: UInt64] = [:]
        var reasons: [String: UInt64] = [:]
        /// By the index of the bound; the last one is for longer durations.
        var durations = [UInt64](repeating: 0, count: Metrics.bounds.count + 1)
        var nanoseconds: UInt64 = 0
        var certificateExpiry: Int64?
    }

    /// Upper bounds of durations, in microseconds.
    private static let bounds: [UInt64] = [100, 250, 500, 1_000, 2_500, 5_000, 10_000, 50_000, 250_000, 1_000_000]
    private let state = Mutex(State())
    private let paths: Set<String>

    /// Begins with zeros.
    ///
    /// - Parameter paths: the paths that exist besides those of the interface.
    package init(paths: Set<String> = []) { self.paths = paths.union(Interface.routes.paths) }

    /// Counts a request.
    ///
    /// - Parameters:
    ///   - request: the request.
    ///   - response: its response.
    ///   - nanoseconds: how long the response took to compute.
    package func count(_ request: HTTPRequest, _ response: HTTPResponse, nanoseconds: Int64) {
        // Paths that do not exist are one, so that a client cannot invent series.
        let path = paths.contains(request.path) ? request.path : "unknown"
        let duration = UInt64(max(0, nanoseconds))
        let index = Self.bounds.firstIndex { duration <= $0 * 1000 } ?? Self.bounds.count
        let reason = response.status == 401 || response.status == 429 ? response.reason : nil
        state.withLock { state in
            state.requests[Request(path: path, status: response.status), default: 0] += 1
            if let reason { state.reasons[reason, default: 0] += 1 }
            state.durations[index] += 1
            state.nanoseconds &+= duration
        }
    }

    /// Sets when the certificate of TLS expires, in seconds since 1970; nil without TLS.
    package func setCertificateExpiry(_ seconds: Int64?) { state.withLock { $0.certificateExpiry = seconds } }

    /// Answers a request to the port for metrics.
    ///
    /// - Parameters:
    ///   - request: the request.
    ///   - connections: the counts of the server of the interface.
    package func respond(to request: HTTPRequest, _ connections: ConnectionCounts) -> HTTPResponse {
        guard request.path == "/metrics" else { return Problem.response(404) }
        guard request.method == "GET" else { return Problem.response(405, headers: [("Allow", "GET")]) }
        return HTTPResponse(200, "text/plain; version=0.0.4", text(connections))
    }

    private static func lines(_ connections: ConnectionCounts, _ certificateExpiry: Int64?) -> [String] {
        var rows = [
            ("connections", "gauge", "\(connections.open)"),
            ("connections_accepted_total", "counter", "\(connections.accepted)"),
            ("connections_refused_total", "counter", "\(connections.refused)"),
            ("tls_handshake_failures_total", "counter", "\(connections.failedHandshakes)"),
        ]
        if let certificateExpiry {
            rows.append(("certificate_expiry_timestamp_seconds", "gauge", "\(certificateExpiry)"))
        }
        return rows.flatMap { name, type, value in
            ["# TYPE latchkey_server_\(name) \(type)", "latchkey_server_\(name) \(value)"]
        }
    }

    private func text(_ connections: ConnectionCounts) -> String {
        let state = state.withLock(\.self)
        var lines = ["# TYPE latchkey_server_requests_total counter"]
        for (request, count) in state.requests.sorted(by: {
            ($0.key.path, $0.key.status) < ($1.key.path, $1.key.status)
        }) {
            lines.append(
                "latchkey_server_requests_total{path=\"\(request.path)\",status=\"\(request.status)\"} \(count)")
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
        lines += Self.lines(connections, state.certificateExpiry)
        return lines.joined(separator: "\n") + "\n"
    }
}
