// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import TPMProtocol

/// A key of the TPM as it is stored (`docs/reference/store-format.md`, section "An item"). Only the TPM that made it
/// can decrypt the private part, and only under the policy that is part of the key.
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

    /// The version of a key that relies on the authority for the passcode, and of one that demands it of the TPM.
    private static let (version, versionWithPasscode) = (3 as UInt8, 5 as UInt8)

    init(
        parent: [UInt8], area: TPMPublicArea, privatePart: [UInt8], binding: KeyBinding, needsPassword: Bool,
        creationDigest: [UInt8], creationTicket: [UInt8]
    ) {
        (self.parent, self.area, self.privatePart) = (parent, area, privatePart)
        (self.binding, self.needsPassword) = (binding, needsPassword)
        (self.creationDigest, self.creationTicket) = (creationDigest, creationTicket)
    }

    /// Whether a blob is of this kind; it may still be malformed.
    static func hasValidForm(_ blob: SecretBytes) -> Bool {
        blob.withBytes { $0.first == version || $0.first == versionWithPasscode }
    }

    /// Decodes a blob. Throws `internalFailure` unless it has exactly this form and its policy is the one that the
    /// other fields describe.
    init(_ blob: SecretBytes) throws(Failure) {
        do throws(Failure) {
            // Nothing in it is secret in clear: the TPM encrypted the private part.
            var reader = TPMReader(blob.copyBytes())
            let version = try reader.uint8()
            guard version == Self.version || version == Self.versionWithPasscode else { throw TPMReader.malformed }
            let flags = try reader.uint8()
            guard flags & ~1 == 0 else { throw TPMReader.malformed }
            needsPassword = flags & 1 != 0
            parent = try reader.sized(limit: 34)
            area = try TPMPublicArea(decoding: try reader.sized(limit: 512))
            privatePart = try reader.sized(limit: 1024)
            let authority = try reader.sized(limit: 65)
            let reference = try reader.sized(limit: 32)
            let passcode = version == Self.versionWithPasscode ? try Self.demand(&reader) : nil
            binding = KeyBinding(authority: authority, reference: reference, passcode: passcode)
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

    private static func demand(_ reader: inout TPMReader) throws(Failure) -> PasscodeDemand {
        guard let part = PasscodeDemand.Part(rawValue: try reader.uint8()) else { throw TPMReader.malformed }
        let verifier = try reader.sized(limit: PasscodeDemand.verifierBytes)
        guard TPMName.hasValidForm(verifier) else { throw TPMReader.malformed }
        return PasscodeDemand(part, verifier: verifier)
    }

    func encoded() throws(Failure) -> SecretBytes {
        var writer = TPMWriter()
        writer.add(binding.passcode == nil ? Self.version : Self.versionWithPasscode)
        writer.add(needsPassword ? 1 : 0 as UInt8)
        for field in [parent, try area.encoded(), privatePart, binding.authority, binding.reference] {
            try writer.add(sized: field)
        }
        if let passcode = binding.passcode {
            writer.add(passcode.part.rawValue)
            try writer.add(sized: passcode.verifier)
        }
        for field in [creationDigest, creationTicket] { try writer.add(sized: field) }
        return SecretBytes(writer.bytes)
    }

    /// The policy of a key: the authority's approval of the command and the passcode, as the binding combines them, and
    /// then the password of the key if it has one.
    static func policy(_ binding: KeyBinding, needsPassword: Bool) throws(Failure) -> PolicyDigest {
        try .enclaveKey(
            authority: authorityPoint(binding), reference: binding.reference, passcode: binding.passcode,
            needsPassword: needsPassword)
    }

    /// The branches of which a use fulfils one, if the policy has a choice; empty if it has none.
    static func branches(_ binding: KeyBinding) throws(Failure) -> [PolicyDigest] {
        let branches = try PolicyDigest.keyBranches(
            authority: authorityPoint(binding), reference: binding.reference, passcode: binding.passcode)
        return branches.count > 1 ? branches : []
    }

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
