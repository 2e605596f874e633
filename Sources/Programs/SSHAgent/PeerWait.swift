// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeySystem

/// Waits for one of two descriptors.
enum PeerWait {
    /// `POLLRDHUP`, which is not imported: its header defines it only for GNU sources.
    private static let peerEnds: Int16 = 0x2000

    /// Waits until `done` becomes readable or ends; returns false if the peer of `socket` ends the connection first.
    static func wait(for done: Descriptor, whileConnected socket: Descriptor) -> Bool {
        var entries = [
            pollfd(fd: done.number, events: Int16(POLLIN), revents: 0),
            pollfd(fd: socket.number, events: peerEnds, revents: 0),
        ]
        while true {
            // No deadline: the call that ends `done` has one.
            let count = poll(&entries, 2, -1)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            if entries[0].revents != 0 { return true }
            if entries[1].revents != 0 { return false }
        }
    }
}
