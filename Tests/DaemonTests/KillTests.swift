// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import LatchkeySystem
import Testing

/// kill -9 at any moment: what was acknowledged is there, and the next call starts the daemon again (abuse case 35).
@Suite struct KillTests {
    private static let kills = 200

    @Test func nothingAcknowledgedIsLostWhenTheDaemonIsKilledAtRandomByteCounts() throws {
        let daemon = try TestDaemon()
        let (near, far) = try Sockets.pair()
        let writer = try Processes.spawn(
            TestDaemon.programs + "/latchkey-test-client", ["write"], environment: daemon.environment,
            descriptors: [far, nil, nil])
        defer {
            kill(writer, SIGKILL)
            Processes.wait(writer)
        }
        let acknowledged = try killWhileListening(near, daemon)
        kill(writer, SIGKILL)
        try compare(acknowledged, daemon)
    }

    /// Reads acknowledgements and kills the daemon whenever another random number of bytes has come.
    private func killWhileListening(_ pipe: Descriptor, _ daemon: TestDaemon) throws -> [UInt8] {
        var generator = SeededGenerator(seed: 0x1a7c_4e79)
        var acknowledged: [UInt8] = []
        var killed: Set<pid_t> = []
        var bytesLeft = Int.random(in: 1...120, using: &generator)
        var buffer = [UInt8](repeating: 0, count: 64)
        while killed.count < KillTests.kills {
            guard try pipe.wait(for: POLLIN, until: Uptime.deadline(seconds: 30)) else {
                Issue.record("the writer stopped after \(killed.count) kills")
                break
            }
            let count = read(pipe.number, &buffer, min(bytesLeft, buffer.count))
            try #require(count > 0, "the writer ended")
            acknowledged += buffer[..<count]
            bytesLeft -= count
            // A daemon is killed once: the lock keeps the number of the last one until the next has started.
            guard bytesLeft == 0 else { continue }
            bytesLeft = Int.random(in: 1...120, using: &generator)
            if let process = try daemon.process, killed.insert(process).inserted { kill(process, SIGKILL) }
        }
        return acknowledged
    }

    private func compare(_ acknowledged: [UInt8], _ daemon: TestDaemon) throws {
        var expected: [Int: String] = [:]
        let lines = acknowledged.split(separator: 0x0a).map { String(decoding: $0, as: UTF8.self) }
        // A line without an end is no acknowledgement.
        for line in acknowledged.last == 0x0a ? lines[...] : lines.dropLast() {
            let parts = line.split(separator: " ")
            let number = try #require(Int(parts[1]), "\(line)")
            #expect(parts[0] != "!", "the writer met another failure: \(line)")
            expected[number] = ["a": "first", "u": "second", "d": "gone", "?": "unknown"][String(parts[0])]
        }
        // The writer may have been one step further with the last item than it has said.
        if let last = expected.keys.max() { expected[last] = "unknown" }
        #expect(expected.count > KillTests.kills)
        try daemon.start()
        let client = try RawClient(daemon)
        _ = try client.call(.hello(Request.Hello(application: "test")), id: 1)
        for (number, state) in expected where state != "unknown" {
            #expect(try self.state(of: number, client) == state, "item \(number)")
        }
    }

    private func state(of number: Int, _ client: RawClient) throws -> String {
        switch try client.call(.reading("item \(number)"), id: UInt64(number) + 2) {
        case .items(let items, _)?: String(decoding: items[0].secret?.copyBytes() ?? [], as: UTF8.self)
        case .failure(let failure)?: failure.status == .itemNotFound ? "gone" : "\(failure)"
        case let other: "\(String(describing: other))"
        }
    }
}

/// Numbers that are the same in every run (SplitMix64).
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64
    init(seed: UInt64) { state = seed }
    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var z = state
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return z ^ (z >> 31)
    }
}
