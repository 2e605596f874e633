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

/// A TPM as one thread uses it at a time: sends commands with their authorizations, and checks the responses that a
/// session authenticates.
///
/// The bus between processor and TPM can be read and changed. So secrets are sent under the encryption of a session,
/// and a response whose code does not verify is an error and never a result. The layers below are `TPMConnection`,
/// which sends frames again that the TPM did not begin, and `TPMProtocol`, which encodes them.
///
/// It is a value that `TPMChip` locks; it has no lock of its own.
struct TPMClient: Sendable {
    private var connection: TPMConnection
    let random: any RandomSource
    let clock: any Clock
    /// The password of the owner hierarchy; nil for the empty one.
    let ownerPassword: SecretBytes?
    /// Changes with each connection; handles of another one are not valid.
    var generation: UInt64 { connection.generation }
    /// What is cached in the TPM for later commands; nothing on a new connection.
    var held: TPMHeld {
        get { connection.held }
        set { connection.held = newValue }
    }

    /// A client with a connection of its own to the same place.
    func another(at place: any TPMConnecting) -> TPMClient { TPMClient(place, clock: clock, random: random) }

    init(_ place: any TPMConnecting, clock: any Clock, random: any RandomSource, ownerPassword: SecretBytes? = nil) {
        self.ownerPassword = ownerPassword
        connection = TPMConnection(place)
        (self.clock, self.random) = (clock, random)
    }

    /// Sends a command without authorization, or with the empty password.
    mutating func send(
        _ command: TPMCommand, _ entities: [TPMEntity] = [], _ parameters: [UInt8] = [], emptyPassword: Bool = false
    ) throws(TPMError) -> TPMResponse {
        try connection.exchange(command, entities, emptyPassword ? [.emptyPassword] : [], parameters)
    }

    /// Sends a command with one authorization for each of its handles that needs one. The response is not authenticated.
    mutating func send(
        _ command: TPMCommand, _ entities: [TPMEntity], _ parameters: [UInt8], _ authorizations: [TPMAuthorization]
    ) throws(TPMError) -> TPMResponse {
        try connection.exchange(command, entities, authorizations, parameters)
    }

    /// Sends a command that a session authorizes, and checks the response.
    ///
    /// - Parameters:
    ///   - secret: the first parameter, a sized buffer that is encrypted on its way; nil for none. `parameters` follow.
    ///   - encryptsResponse: whether the TPM encrypts the first parameter of the response.
    ///   - endsSession: whether the TPM removes the session with this command, unless it refuses the command.
    /// - Returns: the response, and its first parameter after decryption if `encryptsResponse`.
    mutating func send(
        _ command: TPMCommand, _ entities: [TPMEntity], _ parameters: [UInt8], in session: inout TPMSession,
        secret: SecretBytes? = nil, encryptsResponse: Bool = false, endsSession: Bool = false
    ) throws(TPMError) -> (response: TPMResponse, secret: SecretBytes?) {
        var attributes: TPMSessionAttributes = endsSession ? [] : .continues
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
        let response = try connection.exchange(command, entities, [authorization], body)
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

    /// Sends a command that was built elsewhere, and returns the response as it is.
    ///
    /// - Parameter session: a session of a begun use that the command names; nil for none.
    mutating func carry(_ frame: [UInt8], naming session: TPMHandle?) throws(TPMError) -> [UInt8] {
        try connection.carry(frame, naming: session)
    }

    /// Whether everything that uses the TPM shares the connection of this client; opens it if necessary.
    mutating func isExclusive() throws(TPMError) -> Bool { try connection.isExclusive() }

    /// Ends the connection if it has carried commands, with everything that they left in the TPM.
    mutating func endCarrying() { connection.endCarrying() }

    mutating func disconnect() { connection.disconnect() }
}
