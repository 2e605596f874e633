// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyModel
import LatchkeySeams
import SensorTestSupport
import Synchronization
import TestSupport
import Testing

extension ReaderDriver {
    /// Empty where fprintd is missing; `RealFprintdTests` reports that.
    static let all = Need.fprintd.isMet() ? [ReaderDriver("fprintd") { try fprintd() }] : []

    private static func fprintd() throws -> Made {
        let machine = try Fprintd(.device)
        let (prints, place) = (machine.bus.folder.path, "\(machine.state)/\(Fprintd.account)/virtual_device/0/7")
        for finger in ["B", "A"] {
            try machine.enroll(finger)
            try FileManager.default.copyItem(atPath: place, toPath: "\(prints)/\(finger)")
        }
        let test = try ReaderUnderTest(machine.bus, templates: machine.state)
        let (reader, user) = (test.reader, ReaderUnderTest.user)
        let (arrived, changed) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let armed = Mutex<UInt64?>(nil)
        let enrolled = Mutex("A")
        // Released after the change: it refers to this reader, whose programs would never end.
        let observer = Mutex<(@Sendable () -> Void)?>(nil)
        /// Sends a command when a scan waits for a finger, and waits for the event that it causes.
        let send: @Sendable (String) -> Void = { command in
            guard armed.withLock({ $0 }) != nil else {
                _ = machine.send(command)
                return
            }
            #expect(throws: Never.self) { try machine.client.signal { $0.member == "VerifyFingerSelected" } }
            machine.send(command)
            #expect(arrived.wait(timeout: .now() + 10) == .success)
        }
        return Made(
            state: { withExtendedLifetime(test) { reader.state(for: user) } },
            arm: { evaluation, events in
                armed.withLock { $0 = evaluation }
                reader.arm(evaluation, user: user) { event in
                    events(event)
                    arrived.signal()
                }
            },
            disarm: { evaluation in
                armed.withLock { if $0 == evaluation { $0 = nil } }
                reader.disarm(evaluation)
            },
            observe: { body in
                observer.withLock { $0 = body }
                reader.observe {
                    observer.withLock { $0 }?()
                    changed.signal()
                }
            },
            touch: { send("SCAN \($0 ? enrolled.withLock { $0 } : "C")") }, fail: { send("ERROR 0") },
            replaceFinger: {
                enrolled.withLock { $0 = "B" }
                try #require(rename("\(prints)/B", place) == 0)
                try changed.signalled()
                observer.withLock { $0 = nil }
            })
    }
}
