// SPDX-License-Identifier: Apache-2.0

// Only this folder calls libmicrohttpd and GnuTLS; no C type is visible outside it.

internal import CServerHTTP

/// What answers requests. Called on the threads of the server, several at a time.
package struct HTTPHandler: Sendable {
    let respond: @Sendable (HTTPRequest) -> HTTPResponse
    let mayWait: @Sendable (HTTPRequest) -> Bool
    let network: @Sendable (HTTPRequest) -> [UInt8]?

    /// - Parameters:
    ///   - network: the network of the client of a request; nil if it is not known.
    ///   - mayWait: whether the answer may wait, for example for a disk. Otherwise it is made on a thread that many
    ///     connections share.
    ///   - respond: answers a request.
    package init(
        network: @escaping @Sendable (HTTPRequest) -> [UInt8]? = { _ in nil },
        mayWait: @escaping @Sendable (HTTPRequest) -> Bool, respond: @escaping @Sendable (HTTPRequest) -> HTTPResponse
    ) {
        (self.network, self.mayWait, self.respond) = (network, mayWait, respond)
    }
}

/// A server on a socket that listens already.
package final class HTTPServer: @unchecked Sendable {
    // `daemon` is set by the initialiser and changed by `stop` only, which is called once.
    private var daemon: OpaquePointer?
    private let context: ServerContext
    private let workers: Workers
    /// Has a stable address until `deinit`.
    private let observer = UnsafeMutablePointer<latchkey_server_observer>.allocate(capacity: 1)

    /// Starts to serve; nil when libmicrohttpd or a thread cannot start.
    ///
    /// - Parameters:
    ///   - socket: a listening socket, which the server owns from now on and closes when it stops.
    ///   - limits: limits of every connection.
    ///   - certificate: of the server, which then speaks TLS 1.2 and 1.3 only; nil for no TLS. One server of the
    ///     process can have one.
    ///   - client: the client of an address, 4 or 16 bytes, whose connections are counted together; nil if it may open
    ///     as many as the server has.
    ///   - headers: headers of each response.
    ///   - handler: what answers requests whose bodies are complete.
    ///   - refusal: the response to a request that the handler is not asked about. Called for each such request.
    package init?(
        socket: CInt, limits: HTTPLimits, certificate: TLSCertificate? = nil,
        client: @escaping @Sendable ([UInt8]) -> [UInt8]? = { _ in nil },
        headers: [(name: String, value: String)] = [], handler: HTTPHandler,
        refusal: @escaping @Sendable (HTTPRefusal) -> HTTPResponse
    ) {
        guard let workers = Workers(count: limits.workers, most: limits.waitingRequests) else { return nil }
        self.workers = workers
        context = ServerContext(limits, client, handler, refusal, workers, headers: headers)
        if let certificate { TLSHandshakes.use(certificate) }
        observer.initialize(
            to: latchkey_server_observer(
                refused: { context, status in
                    guard let context else { return }
                    let server = Unmanaged<ServerContext>.fromOpaque(context).takeUnretainedValue()
                    server.refusedByLibrary(status)
                }, context: Unmanaged.passUnretained(context).toOpaque()))
        daemon = latchkey_server_start(
            socket, limits.threads, limits.connections, limits.idleSeconds, limits.connectionBytes,
            { context, address, _ in
                guard let context, let address else { return .NO }
                let server = Unmanaged<ServerContext>.fromOpaque(context).takeUnretainedValue()
                return server.admits(address) ? .YES : .NO
            },
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
                server.changed(connection, isOpen: latchkey_server_started(code) != 0)
            },
            { context, _, connection in
                guard let context, let connection else { return nil }
                return Unmanaged<ServerContext>.fromOpaque(context).takeUnretainedValue().began(connection)
            }, certificate == nil ? nil : TLSHandshakes.certificate, observer)
        guard daemon != nil else {
            workers.stop()
            return nil
        }
    }

    deinit { observer.deallocate() }

    /// Cuts off the connections whose requests take too long. To be called about once a second.
    package func enforceDeadlines() { context.connections.enforceDeadlines() }

    /// What the connections of this server have been.
    package var connectionCounts: ConnectionCounts { context.connections.counts }

    /// How many requests wait for a worker, how many were refused because too many did, and how many were not begun because
    /// their client was gone or they had waited too long.
    package var queueCounts: (waiting: Int, shed: UInt64, late: UInt64) { context.queueCounts }

    /// Uses another certificate for connections that are opened from now on. For a server that was started with one.
    package func replaceCertificate(_ certificate: TLSCertificate) { TLSHandshakes.use(certificate) }

    /// Closes new connections at once, waits until the requests that were received have their responses, at most five
    /// seconds, and ends. Requests that no thread has begun to answer by then are refused with 503, for which there are
    /// two more seconds. To be called once.
    package func stop() {
        guard let running = daemon else { return }
        // `MHD_quiesce_daemon` is not called: in libmicrohttpd 0.9.75 it removes the socket from the set of each thread, and
        // so does a thread that wakes up at this moment, whose failure then ends the process.
        context.closeToNewConnections()
        context.inFlight.waitUntilNone(seconds: 5)
        // libmicrohttpd cannot be stopped while a connection is suspended.
        workers.stop()
        // It closes connections at once, also those whose responses were made but are not yet sent.
        context.inFlight.waitUntilNone(seconds: 2)
        MHD_stop_daemon(running)
        daemon = nil
    }
}
