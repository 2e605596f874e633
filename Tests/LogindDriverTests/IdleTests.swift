// SPDX-License-Identifier: Apache-2.0

import BusDrivers
import BusTestSupport
import Foundation
import LatchkeySystem
import Synchronization
import TestSupport
import Testing

/// What the driver does while nothing happens.
@Suite(.needs(.messageBus), .timeLimit(.minutes(1))) struct IdleTests {
    @Test func theThreadOfTheBusSleepsWhileNoSessionChanges() throws {
        let bus = try PrivateBus()
        let logind = try LogindStandIn(bus, [LogindStandIn.Session(id: "2", user: 1001)])
        defer { logind.end() }
        let driver = try SessionsUnderTest(bus)
        _ = driver.state()
        try logind.wait(for: "Inhibit")
        let status = try self.status(of: driver.bus)
        try Self.awaitSleep(status)
        // On a busy machine a thread that waits for a lock also looks asleep; then the first second has its last work.
        #expect(try (0..<5).contains { _ in try Self.isQuietForASecond(status) })
    }

    private static func isQuietForASecond(_ status: String) throws -> Bool {
        let before = try switches(status)
        // Nothing is waited for: the time itself is what is measured.
        let never = DispatchSemaphore(value: 0)
        #expect(never.wait(timeout: .now() + 1) == .timedOut)
        return try switches(status) == before
    }

    /// The file of the kernel with the state of the bus's thread, after everything that the thread had to do.
    private func status(of bus: SystemBus) throws -> String {
        let path = Mutex("")
        let done = DispatchSemaphore(value: 0)
        bus.run { [bus] in
            bus.call(.init("org.freedesktop.DBus", "/", "org.freedesktop.DBus", "GetId"), milliseconds: 10_000) { _ in
                let thread = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/thread-self")
                path.withLock { $0 = "/proc/\(thread ?? "")/status" }
                done.signal()
            }
        }
        try done.signalled()
        // The job after the last call ends when the thread is about to wait.
        bus.run { done.signal() }
        try done.signalled()
        return path.withLock { $0 }
    }

    /// Waits until the thread waits for an event: on a busy machine it may still be about to.
    private static func awaitSleep(_ path: String) throws {
        let deadline = Uptime.deadline(seconds: 10)
        while try !String(contentsOfFile: path, encoding: .utf8).contains("State:\tS") {
            try #require(Uptime.nanoseconds < deadline)
            sched_yield()
        }
    }

    private static func switches(_ path: String) throws -> String {
        try #require(
            String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
                .first { $0.hasPrefix("voluntary_ctxt") }.map(String.init))
    }
}
