// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
import LatchkeyModel
import LatchkeySeams
import TPMProtocol

/// An object or a hierarchy, as commands refer to it.
struct TPMEntity: Sendable {
    let handle: TPMHandle
    /// The name that digests of commands contain.
    let name: [UInt8]

    init(_ handle: TPMHandle, name: [UInt8]) { (self.handle, self.name) = (handle, name) }

    /// A hierarchy, a session or no object: its name is its handle.
    init(_ handle: TPMHandle) { self.init(handle, name: TPMName.of(handle)) }
}

/// A TPM as one thread uses it at a time: the connection, and the objects and sessions that it holds on the device.
///
/// A response that does not arrive, or that cannot be read, ends the connection, because the next response could be the
/// one that is missing. The next command opens another one; objects and sessions of the old one are forgotten, and the
/// kernel removes them from the device.
struct TPMClient: Sendable {
    private let place: any TPMConnecting
    private var transport: (any TPMTransport)?
    let random: any RandomSource
    let clock: any Clock
    /// Changes with each connection; handles of another one are not valid.
    private(set) var generation: UInt64 = 0
    /// Commands sent, for measurements.
    private(set) var commands: UInt64 = 0

    /// How often a command is sent again that the TPM did not begin; with the pauses about three seconds.
    private static let retries = 36

    init(_ place: any TPMConnecting, clock: any Clock, random: any RandomSource) {
        (self.place, self.clock, self.random) = (place, clock, random)
    }

    /// Sends a command without authorization, or with the empty password.
    mutating func send(
        _ command: TPMCommand, _ entities: [TPMEntity] = [], _ parameters: [UInt8] = [], emptyPassword: Bool = false
    ) throws(TPMError) -> TPMResponse {
        try exchange(command, entities, emptyPassword ? [.emptyPassword] : [], parameters)
    }

    /// Sends a command with one authorization for each of its handles that needs one. The response is not authenticated.
    mutating func send(
        _ command: TPMCommand, _ entities: [TPMEntity], _ parameters: [UInt8], _ authorizations: [TPMAuthorization]
    ) throws(TPMError) -> TPMResponse {
        try exchange(command, entities, authorizations, parameters)
    }

    /// Sends a command that a session authorizes, and checks the response.
    ///
    /// - Parameters:
    ///   - secret: the first parameter, a sized buffer that is encrypted on its way; nil for none. `parameters` follow.
    ///   - encryptsResponse: whether the TPM encrypts the first parameter of the response.
    /// - Returns: the response; its first parameter is still encrypted, see `secret(of:_:_:)`.
    mutating func send(
        _ command: TPMCommand, _ entities: [TPMEntity], _ parameters: [UInt8], in session: inout TPMSession,
        secret: SecretBytes? = nil, encryptsResponse: Bool = false
    ) throws(TPMError) -> (response: TPMResponse, secret: SecretBytes?) {
        var attributes: TPMSessionAttributes = .continues
        if secret != nil { attributes.insert(.encryptsCommand) }
        if encryptsResponse { attributes.insert(.encryptsResponse) }
        let caller = try failing { () throws(Failure) in try random.bytes(TPMSession.nonceBytes).copyBytes() }
        let current = session
        let (authorization, body) = try failing { () throws(Failure) in
            var body = parameters
            if let secret {
                let hidden = try current.key.apply(
                    .encrypt, to: secret, newer: caller, older: current.nonce, authorization: current.password)
                var first = TPMWriter()
                try first.add(sized: hidden.copyBytes())
                body = first.bytes + parameters
            }
            let digest = try CommandDigest.command(command, names: entities.map(\.name), parameters: body)
            return (try current.authorization(of: digest, nonce: caller, attributes), body)
        }
        let response = try exchange(command, entities, [authorization], body)
        do throws(Failure) {
            guard let answer = response.authorizations.first else { throw TPMReader.malformed }
            try session.accept(
                answer, CommandDigest.response(to: command, parameters: response.parameters), nonce: caller,
                at: clock.uptime)
            guard encryptsResponse else { return (response, nil) }
            var reader = TPMReader(response.parameters)
            let hidden = SecretBytes(try reader.sized(limit: TPMFrame.responseLimit))
            return (
                response,
                try session.key.apply(
                    .decrypt, to: hidden, newer: session.nonce, older: caller, authorization: session.password)
            )
        } catch {
            disconnect()
            throw .failed(error)
        }
    }

    /// Ends the connection.
    mutating func disconnect() {
        transport = nil
        generation += 1
    }

    private mutating func exchange(
        _ command: TPMCommand, _ entities: [TPMEntity], _ authorizations: [TPMAuthorization], _ parameters: [UInt8]
    ) throws(TPMError) -> TPMResponse {
        let response: TPMResponse
        do throws(Failure) {
            let frame = try TPMFrame.encode(
                command, handles: entities.map(\.handle), authorizations, parameters: parameters)
            response = try answer(to: frame, command, authorizations)
        } catch {
            disconnect()
            throw .failed(error)
        }
        guard response.code == .success else { throw .refused(response.code, command) }
        return response
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
                _ = try connection.exchange(
                    TPMFrame.encode(.flushContext, handles: [], [], parameters: handle.bytes))
            }
        }
    }

    /// Sends a command until the TPM begins it.
    private mutating func answer(
        to frame: [UInt8], _ command: TPMCommand, _ authorizations: [TPMAuthorization]
    ) throws(Failure) -> TPMResponse {
        var retry = 0
        while true {
            let connection = try connected()
            commands += 1
            let response = try TPMResponse(decoding: connection.exchange(frame), to: command, authorizations)
            guard response.code.isRetry, retry < Self.retries else { return response }
            // 1, 2, 4 ... 64, 100, 100 ... milliseconds.
            connection.pause(milliseconds: min(1 << min(retry, 7), 100))
            retry += 1
        }
    }
}
