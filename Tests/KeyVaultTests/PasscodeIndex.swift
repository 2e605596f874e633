// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
import LatchkeyKeys
import LatchkeyModel
import TPMProtocol
import Testing

@testable import TPMDriver

/// An index that counts wrong passcodes and is blocked at a limit (`TPM_NT_PIN_FAIL`), as one side builds its commands
/// and another side carries them. Only the key `reset` writes it and changes its value.
struct PasscodeIndex {
    static let limit: UInt32 = 20
    private static let reference = Array("passcode".utf8)

    let reset: PrivateKey
    private let resetArea: TPMPublicArea
    private let readBranch, writeBranch, changeBranch, change: PolicyDigest
    /// The public area before the first write.
    let unwritten: TPMIndexArea
    private let bus: TPMBus

    init(_ reset: PrivateKey, _ bus: TPMBus) throws {
        (self.reset, self.bus) = (reset, bus)
        resetArea = .authority(try #require(TPMPoint(reset.publicKey.externalRepresentation)))
        let name = try resetArea.name()
        readBranch = try PolicyDigest().command(.nvRead)
        writeBranch = try PolicyDigest().signed(by: name, reference: []).command(.nvWrite)
        // The policy of a change names the index in later versions, whose name contains this policy; a signature breaks
        // the circle.
        change = try PolicyDigest().signed(by: name, reference: []).command(.nvChangeAuthorization)
        changeBranch = try .authorized(by: name, reference: Self.reference)
        let policy = try PolicyDigest.any(of: [readBranch, writeBranch, changeBranch])
        // PIN_FAIL, POLICYWRITE, POLICYREAD, NO_DA.
        unwritten = TPMIndexArea(
            handle: TPMHandle(0x0181_4d00), attributes: TPMIndexAttributes(rawValue: 0x0208_0088), policy: policy.bytes,
            size: 8)
    }

    private func entity(isWritten: Bool) throws -> TPMEntity {
        var area = unwritten
        if isWritten { area.attributes.insert(.written) }
        return TPMEntity(area.handle, name: try area.name())
    }

    // MARK: - Writing and changing

    /// `TPM2_NV_Write` of count and limit, approved for exactly these numbers.
    func write(_ count: UInt32, isWritten: Bool, _ client: inout TPMClient) throws {
        let index = try entity(isWritten: isWritten)
        var parameters = TPMWriter()
        var contents = TPMWriter()
        contents.add(count)
        contents.add(Self.limit)
        try parameters.add(sized: contents.bytes)
        parameters.add(UInt16(0))
        var session = try client.startSession(.policy, salted: try client.storageRoot(named: nil))
        let digest = try CommandDigest.command(
            .nvWrite, names: [index.name, index.name], parameters: parameters.bytes)
        try approve(digest, .nvWrite, in: session, &client)
        try choose(session, &client)
        _ = try client.send(.nvWrite, [index, index], parameters.bytes, in: &session)
        try client.flush(session.handle)
    }

    /// `TPM2_NV_ChangeAuth` to a new value, which is encrypted on its way.
    ///
    /// A second session encrypts: the key of one that authorizes contains the present value, which the side that resets a
    /// forgotten passcode does not know.
    func change(to value: SecretBytes, _ client: inout TPMClient) throws {
        let index = try entity(isWritten: true)
        let root = try client.storageRoot(named: nil)
        var (policy, cipher) = (
            try client.startSession(.policy, salted: root), try client.startSession(.hmac, salted: root)
        )
        let (nonce, cipherNonce) = (try randomBytes(16), try randomBytes(16))
        // The approval covers the parameters as they are sent, so they are encrypted before it is signed.
        let hidden = try cipher.key.apply(.encrypt, to: value, newer: cipherNonce, older: cipher.nonce)
        var parameters = TPMWriter()
        try parameters.add(sized: hidden.copyBytes())
        let digest = try CommandDigest.command(
            .nvChangeAuthorization, names: [index.name], parameters: parameters.bytes)
        try approve(digest, .nvChangeAuthorization, in: policy, &client)
        try authorizeChange(policy, &client)
        try choose(policy, &client)
        // The first session also authenticates the nonce of the one that encrypts (Part 1, section 19.6.5).
        let authorizations = [
            TPMAuthorization(
                session: policy.handle, nonce: nonce,
                code: try policy.key.code(
                    digest, newer: nonce, older: policy.nonce + cipher.nonce,
                    attributes: TPMSessionAttributes.continues.rawValue)),
            try cipher.authorization(of: digest, nonce: cipherNonce, [.continues, .encryptsCommand]),
        ]
        let frame = try TPMFrame.encode(
            .nvChangeAuthorization, handles: [index.handle], authorizations, parameters: parameters.bytes)
        let response = try TPMResponse(decoding: try bus.carry(frame), to: .nvChangeAuthorization, authorizations)
        guard response.code == .success else { throw TPMError.refused(response.code, .nvChangeAuthorization) }
        let result = try CommandDigest.response(to: .nvChangeAuthorization, parameters: response.parameters)
        try policy.accept(response.authorizations[0], result, nonce: nonce, at: 0)
        try cipher.accept(response.authorizations[1], result, nonce: cipherNonce, at: 0)
        for session in [policy, cipher] { try client.flush(session.handle) }
    }

    // MARK: - The policy

    /// `TPM2_PolicySigned` by the reset key for one command in one session, and `TPM2_PolicyCommandCode`.
    private func approve(
        _ digest: [UInt8], _ command: TPMCommand, in session: TPMSession, _ client: inout TPMClient
    ) throws {
        let text = try ApprovalText(nonce: session.nonce, expirySeconds: 60, command: digest, reference: [])
        var parameters = TPMWriter()
        try parameters.add(sized: text.nonce)
        try parameters.add(sized: text.command)
        try parameters.add(sized: [])
        parameters.add(text.expirySeconds)
        try parameters.add(signatureOf: text.bytes, by: reset)
        let key = try client.loadExternal(resetArea)
        _ = try client.send(.policySigned, [key, TPMEntity(session.handle)], parameters.bytes)
        try client.flush(key.handle)
        var code = TPMWriter()
        code.add(command.rawValue)
        _ = try client.send(.policyCommandCode, [TPMEntity(session.handle)], code.bytes)
    }

    /// `TPM2_VerifySignature` of the policy for changes, and `TPM2_PolicyAuthorize` with its ticket.
    private func authorizeChange(_ session: TPMSession, _ client: inout TPMClient) throws {
        let signed = change.bytes + Self.reference
        var verification = TPMWriter()
        try verification.add(sized: DigestAlgorithm.sha256.hash(signed))
        try verification.add(signatureOf: signed, by: reset)
        let key = try client.loadExternal(resetArea)
        let ticket = try client.send(.verifySignature, [key], verification.bytes).parameters
        try client.flush(key.handle)
        var parameters = TPMWriter()
        for field in [change.bytes, Self.reference, try resetArea.name()] { try parameters.add(sized: field) }
        parameters.add(ticket)
        _ = try client.send(.policyAuthorize, [TPMEntity(session.handle)], parameters.bytes)
    }

    /// `TPM2_PolicyOR` of the three branches.
    private func choose(_ session: TPMSession, _ client: inout TPMClient) throws {
        var parameters = TPMWriter()
        parameters.add(UInt32(3))
        for branch in [readBranch, writeBranch, changeBranch] { try parameters.add(sized: branch.bytes) }
        _ = try client.send(.policyOR, [TPMEntity(session.handle)], parameters.bytes)
    }

    // MARK: - Trying a passcode

    /// `TPM2_PolicySecret`: throws unless the TPM says in an authentic response that the value is right.
    func check(_ value: SecretBytes, _ client: inout TPMClient) throws {
        let index = try entity(isWritten: true)
        let root = try client.storageRoot(named: nil)
        let policy = try client.startSession(.policy, salted: root)
        var session = try client.startSession(.hmac, salted: root)
        session.password = value
        var parameters = TPMWriter()
        // The nonce of the policy session; any command; no reference; 60 seconds.
        for field in [policy.nonce, [], []] { try parameters.add(sized: field) }
        parameters.add(Int32(60))
        let result = Result { () throws(TPMError) in
            try client.send(
                .policySecret, [index, TPMEntity(policy.handle)], parameters.bytes, in: &session)
        }
        try client.flush(session.handle)
        try client.flush(policy.handle)
        _ = try result.get()
    }
}

extension TPMWriter {
    /// Appends an ECDSA signature over the SHA-256 digest of a message (`TPMT_SIGNATURE`).
    fileprivate mutating func add(signatureOf message: [UInt8], by key: PrivateKey) throws {
        let scalar = key.externalRepresentation.withBytes { SecretBytes($0.suffix(32)) }
        let signature = try #require(PrivateScalar(scalar, curve: .p256))
            .sign(DigestAlgorithm.sha256.hash(message)).copyBytes()
        add(.ecdsa)
        add(.sha256)
        try add(sized: Array(signature[..<32]))
        try add(sized: Array(signature[32...]))
    }
}
