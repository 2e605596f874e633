// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import Synchronization
import TPMDriver
import TPMProtocol
import TestSupport
import Testing

/// The connection to a software TPM, which records what passes, and sends commands of another program in between.
final class TPMBus: TPMConnecting {
    /// A byte of a response.
    enum ResponseByte {
        /// The first one of the first parameter of a response with sessions, behind the header and two sizes.
        case first
        case last
    }

    private struct State: Sendable {
        var transport: (any TPMTransport)?
        var capture: [UInt8] = []
        /// Codes that commands are answered with before they reach the TPM.
        var refusals: [TPMCommand: [UInt32]] = [:]
        /// The command whose responses are changed, and the byte of them.
        var changed: (command: TPMCommand, byte: ResponseByte)?
        /// The command whose next response is lost, with the connection.
        var lost: TPMCommand?
        /// The password that the carrier gives the next index in place of the empty one.
        var planted: [UInt8]?
    }
    private let place: TPMPlace
    private let state = Mutex(State())

    init(_ path: String) { place = TPMPlace(path) }

    /// Everything that passed in both directions.
    var capture: [UInt8] { state.withLock { $0.capture } }

    /// Answers the next commands of that kind with those codes; the TPM does not get them.
    func refuse(_ command: TPMCommand, _ codes: [UInt32]) { state.withLock { $0.refusals[command] = codes } }

    /// Answers a later command of that kind with a code, after some that pass.
    func refuseAfter(_ command: TPMCommand, passing count: Int, _ code: UInt32) {
        refuse(command, [UInt32](repeating: Self.passes, count: count) + [code])
    }

    /// Stands for a command that is carried out, and is no code of a TPM.
    private static let passes = UInt32.max

    /// Changes one bit of each response to that command; nil for none.
    func change(responsesTo command: TPMCommand?, _ byte: ResponseByte = .first) {
        state.withLock { $0.changed = command.map { ($0, byte) } }
    }

    /// Carries out the next command of that kind, and loses its response.
    func lose(responseTo command: TPMCommand) { state.withLock { $0.lost = command } }

    /// Replaces the next index that is defined by one of the same form with that password, as the owner.
    func plant(password: [UInt8]) { state.withLock { $0.planted = password } }

    func connect() throws(Failure) -> any TPMTransport {
        // A software TPM takes one connection at a time.
        state.withLock { $0.transport = nil }
        let opened = try place.connect()
        state.withLock { $0.transport = opened }
        return Tap(bus: self, transport: opened)
    }

    private struct Tap: TPMTransport {
        let bus: TPMBus
        let transport: any TPMTransport
        var isExclusive: Bool { transport.isExclusive }

        func exchange(_ command: [UInt8]) throws(Failure) -> [UInt8] {
            try bus.pass(command, transport)
        }

        func pause(milliseconds: Int) {}
    }

    private func pass(_ command: [UInt8], _ transport: any TPMTransport) throws(Failure) -> [UInt8] {
        let code = TPMCommand(rawValue: command[6..<10].reduce(0) { $0 << 8 | UInt32($1) })
        let (refusal, changed) = state.withLock { state in
            state.capture += command
            guard let code else { return (nil, nil) as (UInt32?, ResponseByte?) }
            let refusal = state.refusals[code]?.first
            if refusal != nil { state.refusals[code]?.removeFirst() }
            return (refusal, state.changed?.command == code ? state.changed?.byte : nil)
        }
        if let refusal, refusal != Self.passes {
            var response = TPMWriter()
            response.add(UInt16(0x8001))
            response.add(UInt32(10))
            response.add(refusal)
            return response.bytes
        }
        var response = try transport.exchange(command)
        let planted = state.withLock { state in
            defer { if code == .nvDefineSpace { state.planted = nil } }
            return code == .nvDefineSpace ? state.planted : nil
        }
        if let planted { try replaceIndex(command, planted, transport) }
        let isLost = state.withLock { state in
            guard let code, state.lost == code else { return false }
            state.lost = nil
            return true
        }
        if isLost { throw Failure(.enclaveUnavailable, "The response was lost.") }
        if let changed, response.count > 16 { response[changed == .first ? 16 : response.count - 1] ^= 1 }
        state.withLock { $0.capture += response }
        return response
    }

    /// Removes the index that a command has defined, and defines it again with that password.
    private func replaceIndex(
        _ definition: [UInt8], _ password: [UInt8], _ transport: any TPMTransport
    ) throws(Failure) {
        // The public area of an index with a policy, behind its size at the end of the command.
        let area = Array(definition.suffix(46))
        let handle = area[..<4].reduce(0) { $0 << 8 | UInt32($1) }
        var parameters = TPMWriter()
        try parameters.add(sized: password)
        try parameters.add(sized: area)
        for frame in [
            Self.frame(0x122, [0x4000_0001, handle], []), Self.frame(0x12a, [0x4000_0001], parameters.bytes),
        ] {
            let code = try transport.exchange(frame)[6..<10]
            guard code.allSatisfy({ $0 == 0 }) else { throw Failure(.internalFailure, "planting failed: \(code)") }
        }
    }

    // MARK: - Another program

    /// Sends a command as another program with access to the TPM; the first handle has the empty password.
    @discardableResult
    func send(
        _ command: UInt32, _ handles: [UInt32], _ parameters: [UInt8] = [], hasPassword: Bool = true
    ) throws -> (code: UInt32, response: [UInt8]) {
        let frame = Self.frame(command, handles, parameters, hasPassword: hasPassword)
        if state.withLock({ $0.transport == nil }) { _ = try connect() }
        let transport = try #require(state.withLock { $0.transport })
        let response = try transport.exchange(frame)
        return (response[6..<10].reduce(0) { $0 << 8 | UInt32($1) }, response)
    }

    private static func frame(
        _ command: UInt32, _ handles: [UInt32], _ parameters: [UInt8], hasPassword: Bool = true
    ) -> [UInt8] {
        var body = TPMWriter()
        for handle in handles { body.add(handle) }
        if hasPassword {
            body.add(UInt32(9))
            body.add(TPMHandle.password)
            body.add([0, 0, 1, 0, 0] as [UInt8])
        }
        body.add(parameters)
        var frame = TPMWriter()
        frame.add(UInt16(hasPassword ? 0x8002 : 0x8001))
        frame.add(UInt32(10 + body.bytes.count))
        frame.add(command)
        frame.add(body.bytes)
        return frame.bytes
    }
}
