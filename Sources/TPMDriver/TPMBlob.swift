// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import TPMProtocol

/// A key of the TPM as it is stored (`docs/store-format.md`, section "An item"). Only the TPM that made it can decrypt
/// the private part, and only under the policy that is part of the key.
struct TPMBlob: Sendable {
    /// The name of the storage root key below which the key was made.
    let parent: [UInt8]
    let area: TPMPublicArea
    /// The private part, encrypted by the TPM.
    let privatePart: [UInt8]
    /// The authority whose approval each use needs, and the reference that the approval names.
    let binding: KeyBinding
    /// Whether each use needs the password of the key.
    let needsPassword: Bool
    /// What the TPM said about the creation, from which it can attest the key later: the digest of the creation data and
    /// the ticket (`TPMT_TK_CREATION`).
    let creationDigest, creationTicket: [UInt8]

    private static let version: UInt8 = 3

    init(
        parent: [UInt8], area: TPMPublicArea, privatePart: [UInt8], binding: KeyBinding, needsPassword: Bool,
        creationDigest: [UInt8], creationTicket: [UInt8]
    ) {
        (self.parent, self.area, self.privatePart) = (parent, area, privatePart)
        (self.binding, self.needsPassword) = (binding, needsPassword)
        (self.creationDigest, self.creationTicket) = (creationDigest, creationTicket)
    }

    /// Whether a blob is of this kind; it may still be malformed.
    static func isOne(_ blob: SecretBytes) -> Bool { blob.withBytes { $0.first == version } }

    /// Decodes a blob. Throws `internalFailure` unless it has exactly this form and its policy is the one that the
    /// other fields describe.
    init(_ blob: SecretBytes) throws(Failure) {
        do throws(Failure) {
            // Nothing in it is secret in clear: the TPM encrypted the private part.
            var reader = TPMReader(blob.copyBytes())
            try reader.expect(Self.version)
            let flags = try reader.uint8()
            guard flags & ~1 == 0 else { throw TPMReader.malformed }
            needsPassword = flags & 1 != 0
            parent = try reader.sized(limit: 34)
            area = try TPMPublicArea(decoding: try reader.sized(limit: 512))
            privatePart = try reader.sized(limit: 1024)
            let authority = try reader.sized(limit: 65)
            binding = KeyBinding(authority: authority, reference: try reader.sized(limit: 32))
            creationDigest = try reader.sized(limit: 32)
            creationTicket = try reader.sized(limit: 128)
            try reader.checkEnd()
            let policy = try Self.policy(binding, needsPassword: needsPassword)
            guard area.point != nil, area.hasForm(of: .enclaveKey(policy: policy.bytes)) else {
                throw TPMReader.malformed
            }
        } catch {
            throw Failure(.internalFailure, "The key was not made by a TPM, or it was changed.", cause: error)
        }
    }

    /// Encodes the blob.
    func encoded() throws(Failure) -> SecretBytes {
        var writer = TPMWriter()
        writer.add(Self.version)
        writer.add(needsPassword ? 1 : 0 as UInt8)
        for field in [
            parent, try area.encoded(), privatePart, binding.authority, binding.reference, creationDigest,
            creationTicket,
        ] {
            try writer.add(sized: field)
        }
        return SecretBytes(writer.bytes)
    }

    /// The policy of a key: the authority's approval of the command, and then the password of the key if it has one.
    static func policy(_ binding: KeyBinding, needsPassword: Bool) throws(Failure) -> PolicyDigest {
        try .enclaveKey(
            authority: authorityPoint(binding), reference: binding.reference, needsPassword: needsPassword)
    }

    /// The public area of the authority's key.
    static func authority(_ binding: KeyBinding) throws(Failure) -> TPMPublicArea {
        .authority(try authorityPoint(binding))
    }

    private static func authorityPoint(_ binding: KeyBinding) throws(Failure) -> TPMPoint {
        guard let point = TPMPoint(binding.authority) else {
            throw Failure(.internalFailure, "The key of the authority that approves is not a point on P-256.")
        }
        return point
    }
}
