// SPDX-License-Identifier: Apache-2.0

import BusDrivers
import Glibc
import LatchkeyModel
import LatchkeySystem

/// Calls of other programs on the bus that wait for their answers. Not for the bus's thread.
struct BusConversation: Sendable {
    static let milliseconds: Int64 = 25_000

    let bus: SystemBus

    func call(_ call: BusCall, milliseconds: Int64 = Self.milliseconds) throws(BusError) -> [BusValue] {
        let answer = Answer<Result<[BusValue], BusError>>()
        bus.run { [bus] in bus.call(call, milliseconds: milliseconds) { answer.set($0) } }
        return try (answer.wait() ?? .failure(.timedOut)).get()
    }

    private func ask(_ member: String, _ arguments: [BusValue]) throws(BusError) -> [BusValue] {
        try call(BusCall(BusNames.bus, BusNames.busPath, BusNames.bus, member, arguments))
    }

    /// The program that owns a name; nil if there is none.
    func owner(of name: String) throws(BusError) -> NameOwner? {
        do throws(BusError) {
            let unique = try ask("GetNameOwner", [.string(name)]).first?.text
            let process = try ask("GetConnectionUnixProcessID", [.string(unique ?? name)]).first?.number
            return process.flatMap { Int32(exactly: $0) }.map(NameOwner.init)
        } catch .refused("org.freedesktop.DBus.Error.NameHasNoOwner", _) {
            return nil
        }
    }

    /// Has the bus read its files again, of services that it can start.
    func reload() throws(BusError) { _ = try ask("ReloadConfig", []) }
}

/// The process that owns a name of the bus.
struct NameOwner: Sendable {
    let processID: Int32
    /// The path of its program; "?" where it cannot be determined.
    let program: String
    /// Whether it executes the file of this program.
    let isOurs: Bool

    init(_ processID: Int32) {
        self.processID = processID
        program = Environment.linkTarget("/proc/\(processID)/exe") ?? "?"
        let file = ExecutableFile(of: processID)
        isOurs = file != nil && file == ExecutableFile(of: getpid())
    }

    /// Ends the process, if it still executes the file of this program.
    func end() throws(SystemError) { try ProcessHandle.end(processID, within: 5) { NameOwner(processID).isOurs } }
}
