// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Synchronization

/// Ends connections whose request takes too long. libmicrohttpd only limits the time between two bytes, so a client
/// that sends one byte every few seconds could keep a connection for days.
final class RequestDeadlines: Sendable {
    private let seconds: Int64
    /// By socket: when the connection began to wait for the request that it has not answered yet.
    private let waiting = Mutex<[CInt: Int64]>([:])

    init(seconds: Int64) { self.seconds = seconds }

    /// A connection was opened or has answered a request (`isWaiting`), or is closed.
    func changed(_ socket: CInt, _ isWaiting: Bool) {
        guard socket >= 0 else { return }
        let now = Self.now
        waiting.withLock { $0[socket] = isWaiting ? now : nil }
    }

    /// Shuts down what is late. The lock is held, so libmicrohttpd cannot close a socket, and its number cannot become
    /// another connection, between the look-up and the shutdown: it reports the end of a connection first.
    func enforce() {
        let limit = Self.now - seconds
        waiting.withLock { waiting in
            for (socket, since) in waiting where since < limit { shutdown(socket, CInt(SHUT_RDWR)) }
        }
    }

    private static var now: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec)
    }
}
