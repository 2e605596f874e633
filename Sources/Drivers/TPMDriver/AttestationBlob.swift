// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import TPMProtocol

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

    private static let version: UInt8 = 4

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
