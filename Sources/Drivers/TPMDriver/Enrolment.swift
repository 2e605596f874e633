// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import TPMProtocol

// The commands of an enrolment (docs/reference/device-proof.md, step 1).

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
        let publicArea = try failing { () throws(Failure) in try TPMPublicArea.attestationKey.encoded() }
        let parameters = try TPMCreation.parameters(publicArea)
        let (response, parent) = try withRoot(nil, &client) { (root, client) throws(TPMError) in
            (try client.send(.create, [root.entity], parameters, emptyPassword: true), root.entity.name)
        }
        return try failing { () throws(Failure) in
            var reader = TPMReader(response.parameters)
            let privatePart = try reader.sized(limit: 1024)
            let encoded = try reader.sized(limit: EndorsementKey.areaBytes)
            let area = try TPMPublicArea(decoding: encoded)
            guard area.point != nil, area.hasForm(of: .attestationKey) else { throw TPMReader.malformed }
            let blob = AttestationBlob(parent: parent, area: area, privatePart: privatePart, endorsement: template)
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
                            hint: "Enroll the device with the relying party again.", cause: error))
                default: throw error
                }
            }
        }
    }
}

extension EnrolmentChallenge {
    /// Decodes the challenge of a relying party; throws `invalidParameter` for a malformed one.
    init(received bytes: [UInt8]) throws(Failure) {
        do throws(Failure) {
            self = try EnrolmentChallenge(decoding: bytes)
        } catch {
            throw Failure(
                .invalidParameter, "The challenge of the relying party does not follow docs/reference/device-proof.md.",
                hint: "Install the same version of Latchkey and of the relying party.")
        }
    }
}
