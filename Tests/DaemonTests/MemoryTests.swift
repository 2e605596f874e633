// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import LatchkeySystem
import TestPromises
import TestSupport
import Testing

/// Tests of the daemon's memory use and memory locking.
@Suite struct MemoryTests {
    private let daemon: TestDaemon

    init() throws {
        daemon = try TestDaemon(simulated: true)
        try daemon.start()
    }

    /// A value of `/proc/PID/status` (proc(5)), in bytes.
    private func bytes(_ name: String) throws -> Int {
        let process = try #require(try daemon.process)
        let file = try Descriptor.open("/proc/\(process)/status", O_RDONLY)
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        let count = try buffer.withUnsafeMutableBytes { try file.read(into: $0) }
        let lines = String(decoding: buffer[..<count], as: UTF8.self).split(separator: "\n")
        let line = try #require(lines.first { $0.hasPrefix(name + ":") })
        return try #require(Int(line.split(separator: " ").dropLast().last.map { $0.filter(\.isNumber) } ?? "")) << 10
    }

    @Test func updateOfManyLargeItemsUsesLittleMemoryAndReleasesIt() throws {
        let client = try RawClient(daemon)
        let secret = [UInt8](repeating: 0x5a, count: Limits.secretBytes)
        #expect(try client.call(.adding("item 0", secret: secret), id: 1) == .done)
        let (before, peakBefore) = (try bytes("VmRSS"), try bytes("VmHWM"))
        for number in 1..<100 {
            #expect(try client.call(.adding("item \(number)", secret: secret), id: UInt64(number + 1)) == .done)
        }
        let update = Request.UpdateItems(changes: [.label: .text("updated")])
        try client.send(.updateItems(update), id: 1000)
        #expect(try client.receive(seconds: 120)?.reply == .done)
        #expect(try bytes("VmHWM") - peakBefore < 40 << 20, "100 MiB are never in memory at once")
        #expect(try client.call(.status, id: 1001) != nil)
        #expect(try bytes("VmRSS") - before < 24 << 20)
        guard case .items(let items, _)? = try client.call(.reading("item 99"), id: 1002) else {
            Issue.record("no answer")
            return
        }
        #expect(items.first?.secret == SecretBytes(secret))
    }

    @Test(.promise("memory.locked")) func memoryOfSecretsIsLockedAndStatusReportsIt() throws {
        let status = try daemon.run("latchkey", ["status"])
        #expect(status.output.contains("secrets are locked"), "\(status.output)")
        #expect(try bytes("VmLck") >= 1 << 20)
        #expect(try daemon.run("latchkey", ["status", "--json"]).output.contains("\"memoryLocked\":true"))
    }

    @Test(.promise("memory.locked")) func unlockedMemoryIsReported() throws {
        let other = try TestDaemon(simulated: true)
        // Root may lock memory regardless of the limit, unless it has dropped CAP_IPC_LOCK.
        let isRoot = geteuid() == 0
        let command = "ulimit -l 0; exec \"$LATCHKEY_DAEMON\" --detach"
        let started =
            try isRoot
            ? other.run("/usr/bin/setpriv", ["--bounding-set=-ipc_lock", "/bin/sh", "-c", command])
            : other.run("/bin/sh", ["-c", command])
        #expect(started.exitCode == 0, "\(started.errors)")
        let status = try other.run("latchkey", ["status"])
        #expect(
            status.output.contains("secrets may be swapped out: The kernel refuses to lock memory"), "\(status.output)")
    }
}
