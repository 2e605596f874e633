// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import Synchronization
import SystemDriver
import TPMDriver
import TPMProtocol
import TestSupport

/// A proxy in front of a software TPM, which can change what passes it.
final class ProxiedTPM: TPMConnecting {
    /// What happens to one command.
    enum Fault: Sendable {
        /// The TPM does not get the command and answers with this code.
        case refuses(UInt32)
        /// The response does not arrive.
        case dies
        /// The response arrives changed.
        case changes(@Sendable ([UInt8]) -> [UInt8])
        /// Another program flushes everything of these kinds before the TPM gets the command (see `handles`).
        case follows(flushOf: [UInt32])
    }
    private struct State: Sendable {
        var transport: (any TPMTransport)?
        var connections = 0
        var commands: [[UInt8]] = []
        var responses: [[UInt8]] = []
        var fault: (@Sendable (_ command: [UInt8], _ number: Int) -> Fault?)?
    }
    private let tpm: SoftwareTPM
    private let state = Mutex(State())

    init() throws { tpm = try SoftwareTPM() }

    /// A chip behind this proxy.
    func chip(_ clock: any Clock) -> TPMChip { TPMChip(self, clock: clock, random: SystemRandomSource()) }

    var connections: Int { state.withLock { $0.connections } }
    /// Everything that passed, in both directions.
    var traffic: [[UInt8]] { state.withLock { $0.commands + $0.responses } }
    var commandCount: Int { state.withLock { $0.commands.count } }

    /// Decides from now on what happens to each command; `number` counts them from 0.
    func inject(_ fault: (@Sendable (_ command: [UInt8], _ number: Int) -> Fault?)?) {
        state.withLock { state in
            state.fault = fault
            state.commands = []
            state.responses = []
        }
    }

    func connect() throws(Failure) -> any TPMTransport {
        // The TPM takes one connection at a time.
        state.withLock { $0.transport = nil }
        let transport = try TPMPlace(tpm.path).connect()
        state.withLock { state in
            state.transport = transport
            state.connections += 1
        }
        return Connection(self, transport)
    }

    /// Sends a command of the test on the connection that the driver has, or on a new one.
    func send(
        _ number: UInt32, handles: [TPMHandle] = [], _ parameters: [UInt8] = [], passwords: Int = 0
    ) throws -> [UInt8] {
        var body = TPMWriter()
        for handle in handles { body.add(handle) }
        if passwords > 0 {
            body.add(UInt32(9 * passwords))
            for _ in 0..<passwords {
                body.add(TPMHandle.password)
                try body.add(sized: [])
                body.add(UInt8(1))
                try body.add(sized: [])
            }
        }
        body.add(parameters)
        var frame = TPMWriter()
        frame.add(UInt16(passwords > 0 ? 0x8002 : 0x8001))
        frame.add(UInt32(10 + body.bytes.count))
        frame.add(number)
        frame.add(body.bytes)
        let transport = try state.withLock { $0.transport } ?? TPMPlace(tpm.path).connect()
        let response = try transport.exchange(frame.bytes)
        var reader = TPMReader(response)
        _ = try reader.bytes(6)
        let code = TPMResponseCode(try reader.uint32())
        guard code == .success else { throw Refusal(code: code) }
        return Array(response.dropFirst(10))
    }

    struct Refusal: Error, Equatable { var code: TPMResponseCode }

    /// The handles that the TPM holds of a kind: 0x80 for objects, 0x02 for loaded and 0x03 for saved sessions, 0x81 for
    /// persistent objects.
    func handles(_ kind: UInt32) throws -> [UInt32] {
        var parameters = TPMWriter()
        for number in [1, kind << 24, 64] { parameters.add(number) }
        var reader = TPMReader(try send(0x17a, parameters.bytes))
        _ = try reader.bytes(5)
        return try (0..<(try reader.uint32())).map { _ in try reader.uint32() }
    }

    /// Flushes everything of a kind, as another program or a resource manager can.
    func flush(_ kind: UInt32, where isChosen: (UInt32) -> Bool = { _ in true }) throws {
        for handle in try handles(kind) where isChosen(handle) {
            var parameters = TPMWriter()
            parameters.add(handle)
            _ = try send(0x165, parameters.bytes)
        }
    }

    /// The numbers of the commands that passed.
    var commandNumbers: [UInt32] {
        state.withLock { $0.commands.map { $0[6..<10].reduce(0) { $0 << 8 | UInt32($1) } } }
    }

    fileprivate func exchange(_ command: [UInt8], _ transport: any TPMTransport) throws(Failure) -> [UInt8] {
        let fault = state.withLock { state in
            defer { state.commands.append(command) }
            return state.fault?(command, state.commands.count)
        }
        if case .refuses(let code)? = fault {
            var response = TPMWriter()
            response.add(UInt16(0x8001))
            response.add(UInt32(10))
            response.add(code)
            return response.bytes
        }
        if case .follows(let kinds)? = fault {
            do {
                for kind in kinds { try flush(kind) }
            } catch {
                throw Failure(.internalFailure, "The proxy cannot flush: \(error)")
            }
        }
        let response = try transport.exchange(command)
        state.withLock { $0.responses.append(response) }
        switch fault {
        case .dies?: throw Failure(.enclaveUnavailable, "The proxy lost the response.")
        case .changes(let change)?: return change(response)
        case .refuses?, .follows?, nil: return response
        }
    }

    private final class Connection: TPMTransport {
        private let proxy: ProxiedTPM
        private let transport: any TPMTransport

        init(_ proxy: ProxiedTPM, _ transport: any TPMTransport) { (self.proxy, self.transport) = (proxy, transport) }

        var isExclusive: Bool { transport.isExclusive }
        func exchange(_ command: [UInt8]) throws(Failure) -> [UInt8] { try proxy.exchange(command, transport) }
        func pause(milliseconds: Int) {}
    }
}
