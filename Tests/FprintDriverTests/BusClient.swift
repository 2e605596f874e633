// SPDX-License-Identifier: Apache-2.0

import BusDrivers
import BusTestSupport
import Foundation
import LatchkeySystem
import Synchronization
import TestSupport
import Testing

/// Another program on the bus, such as the settings of a desktop, with calls that wait for their answer.
final class BusClient: Sendable {
    static let device = "/net/reactivated/Fprint/Device/0"
    let bus: SystemBus
    private let signals = Recorder<BusSignal>()

    init(_ private: PrivateBus) throws {
        bus = try SystemBus(address: `private`.address)
        // Installed when the first call has its answer.
        bus.run { [bus, signals] in
            bus.observe("type='signal',interface='net.reactivated.Fprint.Device'", signals.add)
            bus.observe("type='signal',sender='org.freedesktop.DBus',member='NameOwnerChanged'", signals.add)
        }
    }

    deinit { bus.end() }

    /// Calls a method and waits for its answer.
    @discardableResult
    func call(_ call: BusCall) throws -> [BusValue] {
        let answered = DispatchSemaphore(value: 0)
        let result = Mutex<Result<[BusValue], BusError>?>(nil)
        bus.run { [bus] in
            bus.call(call, milliseconds: 10_000) { answer in
                result.withLock { $0 = answer }
                answered.signal()
            }
        }
        try answered.signalled()
        return try #require(result.withLock { $0 }).get()
    }

    /// Calls a method of fprintd's device.
    @discardableResult
    func device(_ member: String, _ arguments: String..., path: String = device) throws -> [BusValue] {
        try call(
            BusCall(
                "net.reactivated.Fprint", path, "net.reactivated.Fprint.Device", member,
                arguments.map { .string($0) }))
    }

    /// Whether a name has an owner.
    func hasOwner(_ name: String) throws -> Bool {
        let path = "/org/freedesktop/DBus"
        return try call(BusCall("org.freedesktop.DBus", path, "org.freedesktop.DBus", "NameHasOwner", [.string(name)]))
            .first?.flag == true
    }

    /// Removes the signals that came before the last answer.
    func forget() { signals.removeAll() }

    /// Waits for a signal that fulfils the condition, and removes it and those before it.
    @discardableResult
    func signal(_ isWanted: (BusSignal) -> Bool, sourceLocation: SourceLocation = #_sourceLocation) throws -> BusSignal
    {
        try signals.next(sourceLocation: sourceLocation, where: isWanted)
    }
}
