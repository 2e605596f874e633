// SPDX-License-Identifier: Apache-2.0

// Only this file calls libmicrohttpd; no C type is visible outside it.

internal import CServerHTTP
internal import Glibc

/// What answers requests. Called on the threads of the server, several at a time.
package typealias HTTPHandler = @Sendable (HTTPRequest) -> HTTPResponse

/// A server on a socket that listens already.
package final class HTTPServer: @unchecked Sendable {
    // `daemon` is set by the initialiser and changed by `stop` only, which is called once.
    private var daemon: OpaquePointer?
    private let context: ServerContext

    /// Starts to serve; nil when libmicrohttpd cannot start.
    ///
    /// - Parameters:
    ///   - socket: a listening socket, which the server owns from now on.
    ///   - limits: limits of every connection.
    ///   - handler: what answers requests whose bodies are complete.
    ///   - refusal: the response to a request that is refused before its body is read, by status.
    package init?(
        socket: CInt, limits: HTTPLimits, handler: @escaping HTTPHandler,
        refusal: @escaping @Sendable (UInt32) -> HTTPResponse
    ) {
        context = ServerContext(limits, handler, refusal)
        let pointer = Unmanaged.passUnretained(context).toOpaque()
        daemon = latchkey_server_start(
            socket, limits.threads, limits.connections, limits.idleSeconds, limits.connectionBytes,
            { context, connection, url, method, _, data, size, state in
                guard let context, let connection, let url, let method, let size, let state else { return .NO }
                let server = Unmanaged<ServerContext>.fromOpaque(context).takeUnretainedValue()
                return server.received(connection, url, method, data, size, state)
            },
            { context, connection, state, _ in
                guard let context, let connection, let state else { return }
                let server = Unmanaged<ServerContext>.fromOpaque(context).takeUnretainedValue()
                server.completed(connection, state)
            },
            { context, connection, _, code in
                guard let context, let connection else { return }
                let server = Unmanaged<ServerContext>.fromOpaque(context).takeUnretainedValue()
                server.deadlines.changed(latchkey_server_socket(connection), latchkey_server_started(code) != 0)
            }, pointer)
        if daemon == nil { return nil }
    }

    /// Cuts off the connections whose requests take too long. To be called about once a second.
    package func enforceDeadlines() { context.deadlines.enforce() }

    /// Accepts no more connections, waits until the requests that were received have their responses, at most five
    /// seconds, and ends. To be called once.
    package func stop() {
        guard let running = daemon else { return }
        let listening = MHD_quiesce_daemon(running)
        context.inFlight.waitUntilNone(seconds: 5)
        MHD_stop_daemon(running)
        if listening >= 0 { close(listening) }
        daemon = nil
    }
}

/// The state of one request while its body arrives.
private final class PendingRequest {
    let headers: RequestHeaders
    var body: [UInt8] = []

    init(_ headers: RequestHeaders) { self.headers = headers }
}

private final class ServerContext: Sendable {
    let deadlines: RequestDeadlines
    let inFlight = InFlight()
    private let limits: HTTPLimits
    private let handler: HTTPHandler
    private let refusal: @Sendable (UInt32) -> HTTPResponse

    init(
        _ limits: HTTPLimits, _ handler: @escaping HTTPHandler,
        _ refusal: @escaping @Sendable (UInt32) -> HTTPResponse
    ) {
        self.limits = limits
        self.handler = handler
        self.refusal = refusal
        deadlines = RequestDeadlines(seconds: limits.requestSeconds)
    }

    /// libmicrohttpd calls this when the headers are complete, for each part of the body, and when it is complete.
    func received(
        _ connection: OpaquePointer, _ url: UnsafePointer<CChar>, _ method: UnsafePointer<CChar>,
        _ data: UnsafePointer<CChar>?, _ size: UnsafeMutablePointer<Int>,
        _ state: UnsafeMutablePointer<UnsafeMutableRawPointer?>
    ) -> MHD_Result {
        guard let known = state.pointee else {
            inFlight.began()
            let headers = RequestHeaders(connection)
            state.pointee = Unmanaged.passRetained(PendingRequest(headers)).toOpaque()
            return begin(connection, String(cString: method), headers)
        }
        let pending = Unmanaged<PendingRequest>.fromOpaque(known).takeUnretainedValue()
        if size.pointee > 0 {
            // Content-Length was checked, so this is only a second bound.
            guard let data, size.pointee <= limits.bodyBytes - pending.body.count else { return .NO }
            pending.body.append(contentsOf: UnsafeRawBufferPointer(start: data, count: size.pointee))
            size.pointee = 0
            return .YES
        }
        let request = HTTPRequest(
            method: String(cString: method), path: String(cString: url),
            contentType: pending.headers["content-type"], authorization: pending.headers["authorization"],
            forwardedFor: pending.headers.values("x-forwarded-for"), body: pending.body)
        return send(handler(request), connection)
    }

    /// Refuses headers with more than one meaning, and a body that is too long or whose length is not stated, before any
    /// of it is read. The connection ends, since what follows may not be another request.
    private func begin(_ connection: OpaquePointer, _ method: String, _ headers: RequestHeaders) -> MHD_Result {
        guard let status = status(method, headers) else { return .YES }
        return send(refusal(status), connection, closes: true)
    }

    private func status(_ method: String, _ headers: RequestHeaders) -> UInt32? {
        guard headers.isClear else { return 400 }
        if headers["transfer-encoding"] != nil { return 411 }
        guard let text = headers["content-length"] else { return method == "POST" ? 411 : nil }
        guard text.utf8.count <= 19, text.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }), let count = Int(text) else {
            return 400
        }
        return count <= limits.bodyBytes ? nil : 413
    }

    func completed(_ connection: OpaquePointer, _ state: UnsafeMutablePointer<UnsafeMutableRawPointer?>) {
        guard let known = state.pointee else { return }
        Unmanaged<PendingRequest>.fromOpaque(known).release()
        state.pointee = nil
        inFlight.ended()
        deadlines.changed(latchkey_server_socket(connection), true)
    }

    private func send(
        _ response: HTTPResponse, _ connection: OpaquePointer, closes: Bool = false
    ) -> MHD_Result {
        var body = Array(response.body.utf8)
        guard let made = MHD_create_response_from_buffer(body.count, &body, .RESPMEM_MUST_COPY) else { return .NO }
        defer { MHD_destroy_response(made) }
        // Tokens and challenges must not be stored by a cache.
        for (name, value) in [
            ("Content-Type", response.contentType), ("Cache-Control", "no-store"),
            ("X-Content-Type-Options", "nosniff"),
        ] { MHD_add_response_header(made, name, value) }
        for (name, value) in response.headers { MHD_add_response_header(made, name, value) }
        if closes { MHD_add_response_header(made, "Connection", "close") }
        return MHD_queue_response(connection, response.status, made)
    }
}
