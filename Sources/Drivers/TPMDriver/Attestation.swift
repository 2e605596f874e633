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

/// An attestation key as its caller stores it. Nothing in it is secret: the TPM encrypted the private part, and signs
/// with it only what it states about itself.
struct AttestationBlob: Sendable {
    /// The name of the storage root key below which the key was made.
    let parent: [UInt8]
    let area: TPMPublicArea
    /// The private part, encrypted by the TPM.
    let privatePart: [UInt8]
    /// The endorsement key of the request that was made together with the key.
    let endorsement: EndorsementKey.Template

    private static let version: UInt8 = 1

    init(parent: [UInt8], area: TPMPublicArea, privatePart: [UInt8], endorsement: EndorsementKey.Template) {
        (self.parent, self.area, self.privatePart, self.endorsement) = (parent, area, privatePart, endorsement)
    }

    /// Decodes a blob. Throws `invalidParameter` unless it has exactly this form.
    init(_ blob: SecretBytes) throws(Failure) {
        do throws(Failure) {
            var reader = TPMReader(blob.copyBytes())
            try reader.expect(Self.version)
            let number = try reader.uint8()
            guard let template = EndorsementKey.Template.allCases.first(where: { $0.number == number }) else {
                throw TPMReader.malformed
            }
            endorsement = template
            parent = try reader.sized(limit: 34)
            area = try TPMPublicArea(decoding: try reader.sized(limit: EndorsementKey.areaBytes))
            privatePart = try reader.sized(limit: 1024)
            try reader.checkEnd()
            guard area.point != nil, area.hasForm(of: .attestationKey) else { throw TPMReader.malformed }
        } catch {
            throw Failure(
                .invalidParameter, "The attestation key was not made by a TPM, or it was changed.",
                hint: "Enroll the device with the relying party again.", cause: error)
        }
    }

    func encoded() throws(Failure) -> SecretBytes {
        var writer = TPMWriter()
        writer.add(Self.version)
        writer.add(endorsement.number)
        for field in [parent, try area.encoded(), privatePart] { try writer.add(sized: field) }
        return SecretBytes(writer.bytes)
    }
}

extension EndorsementKey.Template {
    fileprivate var number: UInt8 {
        switch self {
        case .p256: 1
        case .rsa2048: 2
        }
    }
}
