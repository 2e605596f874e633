// SPDX-License-Identifier: Apache-2.0

internal import RelyingParty
package import RelyingPartyAPI
package import RelyingPartyHTTP

/// The page of the administration and its requests, `docs/use/administration.md`.
package struct Administration: Sendable {
    let interface: Interface
    private let origins: Set<String>

    /// - Parameters:
    ///   - interface: what answers the other requests; its limits hold here too.
    ///   - origins: the origins from which a browser shows the page, such as `https://example.com`.
    package init(_ interface: Interface, origins: Set<String>) {
        self.interface = interface
        self.origins = origins
    }

    /// The paths of the page and of its requests, for metrics.
    package static let paths = routes.paths.union(Page.files.keys)

    /// Whether the answer to a request may wait for the database.
    package static func mayWait(_ request: HTTPRequest) -> Bool { routes.mayWait(request) }

    /// Whether a path is one of the administration.
    package static func handles(_ path: String) -> Bool { path == "/admin" || path.hasPrefix("/admin/") }

    /// Answers a request. Blocks while the service does.
    package func respond(to request: HTTPRequest) -> HTTPResponse {
        guard !request.path.hasPrefix("/admin/api/") else { return Headers.forData(answer(request)) }
        guard let file = Page.files[request.path] else { return Headers.forData(Problem.response(404)) }
        guard request.method == "GET" else {
            return Headers.forData(Problem.response(405, headers: [("Allow", "GET")]))
        }
        return file
    }

    private func answer(_ request: HTTPRequest) -> HTTPResponse {
        let route: Route<Administration>
        switch Self.routes.find(request) {
        case .failure(let refusal): return refusal.response
        case .success(let found): route = found
        }
        // Before anything else, so that another page cannot even use up a limit that is shared with this one.
        if let reason = foreign(request) { return Problem.response(403, reason: reason) }
        guard !request.browser.hasQuery else { return Problem.response(400, reason: "query") }
        if let refusal = route.refusal(of: request) { return refusal }
        return interface.answer(request) { network in try route.answer(self, request, network) }
    }

    /// Returns the reason why a request does not come from the page of this server; nil if it does. A page of another
    /// origin, which could use the cookie of a browser that does not know SameSite, cannot send the marker without asking,
    /// and browsers do not let it choose the other two headers.
    private func foreign(_ request: HTTPRequest) -> String? {
        guard request.browser.marker == "1" else { return "marker" }
        guard let origin = request.browser.origin, origins.contains(origin) else { return "origin" }
        guard request.browser.fetchSite ?? "same-origin" == "same-origin" else { return "fetch site" }
        return nil
    }
}
