// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import TPMProtocol

// Sealing a secret and unsealing it. The secret is on the bus only encrypted, in sessions that only the TPM with the
// storage root key can take part in.

extension TPMClient {
    /// Runs a body with a new session of the storage root key, and removes the session.
    mutating func inSession<R>(
        _ type: TPMSessionType, of root: StorageRoot,
        _ body: (inout TPMClient, inout TPMSession) throws(TPMError) -> R
    ) throws(TPMError) -> R {
        var session = try startSession(type, salted: root)
        let result: R
        do throws(TPMError) {
            result = try body(&self, &session)
        } catch {
            // The first error says more. A session that cannot be removed now is removed with the connection.
            try? flush(session.handle)
            throw error
        }
        try flush(session.handle)
        return result
    }

    /// Seals a secret of at most 128 bytes below the storage root key (`TPM2_Create`).
    mutating func seal(
        _ secret: SecretBytes, below root: StorageRoot, policy: PolicyDigest?
    ) throws(TPMError) -> (area: TPMSealedArea, privatePart: [UInt8]) {
        let parameters = try failing { () throws(Failure) in
            try TPMCreation.parametersAfterSensitive(TPMSealedArea(policy: policy).encoded())
        }
        let response = try inSession(.hmac, of: root) { (client, session) throws(TPMError) in
            try client.send(
                .create, [root.entity], parameters, in: &session, secret: TPMCreation.sensitive(data: secret)
            ).response
        }
        return try failing { () throws(Failure) in
            var reader = TPMReader(response.parameters)
            let privatePart = try reader.sized(limit: 1024)
            let area = try TPMSealedArea(decoding: try reader.sized(limit: 128))
            guard area.policy == policy?.bytes ?? [] else { throw TPMReader.malformed }
            return (area, privatePart)
        }
    }

    mutating func unseal(_ sealed: SealedRootKey, below root: StorageRoot) throws(TPMError) -> SecretBytes {
        try unseal(sealed.privatePart, sealed.area, below: root) { (client, session) throws(TPMError) in
            try client.checkRegisters(.secureBoot, in: session)
        }
    }

    /// Returns a sealed secret (`TPM2_Unseal`).
    ///
    /// - Parameter fulfil: carries out the policy of the secret in a session; not called if it has none.
    mutating func unseal(
        _ privatePart: [UInt8], _ area: TPMSealedArea, below root: StorageRoot,
        _ fulfil: (inout TPMClient, TPMSession) throws(TPMError) -> Void
    ) throws(TPMError) -> SecretBytes {
        let encoded = try failing { () throws(Failure) in try area.encoded() }
        let object = try load(privatePart, publicArea: encoded, below: root)
        do throws(TPMError) {
            let isBound = !area.policy.isEmpty
            let secret = try inSession(isBound ? .policy : .hmac, of: root) { (client, session) throws(TPMError) in
                if isBound { try fulfil(&client, session) }
                return try client.send(.unseal, [object], [], in: &session, encryptsResponse: true).secret
            }
            try flush(object.handle)
            guard let secret else { throw TPMError.failed(TPMReader.malformed) }
            return secret
        } catch {
            // As with a session: the first error says more.
            try? flush(object.handle)
            throw error
        }
    }

    /// Adds the present values of PCRs to the policy of a session (`TPM2_PolicyPCR`).
    private mutating func checkRegisters(_ registers: TPMRegisters, in session: TPMSession) throws(TPMError) {
        let parameters = try failing { () throws(Failure) in
            var parameters = TPMWriter()
            // No expected digest: the TPM takes the present values, and the comparison is that of the policy.
            try parameters.add(sized: [])
            parameters.add(registers.encoded)
            return parameters.bytes
        }
        _ = try send(.policyPCR, [TPMEntity(session.handle)], parameters)
    }

    /// Returns the value of one PCR (`TPM2_PCR_Read`). The response is not authenticated: only a secret that is sealed
    /// under the value, and then unsealed, shows that it is right.
    mutating func register(_ register: TPMRegisters) throws(TPMError) -> [UInt8] {
        let response = try send(.pcrRead, [], register.encoded)
        return try failing { () throws(Failure) in
            var reader = TPMReader(response.parameters)
            _ = try reader.uint32()
            guard try reader.bytes(register.encoded.count) == register.encoded, try reader.uint32() == 1 else {
                throw Failure(
                    .vaultUnavailable, "The TPM does not measure the start of the machine with SHA-256.",
                    hint: "Turn on the SHA-256 bank of the PCRs in the firmware settings, or do not bind to PCR 7.")
            }
            let value = try reader.sized(limit: 64)
            try reader.checkEnd()
            return value
        }
    }
}
