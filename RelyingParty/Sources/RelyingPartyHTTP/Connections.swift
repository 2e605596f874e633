// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Synchronization

/// What the connections of a server have been since it started.
package struct ConnectionCounts: Sendable {
    /// Open now.
    package var open: UInt64 = 0
    package var accepted: UInt64 = 0
    /// Refused because their client had as many as it may have.
    package var refused: UInt64 = 0
    /// Ended before the handshake of TLS was complete.
    package var failedHandshakes: UInt64 = 0
    /// Ended before the first line of a request was read: idle ones, and those whose first line is none.
    package var withoutRequest: UInt64 = 0

    package init() {}
}

/// The open connections of a server. Counts those of each client, and ends those whose request takes too long:
/// libmicrohttpd only limits the time between two bytes, so a client that sends one byte every few seconds could keep a
/// connection for days. A handshake of TLS is part of the first request.
final class Connections: Sendable {
    private struct Connection {
        /// When the connection was opened or its last request was answered, in seconds of the monotonic clock.
        var waitingSince: Int64
        let client: [UInt8]?
        let isSecure: Bool
        /// Whether the first line of a request was read.
        var hasRequest = false
        /// The request whose headers are being read, and the thread that reads them.
        var head: (request: RequestHead, thread: pthread_t)?
    }

    /// A request whose headers are not complete. Used on the thread that reads them only.
    struct RequestHead: @unchecked Sendable {
        let connection: OpaquePointer
    }

    private struct State {
        var bySocket: [CInt: Connection] = [:]
        var byClient: [[UInt8]: Int] = [:]
        var counts = ConnectionCounts()
    }

    private let seconds: Int64
    private let mostPerClient: Int
    private let state = Mutex(State())

    /// - Parameters:
    ///   - seconds: how long a request may take.
    ///   - mostPerClient: the most connections of a client.
    init(seconds: Int64, mostPerClient: Int) {
        self.seconds = seconds
        self.mostPerClient = mostPerClient
    }

    var counts: ConnectionCounts { state.withLock(\.counts) }

    /// Whether a client may open one more; threads that ask at the same time can exceed the limit by their number.
    func admits(_ client: [UInt8]?) -> Bool {
        guard let client else { return true }
        return state.withLock { state in
            if state.byClient[client, default: 0] < mostPerClient { return true }
            state.counts.refused += 1
            return false
        }
    }

    func opened(_ socket: CInt, _ client: [UInt8]?, isSecure: Bool) {
        let connection = Connection(waitingSince: Self.now, client: client, isSecure: isSecure)
        state.withLock { state in
            state.bySocket[socket] = connection
            if let client { state.byClient[client, default: 0] += 1 }
            state.counts.accepted += 1
            state.counts.open += 1
        }
        if isSecure { TLSHandshakes.began(socket) }
    }

    /// The first line of a request was read.
    func began(_ request: RequestHead, _ socket: CInt) {
        let head = (request, pthread_self())
        state.withLock { state in
            state.bySocket[socket]?.hasRequest = true
            state.bySocket[socket]?.head = head
        }
    }

    /// The headers of a request were read and accepted.
    func hasHeaders(_ socket: CInt) { state.withLock { $0.bySocket[socket]?.head = nil } }

    /// The requests whose headers this thread reads, by their sockets.
    var headsOfThisThread: [(socket: CInt, request: RequestHead)] {
        let thread = pthread_self()
        return state.withLock { state in
            state.bySocket.compactMap { socket, connection in
                connection.head.flatMap { $0.thread == thread ? (socket, $0.request) : nil }
            }
        }
    }

    /// A request has its response: the next one may take as long.
    func answered(_ socket: CInt) {
        let now = Self.now
        state.withLock { state in
            state.bySocket[socket]?.waitingSince = now
            state.bySocket[socket]?.head = nil
        }
    }

    /// To be called before the socket is closed, because its number becomes that of the next one.
    func closed(_ socket: CInt) {
        let isComplete = TLSHandshakes.ended(socket)
        state.withLock { state in
            guard let connection = state.bySocket.removeValue(forKey: socket) else { return }
            state.counts.open -= 1
            if connection.isSecure, !isComplete {
                state.counts.failedHandshakes += 1
            } else if !connection.hasRequest {
                state.counts.withoutRequest += 1
            }
            guard let client = connection.client, let count = state.byClient[client] else { return }
            state.byClient[client] = count > 1 ? count - 1 : nil
        }
    }

    /// Shuts down what is late. The lock is held, so libmicrohttpd cannot close a socket, and its number cannot become
    /// another connection, between the look-up and the shutdown: it reports the end of a connection first.
    func enforceDeadlines() {
        let limit = Self.now - seconds
        state.withLock { state in
            for (socket, connection) in state.bySocket where connection.waitingSince < limit {
                shutdown(socket, CInt(SHUT_RDWR))
            }
        }
    }

    private static var now: Int64 { MonotonicTime.nanoseconds / 1_000_000_000 }
}
