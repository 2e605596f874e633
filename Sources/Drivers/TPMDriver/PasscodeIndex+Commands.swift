// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import TPMProtocol

// The commands of an index. Each is authenticated in a session that is salted for the storage root key, and so is each
// response: the process that carries them can only refuse them.

extension TPMClient {
    /// Writes the counts (`TPM2_NV_Write`), approved by the reset key for these counts.
    mutating func write(
        _ count: PasscodeCount, to index: PasscodeIndex, isWritten: Bool = true, by reset: ApprovalSigner,
        in root: StorageRoot
    ) throws(TPMError) {
        let (entity, parameters) = try failing { () throws(Failure) in
            var parameters = TPMWriter()
            try parameters.add(sized: count.bytes)
            // From the first byte.
            parameters.add(UInt16(0))
            return (try index.entity(isWritten: isWritten), parameters.bytes)
        }
        let digest = try failing { () throws(Failure) in
            try CommandDigest.command(.nvWrite, names: [entity.name, entity.name], parameters: parameters)
        }
        _ = try inSession(.policy, of: root) { (client, session) throws(TPMError) in
            try client.approve(.nvWrite, digest, of: index, by: reset, in: session)
            return try client.send(.nvWrite, [entity, entity], parameters, in: &session).response
        }
    }

    /// Changes the value (`TPM2_NV_ChangeAuth`), approved by the reset key for this value, which is encrypted on its way.
    ///
    /// A second session encrypts: the key of one that authorizes would contain the present value, which a reset after a
    /// forgotten passcode does not know.
    mutating func change(
        _ index: PasscodeIndex, to value: SecretBytes, by reset: ApprovalSigner, in root: StorageRoot
    ) throws(TPMError) {
        let entity = try failing { () throws(Failure) in try index.entity() }
        try inSession(.policy, of: root) { (client, policy) throws(TPMError) in
            try client.inSession(.hmac, of: root) { (client, cipher) throws(TPMError) in
                try client.change(index, entity, to: value, by: reset, &policy, &cipher)
            }
        }
    }

    private mutating func change(
        _ index: PasscodeIndex, _ entity: TPMEntity, to value: SecretBytes, by reset: ApprovalSigner,
        _ policy: inout TPMSession, _ cipher: inout TPMSession
    ) throws(TPMError) {
        let (random, hiding) = (random, cipher)
        // The approval is for the parameters as they are sent, so they are encrypted first.
        let (nonces, parameters, digest) = try failing { () throws(Failure) in
            let nonces = (
                policy: try random.bytes(TPMSession.nonceBytes).copyBytes(),
                cipher: try random.bytes(TPMSession.nonceBytes).copyBytes()
            )
            let hidden = try hiding.key.apply(.encrypt, to: value, newer: nonces.cipher, older: hiding.nonce)
            var parameters = TPMWriter()
            try parameters.add(sized: hidden.copyBytes())
            let digest = try CommandDigest.command(
                .nvChangeAuthorization, names: [entity.name], parameters: parameters.bytes)
            return (nonces, parameters.bytes, digest)
        }
        try approve(.nvChangeAuthorization, digest, of: index, by: reset, in: policy)
        let approved = policy
        let authorizations = try failing { () throws(Failure) in
            // The first session also authenticates the nonce of the one that encrypts (Part 1, section 19.6.5).
            let code = try approved.key.code(
                digest, newer: nonces.policy, older: approved.nonce + hiding.nonce,
                attributes: TPMSessionAttributes.continues.rawValue)
            return [
                TPMAuthorization(session: approved.handle, nonce: nonces.policy, attributes: .continues, code: code),
                try hiding.authorization(of: digest, nonce: nonces.cipher, [.continues, .encryptsCommand]),
            ]
        }
        let response = try send(.nvChangeAuthorization, [entity], parameters, authorizations)
        do throws(Failure) {
            guard response.authorizations.count == 2 else { throw TPMReader.malformed }
            let result = try CommandDigest.response(to: .nvChangeAuthorization, parameters: response.parameters)
            let time = clock.uptime
            try policy.accept(response.authorizations[0], result, nonce: nonces.policy, at: time)
            try cipher.accept(response.authorizations[1], result, nonce: nonces.cipher, at: time)
        } catch {
            disconnect()
            throw .failed(error)
        }
    }

