// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import LatchkeySystem
import Testing

/// A daemon without free descriptors. `LatchkeyTransportTests/AcceptTests` checks that it does not spin meanwhile.
@Suite struct DescriptorTests {
    private let daemon: TestDaemon

    init() throws {
        daemon = try TestDaemon()
        let started = try daemon.run(
            "/bin/sh", ["-c", "ulimit -n 30; exec \"$LATCHKEY_DAEMON\" --detach"])
        #expect(started.exitCode == 0, "\(started.errors)")
    }

    @Test func waitingConnectionIsServedWhenDescriptorsAreFree() throws {
        let first = try RawClient(daemon)
        #expect(try first.call(.status) != nil)
        // Each connection uses two descriptors, so fewer connections than one process may have exhaust them.
        var others: [RawClient] = []
        for _ in 0..<Limits.connectionsOfProcess - 2 { others.append(try RawClient(daemon)) }
        let last = try RawClient(daemon)
        try last.send(.status, id: 7)
        // An accepted connection is still served, and no other one has been accepted meanwhile.
        #expect(try first.call(.status, id: 2) != nil)
        #expect(try !last.socket.wait(for: POLLIN, until: 0), "the last one waits")
        others.removeAll()
        #expect(try last.receive()?.id == 7)
    }
}
