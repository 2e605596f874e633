// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import RelyingParty
internal import RelyingPartyAPI
internal import RelyingPartyHTTP
internal import RelyingPartyJSON

/// The command `serve`: answers requests until SIGTERM or SIGINT.
enum Serving {
    static func run(_ service: RelyingPartyService, _ configuration: Configuration) throws {
        // Blocked before any thread starts, so that only the wait below receives them.
        var signals = sigset_t()
        sigemptyset(&signals)
        for signal in [SIGTERM, SIGINT] { sigaddset(&signals, signal) }
        sigprocmask(SIG_BLOCK, &signals, nil)
        signal(SIGPIPE, SIG_IGN)
        try service.removeOld()

        let metrics = Metrics()
        var (servers, ports): ([HTTPServer], [(name: String, value: JSONValue)]) = ([], [])
        func start(_ port: UInt16, _ name: String, _ limits: HTTPLimits, _ handler: @escaping HTTPHandler) throws(Usage)
        {
            let (socket, port) = try Files.listen(port)
            guard
                let server = HTTPServer(
                    socket: socket, limits: limits, handler: handler,
                    refusal: { status in
                        Log.write(unread: status)
                        return Problem.response(status)
                    })
            else { throw Usage("the HTTP server does not start") }
            servers.append(server)
            ports.append((name, .integer(Int64(port))))
        }
        let interface = Interface(
            service, proxies: TrustedProxies(configuration.trustedProxies), limits: RateLimits { nanoseconds })
        try start(configuration.port, "port", HTTPLimits()) { request in
            let began = nanoseconds
            let response = interface.respond(to: request)
            metrics.count(request, response, nanoseconds: nanoseconds - began)
            Log.write(request, response)
            return response
        }
        if let port = configuration.metricsPort {
            var limits = HTTPLimits()
            (limits.connections, limits.threads) = (16, 1)
            try start(port, "metricsPort", limits) { metrics.respond(to: $0) }
        }
        Log.line("serving", ports + [("rateLimits", .bool(!configuration.trustedProxies.isEmpty))])
        wait(for: signals, servers, service)
        for server in servers { server.stop() }
        Log.line("stopped", [])
    }

    /// Waits for a signal. Cuts off late requests each second, and removes what is old each minute.
    private static func wait(for signals: sigset_t, _ servers: [HTTPServer], _ service: RelyingPartyService) {
        var (signals, pause, seconds) = (signals, timespec(tv_sec: 1, tv_nsec: 0), 0)
        while sigtimedwait(&signals, nil, &pause) < 0 {
            for server in servers { server.enforceDeadlines() }
            seconds += 1
            guard seconds.isMultiple(of: 60) else { continue }
            do {
                try service.removeOld()
            } catch {
                Log.line("housekeeping failed", [("error", .string("\(error)"))])
            }
        }
    }

    private static var nanoseconds: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
