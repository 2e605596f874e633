// SPDX-License-Identifier: Apache-2.0

import BusDrivers
import BusTestSupport
import Foundation
import LatchkeyModel
import LatchkeySeams
import TestSupport
import Testing

/// A reader of a test, and what it has reported.
final class ReaderUnderTest: Sendable {
    static let user = UInt32(geteuid())
    let bus: SystemBus
    let reader: FprintReader
    let log = CollectedLog()
    private let events = Recorder<SensorEvent>()
    private let changes = DispatchSemaphore(value: 0)

    init(
        _ private: PrivateBus, templates: String?, allowsVirtual: Bool = true, trustedUser: UInt32 = user,
        timing: FprintReader.Timing = .forTests
    ) throws {
        bus = try SystemBus(address: `private`.address)
        reader = FprintReader(
            bus, templates: templates, allowsVirtual: allowsVirtual, configuration: "/etc/latchkey/latchkeyd.conf",
            trustedUser: trustedUser, timing: timing, log: log)
        reader.observe { [changes] in changes.signal() }
    }

    deinit { bus.end() }

    var state: SensorState { reader.state(for: Self.user) }

    func arm(_ evaluation: UInt64 = 1) { reader.arm(evaluation, user: Self.user, events: events.add) }

    /// The events so far.
    var all: [SensorEvent] { events.all }

    /// Waits for the next event.
    func next(sourceLocation: SourceLocation = #_sourceLocation) throws -> SensorEvent {
        try events.next(sourceLocation: sourceLocation)
    }

    /// Waits for a change of the state that fulfils the condition.
    func change(
        sourceLocation: SourceLocation = #_sourceLocation, until isReached: (SensorState) -> Bool
    ) throws -> SensorState {
        while true {
            let state = state
            if isReached(state) { return state }
            try changes.signalled(sourceLocation: sourceLocation)
        }
    }

    /// Waits until everything that was submitted to the bus's thread before is done.
    func settle() throws {
        let done = DispatchSemaphore(value: 0)
        bus.run { done.signal() }
        try done.signalled()
    }
}

typealias FprintDriverTiming = FprintReader.Timing

extension FprintReader.Timing {
    /// Generous, as a busy machine needs; a test of a deadline sets its own.
    static let forTests = FprintReader.Timing()
}