    /// Reads the counts (`TPM2_NV_Read`).
    mutating func count(of index: PasscodeIndex, in root: StorageRoot) throws(TPMError) -> PasscodeCount {
        let entity = try failing { () throws(Failure) in try index.entity() }
        var parameters = TPMWriter()
        parameters.add(index.area.size)
        // From the first byte.
        parameters.add(UInt16(0))
        let response = try inSession(.policy, of: root) { (client, session) throws(TPMError) in
            try client.permit(.nvRead, of: index, in: session)
            return try client.send(.nvRead, [entity, entity], parameters.bytes, in: &session).response
        }
        return try failing { () throws(Failure) in
            var reader = TPMReader(response.parameters)
            let bytes = try reader.sized(limit: 8)
            try reader.checkEnd()
            return try PasscodeCount(decoding: bytes)
        }
    }

    /// Adds the proof of the value to the policy of a session (`TPM2_PolicySecret`). Throws unless the TPM says in an
    /// authentic response that the value is right.
    ///
    /// - Parameter session: a new session of the storage root key. It ends with the command, or is removed if that fails.
    mutating func prove(
        _ value: SecretBytes, of index: PasscodeIndex, _ proof: KeyPasscodeProof, in session: TPMSession
    ) throws(TPMError) {
        var session = session
        session.password = value
        do throws(TPMError) {
            let (entity, parameters) = try failing { () throws(Failure) in
                var parameters = TPMWriter()
                for field in [proof.nonce, proof.command, proof.reference] { try parameters.add(sized: field) }
                parameters.add(proof.expirySeconds)
                return (try index.entity(), parameters.bytes)
            }
            _ = try send(
                .policySecret, [entity, TPMEntity(TPMHandle(proof.session))], parameters, in: &session,
                endsSession: true)
        } catch {
            // The first error says more. A session that cannot be removed now is removed with the connection.
            try? flush(session.handle)
            throw error
        }
    }

    /// Seconds for which a proof or an approval is valid, counted from the nonce of the session.
    static let proofSeconds: Int32 = 60

    // MARK: - The policy of the index

    /// Adds the approval of one command by the reset key to the policy of a session.
    private mutating func approve(
        _ command: TPMCommand, _ digest: [UInt8], of index: PasscodeIndex, by reset: ApprovalSigner,
        in session: TPMSession
    ) throws(TPMError) {
        let parameters = try failing { () throws(Failure) in
            let text = try ApprovalText(
                nonce: session.nonce, expirySeconds: Self.proofSeconds, command: digest, reference: [])
            var parameters = TPMWriter()
            try parameters.add(sized: text.nonce)
            try parameters.add(sized: text.command)
            try parameters.add(sized: text.reference)
            parameters.add(text.expirySeconds)
            try parameters.add(signature: reset.sign(text))
            return parameters.bytes
        }
        let key = try loadExternal(index.resetKey)
        let result = Result { () throws(TPMError) in
            try send(.policySigned, [key, TPMEntity(session.handle)], parameters)
        }
        try flush(key.handle)
        _ = try result.get()
        try permit(command, of: index, in: session)
    }

    /// Restricts a session to one command, and chooses the branch of the policy for it.
    private mutating func permit(
        _ command: TPMCommand, of index: PasscodeIndex, in session: TPMSession
    ) throws(TPMError) {
        var code = TPMWriter()
        code.add(command.rawValue)
        _ = try send(.policyCommandCode, [TPMEntity(session.handle)], code.bytes)
        let choice = try failing { () throws(Failure) in try index.choice() }
        _ = try send(.policyOR, [TPMEntity(session.handle)], choice)
    }
}
