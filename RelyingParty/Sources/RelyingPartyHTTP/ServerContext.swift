// SPDX-License-Identifier: Apache-2.0

internal import CServerHTTP
internal import Glibc
internal import Synchronization

/// The state of one request until its response is complete.
private final class PendingRequest: Sendable {
    // Only the thread of the connection uses these three.
    /// Nil until all headers were read.
    nonisolated(unsafe) var headers: RequestHeaders?
    nonisolated(unsafe) var body: [UInt8] = []
    /// The status of a refusal that is sent when the body was read and dropped.
    nonisolated(unsafe) var refusal: UInt32?
    let identifier: String
    /// The answer that a worker has made.
    let answer = Mutex<HTTPResponse?>(nil)

    init(_ identifier: String) { self.identifier = identifier }
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
    private let refusal: @Sendable (HTTPRefusal) -> HTTPResponse
    /// Headers of each response, besides those that are always the same.
    private let headers: [(name: String, value: String)]
    private let workers: Workers
    private let isEnding = Atomic(false)
    private let late = Atomic<UInt64>(0)

    init(
        _ limits: HTTPLimits, _ client: @escaping @Sendable ([UInt8]) -> [UInt8]?, _ handler: HTTPHandler,
        _ refusal: @escaping @Sendable (HTTPRefusal) -> HTTPResponse, _ workers: Workers,
        headers: [(name: String, value: String)]
    ) {
        self.headers = headers
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

    /// libmicrohttpd calls this when the first line of a request was read. The result is the state of the request.
    func began(_ connection: OpaquePointer) -> UnsafeMutableRawPointer {
        connections.began(Connections.RequestHead(connection: connection), latchkey_server_socket(connection))
        return Unmanaged.passRetained(PendingRequest(Self.identifier())).toOpaque()
    }

    /// libmicrohttpd calls this when the headers are complete, for each part of the body, when it is complete, and again
    /// when a worker has made the answer.
    func received(
        _ connection: OpaquePointer, _ url: UnsafePointer<CChar>, _ method: UnsafePointer<CChar>,
        _ data: UnsafePointer<CChar>?, _ size: UnsafeMutablePointer<Int>,
        _ state: UnsafeMutablePointer<UnsafeMutableRawPointer?>
    ) -> MHD_Result {
        guard let known = state.pointee else { return .NO }
        let pending = Unmanaged<PendingRequest>.fromOpaque(known).takeUnretainedValue()
        guard let headers = pending.headers else {
            inFlight.began()
            connections.hasHeaders(latchkey_server_socket(connection))
            let headers = RequestHeaders(connection)
            pending.headers = headers
            guard let status = status(Self.text(method), headers) else { return .YES }
            if isDropped(headers, status) {
                pending.refusal = status
                return .YES
            }
            return refuse(connection, request(connection, url, method, headers, pending), status)
        }
        if size.pointee > 0, pending.refusal != nil {
            size.pointee = 0
            return .YES
        }
        if let status = pending.refusal {
            return refuse(connection, request(connection, url, method, headers, pending), status)
        }
        if size.pointee > 0 {
            // Content-Length was checked, so this is only a second bound.
            guard let data, size.pointee <= limits.bodyBytes - pending.body.count else { return .NO }
            pending.body.append(contentsOf: UnsafeRawBufferPointer(start: data, count: size.pointee))
            size.pointee = 0
            return .YES
        }
        if let answer = pending.answer.withLock({ $0 }) { return send(answer, connection, pending.identifier) }
        let request = request(connection, url, method, headers, pending)
        guard limits.workers > 0, handler.mayWait(request) else {
            return send(handler.respond(request), connection, pending.identifier)
        }
        wait(connection, request, pending)
        return .YES
    }

    /// Refuses headers with several meanings, and a body that is too long or whose length is not stated. The connection ends,
    /// since what follows may not be another request.
    private func refuse(_ connection: OpaquePointer, _ request: HTTPRequest, _ status: UInt32) -> MHD_Result {
        let refused = HTTPRefusal(status: status, reason: .framing, request: request)
        return send(refusal(refused), connection, request.identifier, closes: true)
    }

    /// Whether the body is read before it is refused: bytes that arrive after the connection was closed reset it, and a proxy
    /// would answer 502 in place of what it did not read. A client that waits for permission to send it is answered at once.
    private func isDropped(_ headers: RequestHeaders, _ status: UInt32) -> Bool {
        guard status == 413, headers["expect"] == nil, let count = headers["content-length"].flatMap({ Int($0) }) else {
            return false
        }
        return count <= limits.droppedBytes
    }

    /// Has a worker answer a request. No answer is begun for one whose client is gone, or that has waited for too long:
    /// its effect would surprise a client that has given up.
    private func wait(_ connection: OpaquePointer, _ request: HTTPRequest, _ pending: PendingRequest) {
        let suspended = SuspendedConnection(connection)
        let isAccepted = workers.add(request.network) { [self] isEnding in
            let reason: HTTPRefusal.Reason? = isEnding ? .ending : request.isOver() ? .over : nil
            if reason == .over { late.add(1, ordering: .relaxed) }
            let answer =
                reason.map { refusal(HTTPRefusal(status: 503, reason: $0, request: request)) }
                ?? handler.respond(request)
            pending.answer.withLock { $0 = answer }
            suspended.resume()
        }
        if isAccepted { return }
        let answer = refusal(HTTPRefusal(status: 503, reason: .overload, request: request))
        pending.answer.withLock { $0 = answer }
        suspended.resume()
    }

    /// How many requests wait for a worker, how many were refused because too many did, and how many were not begun because
    /// their client was gone or they had waited too long.
    var queueCounts: (waiting: Int, shed: UInt64, late: UInt64) {
        let (waiting, shed) = workers.counts
        return (waiting, shed, late.load(ordering: .relaxed))
    }

    /// libmicrohttpd calls this before it makes its own response to a request that it refuses. For a mistake that it finds
    /// when the headers are complete (no `Host`, or a `Content-Length` that is no number), libmicrohttpd 0.9.75 would send
    /// the head of its response twice. Such a request is the one of this thread whose headers are complete and were not
    /// accepted: it is answered here, and nothing more can be sent to its client. The other responses stay those of
    /// libmicrohttpd.
    func refusedByLibrary(_ status: UInt32) {
        let head = connections.headsOfThisThread.first {
            latchkey_server_has_unchecked_headers($0.request.connection) != 0
        }
        let identifier = Self.identifier()
        let connection = head?.request.connection
        let request = connection.map { connection in
            var request = HTTPRequest(
                method: "", path: "", contentType: nil, authorization: nil,
                forwardedFor: RequestHeaders(connection).values("x-forwarded-for"),
                peer: Self.bytes(latchkey_server_peer(connection)), body: [])
            request.identifier = identifier
            request.network = handler.network(request)
            return request
        }
        let response = refusal(HTTPRefusal(status: status, reason: .library, request: request))
        guard let head, let connection else { return }
        let phrase = MHD_get_reason_phrase_for(status).map { String(cString: $0) } ?? ""
        let lines =
            ["HTTP/1.1 \(status) \(phrase)", "Connection: close", "Content-Length: \(response.body.utf8.count)"]
            + fields(response, identifier).map { "\($0.name): \($0.value)" }
        let text = Array((lines.joined(separator: "\r\n") + "\r\n\r\n" + response.body).utf8)
        // Less than the socket takes at once, and the connection ends in any case.
        if let session = latchkey_server_session(connection) {
            _ = gnutls_record_send(session, text, text.count)
            _ = gnutls_bye(session, GNUTLS_SHUT_WR)
        } else {
            _ = Glibc.send(head.socket, text, text.count, CInt(MSG_NOSIGNAL) | CInt(MSG_DONTWAIT))
        }
        shutdown(head.socket, CInt(SHUT_WR))
    }

    private func request(
        _ connection: OpaquePointer, _ url: UnsafePointer<CChar>, _ method: UnsafePointer<CChar>,
        _ headers: RequestHeaders, _ pending: PendingRequest
    ) -> HTTPRequest {
        let method = Self.text(method)
        // One place for all paths: libmicrohttpd sends the response to HEAD without its body.
        var request = HTTPRequest(
            method: method == "HEAD" ? "GET" : method, path: Self.text(url), contentType: headers["content-type"],
            authorization: headers["authorization"], forwardedFor: headers.values("x-forwarded-for"),
            peer: Self.bytes(latchkey_server_peer(connection)), browser: Self.browser(connection, headers),
            body: pending.body)
        request.isHead = method == "HEAD"
        request.identifier = pending.identifier
        request.network = handler.network(request)
        request.received = MonotonicTime.nanoseconds
        let end = request.received + limits.requestSeconds * 1_000_000_000
        let socket = latchkey_server_socket(connection)
        // While a request is answered, its connection is suspended, and libmicrohttpd does not close the socket.
        request.isOver = { MonotonicTime.nanoseconds > end || PeerState.isGone(socket) }
        return request
    }

    /// 64 random bits: a counter would tell clients how many requests there are.
    private static func identifier() -> String {
        let digits = String(UInt64.random(in: 0...UInt64.max), radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
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
        let pending = Unmanaged<PendingRequest>.fromOpaque(known)
        if pending.takeUnretainedValue().headers != nil { inFlight.ended() }
        pending.release()
        state.pointee = nil
        connections.answered(latchkey_server_socket(connection))
    }

    /// Refusals that say that the server and the client may not agree where the body of the request ends.
    private static let closing: Set<UInt32> = [400, 404, 405, 411, 413, 415]

    private func fields(_ response: HTTPResponse, _ identifier: String) -> [(name: String, value: String)] {
        // Tokens and challenges must not be stored by a cache.
        [
            ("Content-Type", response.contentType), ("Cache-Control", "no-store"),
            ("X-Content-Type-Options", "nosniff"), ("X-Request-Id", identifier),
        ] + headers
            + response.headers.map { name, value in
                // A path that has GET has HEAD.
                (name, name == "Allow" && value.hasPrefix("GET") ? value.replacing("GET", with: "GET, HEAD") : value)
            }
    }

    private func send(
        _ response: HTTPResponse, _ connection: OpaquePointer, _ identifier: String, closes: Bool = false
    ) -> MHD_Result {
        var body = Array(response.body.utf8)
        guard let made = MHD_create_response_from_buffer(body.count, &body, .RESPMEM_MUST_COPY) else { return .NO }
        defer { MHD_destroy_response(made) }
        for (name, value) in fields(response, identifier) { MHD_add_response_header(made, name, value) }
        if closes || Self.closing.contains(response.status) { MHD_add_response_header(made, "Connection", "close") }
        return MHD_queue_response(connection, response.status, made)
    }
}
