// SPDX-License-Identifier: Apache-2.0

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
    package let body: [UInt8]

    package init(
        method: String, path: String, contentType: String?, authorization: String?, forwardedFor: [String] = [],
        peer: [UInt8] = [], body: [UInt8]
    ) {
        self.method = method
        self.path = path
        self.contentType = contentType
        self.authorization = authorization
        self.forwardedFor = forwardedFor
        self.peer = peer
        self.body = body
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
    /// The number of threads, and so of requests that are answered at the same time.
    package var threads: UInt32 = 4

    package init() {}
}
