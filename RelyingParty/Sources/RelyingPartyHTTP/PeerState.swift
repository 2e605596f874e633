// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// What a socket tells about the other side.
enum PeerState {
    /// POLLRDHUP, which Swift does not import.
    private static let halfClosed: Int16 = 0x2000

    /// Whether the client has closed the connection, or its half of it: it does not wait for an answer. A client that only
    /// ends its sending side is treated in the same way, as proxies do, because the two cannot be told apart.
    static func isGone(_ socket: CInt) -> Bool {
        var state = pollfd(fd: socket, events: halfClosed, revents: 0)
        return poll(&state, 1, 0) > 0
    }
}
