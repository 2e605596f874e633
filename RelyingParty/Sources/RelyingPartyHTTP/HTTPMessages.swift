// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A request whose body was received completely.
package struct HTTPRequest: Sendable {
    package let method: String
    /// The path as it was sent, without the query.
    package let path: String
    package let contentType: String?
    package let authorization: String?
    /// The values of all headers `X-Forwarded-For`, in the order in which they were received.
    package let forwardedFor: [String]
    /// The address from which the connection comes: 4 or 16 bytes, none if it is not known.
    package let peer: [UInt8]
    /// What a browser says about itself.
    package let browser: BrowserHeaders
    package let body: [UInt8]

    package init(
        method: String, path: String, contentType: String?, authorization: String?, forwardedFor: [String] = [],
        peer: [UInt8] = [], browser: BrowserHeaders = BrowserHeaders(), body: [UInt8]
    ) {
        self.method = method
        self.path = path
        self.browser = browser
        self.contentType = contentType
        self.authorization = authorization
        self.forwardedFor = forwardedFor
        self.peer = peer
        self.body = body
    }
}

/// What a browser says about a request, and what the page that the server sent it adds. Each of these headers appears once at
/// most, or the request was refused.
package struct BrowserHeaders: Sendable {
    /// A header that no form can send, and no page of another origin without asking first.
    static let markerName = "x-latchkey-administration"

    /// The header `Cookie`.
    package var cookie: String?
    /// The header `Origin`.
    package var origin: String?
    /// The header `Sec-Fetch-Site`.
    package var fetchSite: String?
    /// The header `X-Latchkey-Administration`.
    package var marker: String?
    /// Whether the address has a query with at least one parameter.
    package var hasQuery = false

    package init() {}

    /// The value of a cookie; nil if there is none, or more than one of this name: which of them came from this server is not
    /// known then, because another host of the same domain can set one for a longer path.
    package func cookie(_ name: String) -> String? {
        let values = (cookie ?? "").utf8.split(separator: UInt8(ascii: ";")).map { $0.drop { $0 == UInt8(ascii: " ") } }
            .filter { $0.starts(with: "\(name)=".utf8) }
        return values.count == 1 ? String(values[0].dropFirst(name.utf8.count + 1)) : nil
    }
}

/// A response.
package struct HTTPResponse: Sendable {
    package let status: UInt32
    package let contentType: String
    package let body: String
    /// Why, for the log only.
    package let reason: String
    /// Headers besides those of every response.
    package let headers: [(name: String, value: String)]

    package init(
        _ status: UInt32, _ contentType: String, _ body: String, reason: String = "",
        headers: [(name: String, value: String)] = []
    ) {
        self.status = status
        self.contentType = contentType
        self.body = body
        self.reason = reason
        self.headers = headers
    }
}

/// The limits of a server, all of which hold for clients that are not known.
package struct HTTPLimits: Sendable {
    /// The most bytes of a body.
    package var bodyBytes = 16384
    /// The memory of one connection, which bounds the headers too.
    package var connectionBytes: UInt32 = 32768
    /// The most connections.
    package var connections: UInt32 = 10_000
    /// The most connections of one client.
    package var connectionsPerClient: UInt32 = 200
    /// A connection without any byte for so long is closed.
    package var idleSeconds: UInt32 = 10
    /// A request that is not complete so long after its connection was opened or its predecessor ended is cut off.
    package var requestSeconds: Int64 = 10
    /// The number of requests with answers that may wait, for example for a disk, which are answered at the same time; 0 for
    /// a server whose answers never wait.
    package var workers: UInt32 = 4
    /// The number of threads that read and write connections, and give the answers that do not wait.
    package var threads = HTTPLimits.threadsOfThisMachine

    /// One thread for each processor, at most eight.
    private static let threadsOfThisMachine = UInt32(min(8, max(1, sysconf(CInt(_SC_NPROCESSORS_ONLN)))))

    package init() {}
}
