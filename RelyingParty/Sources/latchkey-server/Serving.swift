// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import RelyingParty
internal import RelyingPartyAPI
internal import RelyingPartyAdmin
internal import RelyingPartyHTTP
internal import RelyingPartyJSON

/// The command `serve`: answers requests until SIGTERM or SIGINT.
struct Serving {
    private let service: RelyingPartyService
    private let configuration: Configuration
    /// The server of the interface first, then that of the metrics.
    private let servers: [HTTPServer]
    private let metrics: Metrics

    static func run(_ service: RelyingPartyService, _ configuration: Configuration) throws {
        // Blocked before any thread starts, so that only the wait below receives them.
        var signals = sigset_t()
        sigemptyset(&signals)
        for signal in [SIGTERM, SIGINT, SIGHUP] { sigaddset(&signals, signal) }
        sigprocmask(SIG_BLOCK, &signals, nil)
        // First, because the database can be replaced at any time from now on.
        service.applyRevocationsToReplacements()
        try RestoredCommand.requireCurrent(service, configuration)
        try service.removeOld()
        let serving = try Serving(service, configuration)
        if !ServiceManager.notify("READY=1") { Log.line("service manager not told", []) }
        serving.wait(for: signals)
        ServiceManager.notify("STOPPING=1")
        for server in serving.servers { server.stop() }
        Log.line("stopped", [])
    }

    private init(_ service: RelyingPartyService, _ configuration: Configuration) throws {
        (self.service, self.configuration) = (service, configuration)
        let certificate = try configuration.tls.map { paths throws(Usage) in try Files.certificate(paths) }
        let clients = TrustedProxies(configuration.trustedProxies, connectsClients: certificate != nil)
        var limits = HTTPLimits()
        limits.connections = UInt32(clamping: try configuration.limits.reserveConnections())
        limits.connectionsPerClient = UInt32(clamping: configuration.limits.connectionsPerClient)
        limits.workers = UInt32(clamping: configuration.limits.threads)
        let interface = Interface(service, limits: RateLimits { MonotonicTime.nanoseconds })
        let administration =
            configuration.servesAdministration ? Administration(interface, origins: service.origins) : nil
        let metrics = Metrics(version: productVersion, paths: administration == nil ? [] : Administration.paths)
        let node = configuration.storage.node
        let refusal: @Sendable (HTTPRefusal) -> HTTPResponse = { refusal in
            metrics.count(refusal)
            // What announces a body that is not read can have any path.
            let route = [.framing, .library].contains(refusal.reason) ? nil : refusal.request.map(metrics.route)
            Log.write(
                refusal.request, route, status: refusal.status, reason: refusal.reason.rawValue, node: node)
            return refusal.status == 503
                ? Problem.unavailable(refusal.reason.rawValue) : Problem.response(refusal.status)
        }
        let (socket, port) = try configuration.address.listen(on: configuration.port)
        let server = HTTPServer(
            socket: socket, limits: limits, certificate: certificate,
            client: { clients.client(connecting: $0)?.network }, headers: configuration.headers,
            handler: HTTPHandler(
                network: { request in
                    let client = clients.client(of: request)
                    if client == nil { metrics.countWithoutClient() }
                    return client?.network
                }, mayWait: { Interface.routes.mayWait($0) || Administration.mayWait($0) }
            ) { request in
                let response =
                    if let administration, Administration.handles(request.path) {
                        administration.respond(to: request)
                    } else {
                        interface.respond(to: request)
                    }
                metrics.count(request, response, nanoseconds: MonotonicTime.nanoseconds - request.received)
                Log.write(
                    request, metrics.route(of: request), status: response.status, reason: response.reason,
                    key: response.key, node: node)
                return response
            }, refusal: refusal)
        guard let server else { throw Usage("the HTTP server does not start") }
        var line: [(name: String, value: JSONValue)] = [
            ("address", .string(configuration.address.text)), ("port", .integer(Int64(port))),
            ("connections", .integer(Int64(limits.connections))), ("administration", .bool(administration != nil)),
        ]
        if let certificate { line.append(("certificateExpires", .integer(certificate.expiry))) }
        var servers = [server]
        if let port = configuration.metricsPort {
            let (socket, port) = try ListeningAddress.loopback.listen(on: port)
            var limits = HTTPLimits()
            (limits.connections, limits.threads, limits.workers) = (16, 1, 0)
            metrics.setCertificateExpiry(certificate?.expiry)
            let server = HTTPServer(
                socket: socket, limits: limits,
                handler: HTTPHandler(mayWait: { _ in false }) { [server] in
                    metrics.respond(
                        to: $0, Metrics.Running(server.connectionCounts, server.queueCounts, service.databaseUse))
                }, refusal: { Problem.response($0.status) })
            guard let server else { throw Usage("the HTTP server of the metrics does not start") }
            servers.append(server)
            line.append(("metricsPort", .integer(Int64(port))))
        }
        (self.servers, self.metrics) = (servers, metrics)
        Log.line("serving", line)
        if clients.confusesClients {
            Log.line(
                "warning",
                [
                    (
                        "warning",
                        .string(
                            "all clients have one address: without TLS only a proxy connects, and trusted_proxies names none"
                        )
                    )
                ])
        }
    }

    /// Waits for a signal that ends the server. Cuts off late requests each second, and removes what is old each minute.
    private func wait(for signals: sigset_t) {
        var (signals, pause, seconds) = (signals, timespec(tv_sec: 1, tv_nsec: 0), 0)
        var (logged, unnamed): (UInt64, UInt64) = (0, 0)
        while true {
            switch sigtimedwait(&signals, nil, &pause) {
            case SIGTERM, SIGINT: return
            case SIGHUP: reload()
            default: break
            }
            for server in servers { server.enforceDeadlines() }
            // One line for all of them, because every client can make handshakes fail.
            let failed = servers.first?.connectionCounts.failedHandshakes ?? 0
            if failed > logged {
                Log.line("handshakes failed", [("count", .integer(Int64(clamping: failed - logged)))])
            }
            logged = failed
            let withoutClient = metrics.withoutClient
            if withoutClient > unnamed {
                Log.line("clients not named", [("count", .integer(Int64(clamping: withoutClient - unnamed)))])
            }
            unnamed = withoutClient
            // SIGHUP ends a wait early, so these are not exactly seconds.
            seconds += 1
            do {
                try service.maintain()
                if seconds.isMultiple(of: 60) { try service.removeOld() }
            } catch {
                Log.line("housekeeping failed", [("error", .string("\(error)"))])
            }
        }
    }

    /// Reads the files of the secrets and of the certificate again. Those that cannot be used change nothing.
    private func reload() {
        Secrets.reload(service, configuration)
        guard let paths = configuration.tls else { return }
        do throws(Usage) {
            let certificate = try Files.certificate(paths)
            servers.first?.replaceCertificate(certificate)
            metrics.setCertificateExpiry(certificate.expiry)
            Log.line("certificate replaced", [("certificateExpires", .integer(certificate.expiry))])
        } catch {
            Log.line("certificate not replaced", [("error", .string(error.message)), ("hint", .string(error.hint))])
        }
    }
}
