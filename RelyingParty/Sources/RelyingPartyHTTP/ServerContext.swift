// SPDX-License-Identifier: Apache-2.0

internal import CServerHTTP
internal import Glibc
internal import Synchronization

/// The state of one request until its response is complete.
private final class PendingRequest: Sendable {
    let headers: RequestHeaders
    // Only the thread of the connection uses it.
    nonisolated(unsafe) var body: [UInt8] = []
    /// The answer that a worker has made.
    let answer = Mutex<HTTPResponse?>(nil)

    init(_ headers: RequestHeaders) { self.headers = headers }
}

/// A suspended connection, which libmicrohttpd keeps until it is resumed. That is done once, from any thread.
private struct SuspendedConnection: @unchecked Sendable {
    private let connection: OpaquePointer

    init(_ connection: OpaquePointer) {
        self.connection = connection
        MHD_suspend_connection(connection)
    }

    func resume() { MHD_resume_connection(connection) }
}

/// What libmicrohttpd's functions are called for: the connections and requests of one server.
final class ServerContext: Sendable {
    let connections: Connections
    let inFlight = InFlight()
    private let limits: HTTPLimits
    private let client: @Sendable ([UInt8]) -> [UInt8]?
    private let handler: HTTPHandler
    private let refusal: @Sendable (UInt32) -> HTTPResponse
    private let workers: Workers
    private let isEnding = Atomic(false)

    init(
        _ limits: HTTPLimits, _ client: @escaping @Sendable ([UInt8]) -> [UInt8]?, _ handler: HTTPHandler,
        _ refusal: @escaping @Sendable (UInt32) -> HTTPResponse, _ workers: Workers
    ) {
        self.workers = workers
        self.limits = limits
        self.client = client
        self.handler = handler
        self.refusal = refusal
        connections = Connections(seconds: limits.requestSeconds, mostPerClient: Int(limits.connectionsPerClient))
    }

    /// Refuses connections from now on.
    func closeToNewConnections() { isEnding.store(true, ordering: .releasing) }

    /// Whether a connection from that address is served; otherwise libmicrohttpd closes it.
    func admits(_ address: UnsafePointer<sockaddr>) -> Bool {
        !isEnding.load(ordering: .acquiring) && connections.admits(client(of: address))
    }

    /// The client whose connections are counted together; nil for one that may open as many as it wants.
    func client(of address: UnsafePointer<sockaddr>) -> [UInt8]? { client(Self.bytes(address)) }

    /// The 4 or 16 bytes of an address; none for another kind.
    private static func bytes(_ address: UnsafePointer<sockaddr>?) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 16) { buffer, count in
            guard let start = buffer.baseAddress else { return }
            start.initialize(repeating: 0, count: 16)
            count = latchkey_server_address(address, start)
        }
    }

    /// libmicrohttpd calls this when a connection was opened, and before it is closed.
    func changed(_ connection: OpaquePointer, isOpen: Bool) {
        let socket = latchkey_server_socket(connection)
        guard isOpen else { return connections.closed(socket) }
        // The end of a session is not observed: libmicrohttpd has freed it when it reports that a connection is closed.
        let session = latchkey_server_session(connection)
        connections.opened(socket, latchkey_server_peer(connection).flatMap(client(of:)), isSecure: session != nil)
        if let session { TLSHandshakes.observe(session) }
    }

    /// libmicrohttpd calls this when the headers are complete, for each part of the body, when it is complete, and again
    /// when a worker has made the answer.
    func received(
        _ connection: OpaquePointer, _ url: UnsafePointer<CChar>, _ method: UnsafePointer<CChar>,
        _ data: UnsafePointer<CChar>?, _ size: UnsafeMutablePointer<Int>,
        _ state: UnsafeMutablePointer<UnsafeMutableRawPointer?>
    ) -> MHD_Result {
        guard let known = state.pointee else {
            inFlight.began()
            let headers = RequestHeaders(connection)
            state.pointee = Unmanaged.passRetained(PendingRequest(headers)).toOpaque()
            return begin(connection, Self.text(method), headers)
        }
        let pending = Unmanaged<PendingRequest>.fromOpaque(known).takeUnretainedValue()
        if size.pointee > 0 {
            // Content-Length was checked, so this is only a second bound.
            guard let data, size.pointee <= limits.bodyBytes - pending.body.count else { return .NO }
            pending.body.append(contentsOf: UnsafeRawBufferPointer(start: data, count: size.pointee))
            size.pointee = 0
            return .YES
        }
        if let answer = pending.answer.withLock({ $0 }) { return send(answer, connection) }
        let request = HTTPRequest(
            method: Self.text(method), path: Self.text(url),
            contentType: pending.headers["content-type"], authorization: pending.headers["authorization"],
            forwardedFor: pending.headers.values("x-forwarded-for"),
            peer: Self.bytes(latchkey_server_peer(connection)), browser: Self.browser(connection, pending.headers),
            body: pending.body)
        guard limits.workers > 0, handler.mayWait(request) else { return send(handler.respond(request), connection) }
        let suspended = SuspendedConnection(connection)
        workers.add { [self] isEnding in
            let answer = isEnding ? refusal(503) : handler.respond(request)
            pending.answer.withLock { $0 = answer }
            suspended.resume()
        }
        return .YES
    }

    /// A method or path; empty, which is none that is served, for one that is not UTF-8.
    private static func text(_ text: UnsafePointer<CChar>) -> String { String(validatingCString: text) ?? "" }

    private static func browser(_ connection: OpaquePointer, _ headers: RequestHeaders) -> BrowserHeaders {
        var browser = BrowserHeaders()
        (browser.cookie, browser.origin) = (headers["cookie"], headers["origin"])
        (browser.fetchSite, browser.marker) = (headers["sec-fetch-site"], headers[BrowserHeaders.markerName])
        browser.hasQuery = MHD_get_connection_values(connection, .GET_ARGUMENT_KIND, nil, nil) > 0
        return browser
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
        connections.answered(latchkey_server_socket(connection))
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
