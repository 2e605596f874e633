// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import LatchkeySystem
import Testing

/// A daemon whose descriptors have run out. That it rests meanwhile is in `LatchkeyTransportTests/AcceptTests`.
@Suite struct DescriptorTests {
    private let daemon: TestDaemon

    init() throws {
        daemon = try TestDaemon()
        let started = try daemon.run(
            "/bin/sh", ["-c", "ulimit -n 30; exec \"$LATCHKEY_DAEMON\" --detach"])
        #expect(started.exitCode == 0, "\(started.errors)")
    }

    @Test func itServesThoseWhoWaitWhenThereIsRoom() throws {
        let first = try RawClient(daemon)
        #expect(try first.call(.status) != nil)
        // A connection takes two descriptors: fewer than one process may have use all of them up.
        var others: [RawClient] = []
        for _ in 0..<Limits.connectionsOfProcess - 2 { others.append(try RawClient(daemon)) }
        let last = try RawClient(daemon)
        try last.send(.status, id: 7)
        // One that is let in is still served, and what comes after its answer was done with nobody else let in.
        #expect(try first.call(.status, id: 2) != nil)
        #expect(try !last.socket.wait(for: POLLIN, until: 0), "the last one waits")
        others.removeAll()
        #expect(try last.receive()?.id == 7)
    }
}
