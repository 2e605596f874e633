// SPDX-License-Identifier: Apache-2.0

import BusDrivers
import BusTestSupport
import Foundation
import LatchkeyModel
import LatchkeySeams
import LatchkeySystem
import Synchronization
import TestSupport
import Testing

extension FprintDriverTests {
    /// What the driver adds to fprintd's own time, and what it does while nothing happens.
    @Suite(.needs(.fprintd), .timeLimit(.minutes(2))) struct SpeedTests {
        /// Prints the times, of which a test asserts none: the machine may be busy.
        @Test func everyTouchIsReportedOnce() throws {
            let machine = try Fprintd(.device)
            try machine.enroll("A")
            let arrived = Recorder<Int64>()
            let reported = Recorder<Int64>()
            let observes = DispatchSemaphore(value: 0)
            let witness = try SystemBus(address: machine.bus.address)
            defer { witness.end() }
            witness.run {
                witness.observe("type='signal',interface='net.reactivated.Fprint.Device',member='VerifyStatus'") {
                    if $0.arguments[0].text == "verify-match" { arrived.add(Uptime.nanoseconds) }
                }
                witness.call(.init("org.freedesktop.DBus", "/", "org.freedesktop.DBus", "GetId"), milliseconds: 10_000)
                { _ in observes.signal() }
            }
            try observes.signalled()
            let reader = try ReaderUnderTest(machine.bus, templates: machine.state)
            let (next, user) = (DispatchSemaphore(value: 0), ReaderUnderTest.user)
            reader.reader.arm(1, user: user) { _ in
                reported.add(Uptime.nanoseconds)
                next.signal()
            }
            let rounds = 100
            for _ in 0..<rounds {
                try machine.client.signal { $0.member == "VerifyFingerSelected" }
                machine.send("SCAN A")
                try next.signalled()
            }
            reader.reader.disarm(1)
            let late = zip(reported.all, arrived.all).map { $0 - $1 }.sorted()
            try #require(late.count >= rounds - 1)
            let (median, most) = (late[late.count / 2] / 1000, late[late.count * 95 / 100] / 1000)
            print("after fprintd's signal: median \(median) µs, 95 % \(most) µs, \(late.count) touches")
            #expect(reported.all.count == rounds)
        }

        @Test func theThreadSleepsWhileNothingHappens() throws {
            let machine = try Fprintd(.device)
            try machine.enroll("A")
            let reader = try ReaderUnderTest(machine.bus, templates: machine.state)
            _ = reader.state
            let thread = Mutex("")
            let known = DispatchSemaphore(value: 0)
            reader.bus.run {
                thread.withLock {
                    $0 =
                        "/proc/"
                        + ((try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/thread-self")) ?? "")
                        + "/status"
                }
                known.signal()
            }
            try known.signalled()
            let path = thread.withLock { $0 }
            func switches() throws -> String {
                let status = try String(contentsOfFile: path, encoding: .utf8)
                return try #require(
                    status.split(separator: "\n").first { $0.hasPrefix("voluntary_ctxt") }.map(String.init))
            }
            _ = try reader.change { $0.enrolment != nil }
            // fprintd still reports the end of the enrolment, so the first seconds may not be idle. A thread that polls
            // has no idle second at all.
            let idle = try (0..<5).contains { _ in
                let before = try switches()
                // This second is what the test measures; it waits for nothing.
                usleep(1_000_000)
                return try switches() == before
            }
            #expect(idle)
        }
    }
}
