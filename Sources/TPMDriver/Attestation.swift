// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import TPMProtocol

// The commands of an enrolment and of an attestation (docs/device-proof.md). Objects that they load are removed again:
// the memory of a TPM holds three.

extension TPMMemory {
    /// Makes an attestation key, and the request with which it is enrolled.
    mutating func newAttestationKey(_ client: inout TPMClient) throws(TPMError) -> AttestationKey {
        forgetKeys(&client)
        // The smaller key is preferred: it is made and used faster.
        var template = EndorsementKey.Template.p256
        var certificate: [UInt8]?
        for candidate in EndorsementKey.Template.allCases where certificate == nil {
            certificate = try client.endorsementCertificate(candidate)
            if certificate != nil { template = candidate }
        }
        let endorsement = try client.loadEndorsementKey(template)
        if !endorsement.isPersistent { try client.flush(endorsement.entity.handle) }
        let root = try storageRoot(nil, &client)
        let parameters = try failing { () throws(Failure) in
            var parameters = TPMWriter()
            // No password and no data; the template; no outside information; no selection of PCRs.
            try parameters.add(sized: [0, 0, 0, 0])
            try parameters.add(sized: TPMPublicArea.attestationKey.encoded())
            try parameters.add(sized: [])
            parameters.add(UInt32(0))
            return parameters.bytes
        }
        let response = try client.send(.create, [root.entity], parameters, emptyPassword: true)
        return try failing { () throws(Failure) in
            var reader = TPMReader(response.parameters)
            let privatePart = try reader.sized(limit: 1024)
            let encoded = try reader.sized(limit: EndorsementKey.areaBytes)
            let area = try TPMPublicArea(decoding: encoded)
            guard area.isAttestationKey else { throw TPMReader.malformed }
            let blob = AttestationBlob(
                parent: root.entity.name, area: area, privatePart: privatePart, endorsement: template)
            let request = EnrolmentRequest(
                endorsementKey: endorsement.key.encoded, certificates: certificate.map { [$0] } ?? [],
                attestationKey: encoded)
            return AttestationKey(blob: try blob.encoded(), request: try request.encoded())
        }
    }

    /// Decrypts the secret of a challenge (`TPM2_ActivateCredential`).
    mutating func answer(
        _ challenge: EnrolmentChallenge, by key: AttestationBlob, _ client: inout TPMClient
    ) throws(TPMError) -> [UInt8] {
        let parameters = try failing { () throws(Failure) in
            var parameters = TPMWriter()
            try parameters.add(sized: challenge.credential)
            try parameters.add(sized: challenge.seed)
            return parameters.bytes
        }
        return try withLoaded(key, &client) { (attestationKey, client) throws(TPMError) in
            let endorsement = try client.loadEndorsementKey(key.endorsement)
            // What cannot be removed now is removed with the connection.
            defer { if !endorsement.isPersistent { try? client.flush(endorsement.entity.handle) } }
            let session = try client.startEndorsementSession()
            // As above.
            defer { try? client.flush(session) }
            do throws(TPMError) {
                let response = try client.send(
                    .activateCredential, [attestationKey, endorsement.entity], parameters,
                    [.emptyPassword, TPMAuthorization(session: session)])
                return try failing { () throws(Failure) in
                    var reader = TPMReader(response.parameters)
                    let secret = try reader.sized(limit: 64)
                    try reader.checkEnd()
                    return try EnrolmentAnswer(secret: secret).encoded()
                }
            } catch {
                switch error.kind {
                case .integrity, .value, .size, .pointNotOnCurve, .insufficient:
                    throw .failed(
                        Failure(
                            .itemAuthenticationFailed,
                            "The challenge was made for another device or another attestation key.",
                            hint: "Enrol the device with the relying party again.", cause: error))
                default: throw error
                }
            }
        }
    }

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
                authority: key.binding.authority, reference: key.binding.reference, needsPassword: key.needsPassword
            ).encoded()
        }
    }

    /// Loads an attestation key for the duration of a body.
    private mutating func withLoaded<R>(
        _ key: AttestationBlob, _ client: inout TPMClient,
        _ body: (TPMEntity, inout TPMClient) throws(TPMError) -> R
    ) throws(TPMError) -> R {
        forgetKeys(&client)
        let root = try storageRoot(key.parent, &client)
        let loaded: TPMEntity
        do throws(TPMError) {
            loaded = try client.load(key.privatePart, key.area, below: root)
        } catch {
            switch error.kind {
            case .integrity, .size:
                throw .failed(
                    Failure(
                        .invalidParameter, "The private part of the attestation key was changed.",
                        hint: "Enrol the device with the relying party again.", cause: error))
            default: throw error
            }
        }
        // What cannot be removed now is removed with the connection.
        defer { try? client.flush(loaded.handle) }
        return try body(loaded, &client)
    }
}

extension EnrolmentChallenge {
    /// Decodes the challenge of a relying party; throws `invalidParameter` for a malformed one.
    init(received bytes: [UInt8]) throws(Failure) {
        do throws(Failure) {
            self = try EnrolmentChallenge(decoding: bytes)
        } catch {
            throw Failure(
                .invalidParameter, "The challenge of the relying party does not follow docs/device-proof.md.",
                hint: "Install the same version of Latchkey and of the relying party.")
        }
    }
}

extension TPMReader {
    /// Reads an ECDSA signature with SHA-256 (`TPMT_SIGNATURE`) as r and s, 32 bytes each.
    mutating func rawSignature() throws(Failure) -> [UInt8] {
        try expect(TPMAlgorithm.ecdsa.rawValue)
        try expect(TPMAlgorithm.sha256.rawValue)
        let numbers = [try sized(limit: 32), try sized(limit: 32)]
        return numbers.flatMap { [UInt8](repeating: 0, count: 32 - $0.count) + $0 }
    }
}
