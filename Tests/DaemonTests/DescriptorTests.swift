// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeySystem
import Testing

/// A daemon whose descriptors have run out.
@Suite struct DescriptorTests {
    private let daemon: TestDaemon

    init() throws {
        daemon = try TestDaemon()
        let started = try daemon.run(
            "/bin/sh", ["-c", "ulimit -n 40; exec \"$LATCHKEY_DAEMON\" --detach"])
        #expect(started.exitCode == 0, "\(started.errors)")
    }

    @Test func itRestsWhileOthersWaitAndServesThemWhenThereIsRoom() throws {
        let first = try RawClient(daemon)
        #expect(try first.call(.status) != nil)
        var others: [RawClient] = []
        for _ in 0..<60 { others.append(try RawClient(daemon)) }
        let last = try RawClient(daemon)
        try last.send(.status, id: 7)
        // One that is let in is still served, and what comes after its answer was done with nobody else let in.
        #expect(try first.call(.status, id: 2) != nil)

        let before = try computed()
        // What is looked at is a time in which nothing is asked of the daemon; its end waits for no event.
        poll(nil, 0, 500)
        #expect(try computed() - before < 200, "a loop without rest takes all 500")
        others.removeAll()
        #expect(try last.receive()?.id == 7)
    }

    /// Milliseconds that the daemon has computed so far.
    private func computed() throws -> Int {
        var clock = clockid_t()
        try #require(clock_getcpuclockid(try #require(try daemon.process), &clock) == 0)
        var time = timespec()
        try #require(clock_gettime(clock, &time) == 0)
        return time.tv_sec * 1000 + time.tv_nsec / 1_000_000
    }
}
