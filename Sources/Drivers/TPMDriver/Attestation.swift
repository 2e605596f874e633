// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import TPMProtocol

// The commands of an attestation (docs/reference/device-proof.md, step 2), and the use of an attestation key. Objects
// that they load are removed again: the memory of a TPM holds three.

extension TPMMemory {
    /// Has the attestation key sign what the TPM states about the creation of a key (`TPM2_CertifyCreation`).
    mutating func attest(
        _ key: TPMBlob, by attestationKey: AttestationBlob, nonce: [UInt8], _ client: inout TPMClient
    ) throws(TPMError) -> [UInt8] {
        let parameters = try failing { () throws(Failure) in
            var parameters = TPMWriter()
            try parameters.add(sized: nonce)
            try parameters.add(sized: key.creationDigest)
            // The scheme of the attestation key.
            parameters.add(TPMAlgorithm.none)
            parameters.add(key.creationTicket)
            return parameters.bytes
        }
        let response = try withLoaded(attestationKey, &client) { (signer, client) throws(TPMError) in
            let root = try client.storageRoot(named: key.parent)
            let loaded = try client.load(key.privatePart, key.area, below: root)
            // What cannot be removed now is removed with the connection.
            defer { try? client.flush(loaded.handle) }
            return try client.send(.certifyCreation, [signer, loaded], parameters, emptyPassword: true)
        }
        return try failing { () throws(Failure) in
            var reader = TPMReader(response.parameters)
            let statement = try reader.sized(limit: 512)
            let signature = try reader.rawSignature()
            try reader.checkEnd()
            return try KeyProof(
                key: try key.area.encoded(), statement: statement, signature: signature,
                authority: key.binding.authority, reference: key.binding.reference, passcode: key.binding.passcode,
                needsPassword: key.needsPassword
            ).encoded()
        }
    }

    /// Loads an attestation key for the duration of a body.
    mutating func withLoaded<R>(
        _ key: AttestationBlob, _ client: inout TPMClient,
        _ body: (TPMEntity, inout TPMClient) throws(TPMError) -> R
    ) throws(TPMError) -> R {
        forgetKeys(&client)
        let loaded: TPMEntity
        do throws(TPMError) {
            loaded = try withRoot(key.parent, &client) { (root, client) throws(TPMError) in
                try client.load(key.privatePart, key.area, below: root)
            }
        } catch {
            switch error.kind {
            case .integrity, .size:
                throw .failed(
                    Failure(
                        .invalidParameter, "The private part of the attestation key was changed.",
                        hint: "Enroll the device with the relying party again.", cause: error))
            default: throw error
            }
        }
        // What cannot be removed now is removed with the connection.
        defer { try? client.flush(loaded.handle) }
        return try body(loaded, &client)
    }
}
