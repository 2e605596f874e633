// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
import Synchronization
package import TPMDriver
package import TestSupport

/// A software TPM behind a resource manager that does what the kernel's does for `/dev/tpmrm0`: each connection has a
/// space of its own, and each command loads what its space holds before it, and saves and removes that afterwards. So an
/// object costs three commands and a session two.
///
/// It notes every command that the TPM gets, with the milliseconds that a published firmware TPM takes for its class.
/// The times are added and nothing waits, so that the figures are the same on every machine.
package final class ManagedTPM: TPMConnecting {
    /// A command that the TPM got, from a program or from the manager.
    package struct Entry: Sendable {
        package let number: UInt32
        /// Whether the manager sent it, to load, save or remove.
        package let isOfManager: Bool

        /// Milliseconds of a published firmware TPM.
        package var milliseconds: Int { FirmwareTPM.milliseconds(number) }
    }

    /// What one connection holds.
    private struct Space: Sendable {
        /// The contexts of objects by their handles, which only this space knows.
        var objects: [UInt32: [UInt8]] = [:]
        /// The contexts of sessions by their handles.
        var sessions: [(handle: UInt32, context: [UInt8])] = []
    }

    private struct State: Sendable {
        var transport: (any TPMTransport)?
        var spaces: [Int: Space] = [:]
        var connections = 0
        var entries: [Entry] = []
        /// The numbers of handles that a command begins with, by its number.
        var handles: [UInt32: Int] = [:]
        /// The TPM that is turned off and on, and the commands of programs before that.
        var restart: (tpm: SwitchedTPM, left: Int)?
    }
    private let path: String
    private let state = Mutex(State())

    /// Manages the TPM at the path of a socket, which takes one connection.
    package init(_ path: String) { self.path = path }

    /// The commands since the last call.
    package func takeEntries() -> [Entry] {
        state.withLock { state in
            defer { state.entries = [] }
            return state.entries
        }
    }

    /// The objects and the sessions that all connections hold.
    package var held: (objects: Int, sessions: Int) {
        state.withLock { state in
            (
                state.spaces.values.reduce(0) { $0 + $1.objects.count },
                state.spaces.values.reduce(0) { $0 + $1.sessions.count }
            )
        }
    }

    /// Whether no connection holds anything.
    package var isEmpty: Bool { held.objects == 0 && held.sessions == 0 }

    /// Removes the contexts of all connections, which a TPM that was turned off does not accept any more.
    package func loseEverything() {
        state.withLock { state in
            for number in state.spaces.keys {
                for session in state.spaces[number]?.sessions ?? [] {
                    _ = try? send(Self.flush, session.handle.bytes, &state, isOfManager: true)
                }
                state.spaces[number] = Space()
            }
        }
    }

    /// Turns the TPM off and on before one of the commands that programs send.
    ///
    /// - Parameter left: how many commands come before.
    package func restart(_ tpm: SwitchedTPM, after left: Int) { state.withLock { $0.restart = (tpm, left) } }

    private func restartIfDue(_ state: inout State) throws(Failure) {
        guard let (tpm, left) = state.restart else { return }
        state.restart = left == 0 ? nil : (tpm, left - 1)
        guard left == 0 else { return }
        tpm.cutPower()
        do { try tpm.start() } catch { throw Failure(.internalFailure, "The TPM does not start: \(error)") }
        state.transport = try TPMPlace(path).connect()
        for number in state.spaces.keys { state.spaces[number] = Space() }
    }

    package func connect() throws(Failure) -> any TPMTransport {
        let number = try state.withLock { (state) throws(Failure) in
            if state.transport == nil { state.transport = try TPMPlace(path).connect() }
            if state.handles.isEmpty { try readAttributes(&state) }
            state.connections += 1
            state.spaces[state.connections] = Space()
            return state.connections
        }
        return Connection(self, number)
    }

    /// TPM2_GetCapability of TPM_CAP_COMMANDS: the attributes of each command.
    private func readAttributes(_ state: inout State) throws(Failure) {
        let answer = try state.transport?.exchange([
            0x80, 1, 0, 0, 0, 22, 0, 0, 1, 0x7a, 0, 0, 0, 2, 0, 0, 1, 0x1f, 0, 0, 1, 0,
        ])
        guard let answer else { return }
        for place in stride(from: 19, to: answer.count, by: 4) {
            let attributes = answer.number(at: place)
            state.handles[attributes & 0xffff] = Int(attributes >> 25 & 7)
        }
        // Its handle is a parameter for the TPM.
        state.handles[Self.flush] = 1
    }

    private static let (load, save, flush) = (0x161 as UInt32, 0x162 as UInt32, 0x165 as UInt32)

    fileprivate func exchange(_ command: [UInt8], _ number: Int) throws(Failure) -> [UInt8] {
        try state.withLock { (state) throws(Failure) in
            try restartIfDue(&state)
            guard var space = state.spaces[number] else { throw Self.ended }
            var physical: [UInt32: UInt32] = [:]
            for (handle, context) in space.objects.sorted(by: { $0.key > $1.key }) {
                let answer = try send(Self.load, context, &state, isOfManager: true)
                if answer.code == 0 { physical[handle] = answer.number(at: 10) } else { space.objects[handle] = nil }
            }
            for session in space.sessions {
                let answer = try send(Self.load, session.context, &state, isOfManager: true)
                if answer.code != 0 { space.sessions.removeAll { $0.handle == session.handle } }
            }
            var answer = try send(command.with(physical, handles: state.handles[command.code] ?? 0), &state)
            if answer.code == 0, let made = answer.madeHandle(command.code) {
                if made >> 24 == 0x80 {
                    // As the kernel numbers them.
                    var handle = 0x80ff_ffff as UInt32
                    while physical[handle] != nil { handle -= 1 }
                    physical[handle] = made
                    space.objects[handle] = []
                    answer.replaceSubrange(10..<14, with: handle.bytes)
                } else {
                    space.sessions.append((made, []))
                }
            }
            for (handle, loaded) in physical.sorted(by: { $0.key > $1.key }) {
                let saved = try send(Self.save, loaded.bytes, &state, isOfManager: true)
                space.objects[handle] = saved.code == 0 ? Array(saved.dropFirst(10)) : nil
                if saved.code == 0 { _ = try send(Self.flush, loaded.bytes, &state, isOfManager: true) }
            }
            var sessions: [(handle: UInt32, context: [UInt8])] = []
            for session in space.sessions {
                let saved = try send(Self.save, session.handle.bytes, &state, isOfManager: true)
                if saved.code == 0 { sessions.append((session.handle, Array(saved.dropFirst(10)))) }
            }
            space.sessions = sessions
            state.spaces[number] = space
            return answer
        }
    }

    /// Removes what a connection holds, as the kernel does when its descriptor is closed.
    fileprivate func end(_ number: Int) {
        state.withLock { state in
            guard let space = state.spaces.removeValue(forKey: number) else { return }
            // A saved object takes no room.
            for session in space.sessions { _ = try? send(Self.flush, session.handle.bytes, &state, isOfManager: true) }
        }
    }

    private func send(
        _ number: UInt32, _ parameters: [UInt8], _ state: inout State, isOfManager: Bool
    ) throws(Failure) -> [UInt8] {
        try send(
            [0x80, 1] + UInt32(10 + parameters.count).bytes + number.bytes + parameters, &state, isOfManager: true)
    }

    private func send(_ command: [UInt8], _ state: inout State, isOfManager: Bool = false) throws(Failure) -> [UInt8] {
        guard let transport = state.transport else { throw Self.ended }
        state.entries.append(Entry(number: command.code, isOfManager: isOfManager))
        return try transport.exchange(command)
    }

    private static let ended = Failure(.enclaveUnavailable, "The connection to the TPM ended.")

    private final class Connection: TPMTransport {
        private let tpm: ManagedTPM
        private let number: Int

        init(_ tpm: ManagedTPM, _ number: Int) { (self.tpm, self.number) = (tpm, number) }

        deinit { tpm.end(number) }

        var isExclusive: Bool { false }
        func exchange(_ command: [UInt8]) throws(Failure) -> [UInt8] { try tpm.exchange(command, number) }
        func pause(milliseconds: Int) {}
    }
}

