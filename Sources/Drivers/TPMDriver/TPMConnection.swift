// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import TPMProtocol

/// The connection to a TPM, which is opened when it is needed.
///
/// A response that does not arrive, or that cannot be read, ends the connection, because the next response could be the
/// one that is missing. The next command opens another one; objects and sessions of the old one are forgotten, and the
/// kernel removes them from the device.
struct TPMConnection: Sendable {
    private let place: any TPMConnecting
    private var transport: (any TPMTransport)?
    /// Changes with each connection; handles of another one are not valid.
    private(set) var generation: UInt64 = 0
    /// What is cached in the TPM for later commands.
    var held = TPMHeld()
    /// Whether this connection has carried commands of another process.
    private var hasCarried = false

    /// How often a command is sent again that the TPM did not begin; with the pauses about three seconds.
    private static let retries = 36

    init(_ place: any TPMConnecting) { self.place = place }

    /// Sends a command and returns its response; throws if the TPM refused it. If the TPM has no room for the command, it is
    /// sent once more without what is cached for later ones.
    mutating func exchange(
        _ command: TPMCommand, _ entities: [TPMEntity], _ authorizations: [TPMAuthorization], _ parameters: [UInt8]
    ) throws(TPMError) -> TPMResponse {
        let response: TPMResponse
        do throws(Failure) {
            let frame = try TPMFrame.encode(
                command, handles: entities.map(\.handle), authorizations, parameters: parameters)
            let first = try answer(to: frame, command, authorizations)
            let named = entities.map(\.handle) + authorizations.map(\.session)
            response =
                try makeRoom(after: first.code, besides: named)
                ? answer(to: frame, command, authorizations) : first
        } catch {
            disconnect()
            throw .failed(error)
        }
        guard response.code == .success else { throw .refused(response.code, command) }
        return response
    }

    /// Sends a command that was built elsewhere, and returns the response as it is. Only if the TPM has no room for the
    /// command, and did nothing, it is sent once more without what is cached for later ones.
    ///
    /// - Parameter session: a session of a begun use that the command names; nil for none.
    mutating func carry(_ frame: [UInt8], naming session: TPMHandle?) throws(TPMError) -> [UInt8] {
        do throws(Failure) {
            let connection = try connected()
            hasCarried = true
            let first = try connection.exchange(frame)
            let code = try TPMFrame.code(ofResponse: first)
            guard try makeRoom(after: code, besides: [session].compactMap(\.self)) else { return first }
            return try connection.exchange(frame)
        } catch {
            disconnect()
            throw .failed(error)
        }
    }

    /// Whether everything that uses the TPM shares this connection; opens it if necessary.
    mutating func isExclusive() throws(TPMError) -> Bool {
        do throws(Failure) { return try connected().isExclusive } catch { throw .failed(error) }
    }

    /// Ends the connection if it has carried commands, with everything that they left in the TPM.
    mutating func endCarrying() { if hasCarried { disconnect() } }

    mutating func disconnect() {
        (transport, hasCarried, held) = (nil, false, TPMHeld())
        generation += 1
    }

    // MARK: - Room

    /// Removes what is cached in the memory that a response says is full; sessions of begun uses are saved outside the
    /// TPM.
    ///
    /// The TPM reports full memory before it does anything else of a command, and no nonce of a session has changed, so the
    /// same bytes are valid once more.
    ///
    /// - Parameter named: what the command names, which stays.
    /// - Returns: whether there is more room than before.
    private mutating func makeRoom(after code: TPMResponseCode, besides named: [TPMHandle]) throws(Failure) -> Bool {
        var hasMore = false
        if code.isObjectMemoryFull {
            for place in [\TPMHeld.key, \TPMHeld.authority] {
                guard let object = held[keyPath: place], !named.contains(object.handle) else { continue }
                held[keyPath: place] = nil
                try flush(object.handle)
                hasMore = true
            }
        }
        if code.isSessionMemoryFull {
            if let session = held.idle, !named.contains(session.handle) {
                held.idle = nil
                try flush(session.handle)
                hasMore = true
            }
            for (use, begun) in held.begun where begun.context == nil && !named.contains(begun.session.handle) {
                let frame = try TPMFrame.encode(.contextSave, handles: [begun.session.handle], [], parameters: [])
                let response = try answer(to: frame, .contextSave, [])
                if response.code == .success {
                    held.begun[use]?.context = response.parameters
                    hasMore = true
                } else if response.code.isGone {
                    // Its use fails when it is finished.
                    held.begun[use] = nil
                }
            }
        }
        return hasMore
    }

    /// Removes an object or a session. If the TPM refuses that, another program has removed it, or it is removed with the
    /// connection.
    private mutating func flush(_ handle: TPMHandle) throws(Failure) {
        var parameters = TPMWriter()
        parameters.add(handle)
        let frame = try TPMFrame.encode(.flushContext, handles: [], [], parameters: parameters.bytes)
        _ = try answer(to: frame, .flushContext, [])
    }

    private mutating func connected() throws(Failure) -> any TPMTransport {
        if let transport { return transport }
        let opened = try place.connect()
        transport = opened
        if opened.isExclusive { try removeRemains(opened) }
        return opened
    }

    /// Removes the objects and sessions that an earlier connection left in the TPM.
    private func removeRemains(_ connection: any TPMTransport) throws(Failure) {
        // Objects, loaded and saved sessions.
        for kind in [0x8000_0000, 0x0200_0000, 0x0300_0000] as [UInt32] {
            var question = TPMWriter()
            // TPM_CAP_HANDLES.
            for number in [1, kind, 254] { question.add(number) }
            let frame = try TPMFrame.encode(.getCapability, handles: [], [], parameters: question.bytes)
            let response = try TPMResponse(decoding: connection.exchange(frame), to: .getCapability, [])
            guard response.code == .success else { continue }
            var reader = TPMReader(response.parameters)
            _ = try reader.bytes(5)
            for _ in 0..<(try reader.uint32()) {
                var handle = TPMWriter()
                handle.add(try reader.uint32())
                // One that cannot be removed takes room, and no more.
                _ = try connection.exchange(TPMFrame.encode(.flushContext, handles: [], [], parameters: handle.bytes))
            }
        }
    }

    /// Removes what a command has made whose response cannot be read: its handle is known here only, and a process that
    /// carries the commands does not end its connection with this one.
    private func removeMade(by command: TPMCommand, _ response: [UInt8], _ connection: any TPMTransport) {
        let begin = TPMFrame.headerBytes
        guard command.returnsHandle, response.count >= begin + 4 else { return }
        let parameters = Array(response[begin..<begin + 4])
        // The connection ends whatever the answer is.
        _ = try? connection.exchange(TPMFrame.encode(.flushContext, handles: [], [], parameters: parameters))
    }

    /// Sends a command until the TPM begins it.
    private mutating func answer(
        to frame: [UInt8], _ command: TPMCommand, _ authorizations: [TPMAuthorization]
    ) throws(Failure) -> TPMResponse {
        var retry = 0
        while true {
            let connection = try connected()
            let bytes = try connection.exchange(frame)
            let response: TPMResponse
            do throws(Failure) {
                response = try TPMResponse(decoding: bytes, to: command, authorizations)
            } catch {
                removeMade(by: command, bytes, connection)
                throw error
            }
            guard response.code.isRetry, retry < Self.retries else { return response }
            // 1, 2, 4 ... 64, 100, 100 ... milliseconds.
            connection.pause(milliseconds: min(1 << min(retry, 7), 100))
            retry += 1
        }
    }
}
