// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import LatchkeySystem
import TestPromises
import TestSupport
import Testing

/// Kills the daemon at random times: acknowledged writes are present, and the next call restarts it (abuse case 35).
@Suite struct KillTests {
    private static let kills = 200

    /// Runs with one writer, and with eight that report on the same pipe.
    @Test(.promise("abuse.35"), arguments: [1, 8])
    func acknowledgedWritesSurviveKillAtRandomByteCounts(writers count: Int) throws {
        let daemon = try TestDaemon()
        let (near, far) = try Sockets.pair()
        let writers = try (0..<count).map { number in
            try Processes.spawn(
                TestDaemon.programs + "/latchkey-test-client", ["write", "\(number)"],
                environment: daemon.environment, descriptors: [far, nil, nil])
        }
        func stop() { for writer in writers { kill(writer, SIGKILL) } }
        defer {
            stop()
            for writer in writers { Processes.wait(writer) }
        }
        let acknowledged = try killWhileListening(near, daemon, kills: count == 1 ? KillTests.kills : 40)
        stop()
        try compare(acknowledged, daemon)
    }

    /// Reads acknowledgements, and kills the daemon each time a random number of bytes has arrived.
    private func killWhileListening(_ pipe: Descriptor, _ daemon: TestDaemon, kills: Int) throws -> [UInt8] {
        var generator = SeededGenerator(seed: 0x1a7c_4e79)
        var acknowledged: [UInt8] = []
        var killed: Set<pid_t> = []
        var bytesLeft = Int.random(in: 1...120, using: &generator)
        var buffer = [UInt8](repeating: 0, count: 64)
        while killed.count < kills {
            guard try pipe.wait(for: POLLIN, until: Uptime.deadline(seconds: 30)) else {
                Issue.record("the writer stopped after \(killed.count) kills")
                break
            }
            let count = read(pipe.number, &buffer, min(bytesLeft, buffer.count))
            try #require(count > 0, "the writer ended")
            acknowledged += buffer[..<count]
            bytesLeft -= count
            // Each daemon is killed only once: the lock file contains its process id until the next one has started.
            guard bytesLeft == 0 else { continue }
            bytesLeft = Int.random(in: 1...120, using: &generator)
            if let process = try daemon.process, killed.insert(process).inserted { kill(process, SIGKILL) }
        }
        return acknowledged
    }

    private func compare(_ acknowledged: [UInt8], _ daemon: TestDaemon) throws {
        var expected: [String: String] = [:]
        var last: [Substring: String] = [:]
        let lines = acknowledged.split(separator: 0x0a).map { String(decoding: $0, as: UTF8.self) }
        // An incomplete line is not an acknowledgement.
        for line in acknowledged.last == 0x0a ? lines[...] : lines.dropLast() {
            let parts = line.split(separator: " ")
            try #require(parts.count == 3, "the writer reported a failure: \(line)")
            let item = "\(parts[1]) \(parts[2])"
            last[parts[1]] = item
            expected[item] = ["a": "first", "u": "second", "d": "gone", "?": "unknown"][String(parts[0])]
        }
        // The last item of each writer may be one step ahead of what it has reported.
        for item in last.values { expected[item] = "unknown" }
        #expect(expected.count > 40)
        let client = try greeted(daemon)
        for (number, (item, state)) in expected.enumerated() where state != "unknown" {
            #expect(try self.state(of: item, client, id: UInt64(number) + 2) == state, "item \(item)")
        }
    }

    /// Connects to the running daemon; the one that was killed last may still be found for a moment.
    private func greeted(_ daemon: TestDaemon) throws -> RawClient {
        let deadline = Uptime.deadline(seconds: 30)
        while true {
            do {
                try daemon.start()
                let client = try RawClient(daemon, hello: nil)
                // Not `#require`, which would record an issue although the next attempt succeeds.
                guard try client.call(.hello(Request.Hello(application: "test")), id: 1) != nil else {
                    throw NoAnswer()
                }
                return client
            } catch {
                guard Uptime.nanoseconds < deadline else { throw error }
            }
        }
    }

    private struct NoAnswer: Error {}

    private func state(of item: String, _ client: RawClient, id: UInt64) throws -> String {
        switch try client.call(.reading("item \(item)"), id: id) {
        case .items(let items, _)?: String(decoding: items[0].secret?.copyBytes() ?? [], as: UTF8.self)
        case .failure(let failure)?: failure.status == .itemNotFound ? "gone" : "\(failure)"
        case let other: "\(String(describing: other))"
        }
    }
}