extension UInt32 {
    fileprivate var bytes: [UInt8] { withUnsafeBytes(of: bigEndian, Array.init) }
}

extension [UInt8] {
    fileprivate func number(at place: Int) -> UInt32 {
        guard count >= place + 4 else { return 0 }
        return self[place..<place + 4].reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// The number of a command, or the code of a response.
    fileprivate var code: UInt32 { number(at: 6) }

    /// The handle of an object or of a session with which the response to a command begins.
    fileprivate func madeHandle(_ command: UInt32) -> UInt32? {
        // CreatePrimary, Load, ContextLoad, LoadExternal, StartAuthSession.
        [0x131, 0x157, 0x161, 0x167, 0x176].contains(command) ? number(at: 10) : nil
    }

    /// The command with the handles of the TPM in place of those of its space.
    fileprivate func with(_ physical: [UInt32: UInt32], handles: Int) -> [UInt8] {
        var command = self
        for place in (0..<handles).map({ 10 + 4 * $0 }) where count >= place + 4 {
            guard let handle = physical[number(at: place)] else { continue }
            command.replaceSubrange(place..<place + 4, with: handle.bytes)
        }
        return command
    }
}

extension [ManagedTPM.Entry] {
    package var milliseconds: Int { reduce(0) { $0 + $1.milliseconds } }
}
