// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

/// The public area of a sealed secret (`TPMT_PUBLIC` of the type `TPM_ALG_KEYEDHASH`, Part 2, section 12.2.4).
package struct TPMSealedArea: Equatable, Sendable {
    /// The digest of the policy that unsealing needs; empty if it needs none.
    package let policy: [UInt8]
    /// A digest of the secret and of a random number in the object (`unique`); empty in a template.
    package var unique: [UInt8]

    /// The template of a secret that unsealing under that policy returns; nil for no policy.
    package init(policy: PolicyDigest?) { (self.policy, unique) = (policy?.bytes ?? [], []) }

    /// Without a policy the empty password unseals; with one, nothing else does.
    private var attributes: TPMObjectAttributes {
        [.fixedTPM, .fixedParent, .withoutLockout, policy.isEmpty ? .userWithAuth : .adminWithPolicy]
    }

    /// The encoded area; a sealed secret has no scheme.
    package func encoded() throws(Failure) -> [UInt8] {
        var writer = TPMWriter()
        writer.add(.keyedHash)
        writer.add(.sha256)
        writer.add(attributes.rawValue)
        try writer.add(sized: policy)
        writer.add(TPMAlgorithm.none)
        try writer.add(sized: unique)
        return writer.bytes
    }

    /// Decodes an area. Throws `TPMReader.malformed` for an area of any other form than `encoded` produces.
    package init(decoding bytes: [UInt8]) throws(Failure) {
        var reader = TPMReader(bytes)
        try reader.expect(TPMAlgorithm.keyedHash.rawValue)
        try reader.expect(TPMAlgorithm.sha256.rawValue)
        let attributes = TPMObjectAttributes(rawValue: try reader.uint32())
        policy = try reader.sized(limit: TPMPublicArea.digestBytes)
        try reader.expect(TPMAlgorithm.none.rawValue)
        unique = try reader.sized(limit: TPMPublicArea.digestBytes)
        try reader.checkEnd()
        guard attributes == self.attributes, policy.isEmpty || policy.count == TPMPublicArea.digestBytes else {
            throw TPMReader.malformed
        }
    }

    /// The name (Part 1, section 16).
    package func name() throws(Failure) -> [UInt8] { try TPMName.of(encoded()) }
}
