// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A request whose body was received completely, or which was refused before.
package struct HTTPRequest: Sendable {
    /// The method; `GET` also for a request with `HEAD`, whose response differs only in having no body.
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
    /// Whether the method is `HEAD`.
    package var isHead = false
    /// Random; identifies the request in the log, and is in its response.
    package var identifier = ""
    /// The network of the client, for its limits and the log; nil if a proxy did not name the client.
    package var network: [UInt8]?
    /// When the request was complete, in nanoseconds of the monotonic clock.
    package var received: Int64 = 0
    /// Whether no answer is needed any more: the client is gone, or the request has waited too long. Callable while the
    /// request is answered.
    package var isOver: @Sendable () -> Bool = { false }

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
    /// A pseudonym of the key that the request is about, for the log only; empty for none.
    package var key = ""

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

/// A request to which the handler of requests gave no answer.
package struct HTTPRefusal: Sendable {
    package let status: UInt32
    /// Why, for the log and the metrics; one of few.
    package let reason: Reason
    /// The request, without its body; nil if libmicrohttpd does not tell which one it refused.
    package let request: HTTPRequest?

    package enum Reason: String, Sendable {
        /// The headers have several meanings, or announce a body that is not read.
        case framing
        /// libmicrohttpd refused the request itself.
        case library
        /// Too many requests wait, in all or of this client.
        case overload
        /// The request waited too long, or its client is gone.
        case over
        /// The server ends.
        case ending
    }
}

/// The limits of a server, all of which hold for clients that are not known.
package struct HTTPLimits: Sendable {
    /// The most bytes of a body.
    package var bodyBytes = 16384
    /// The most bytes of a body that is read although it is too long, so that its client reads the refusal.
    package var droppedBytes = 65536
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
    /// The most requests that wait for such an answer. Half of them at most are of one network, so that requests of others
    /// have room.
    package var waitingRequests = 1024
    /// The number of threads that read and write connections, and give the answers that do not wait.
    package var threads = HTTPLimits.threadsOfThisMachine

    /// One thread for each processor, at most eight.
    private static let threadsOfThisMachine = UInt32(min(8, max(1, sysconf(CInt(_SC_NPROCESSORS_ONLN)))))

    package init() {}
}
