// SPDX-License-Identifier: Apache-2.0

package import RelyingPartyAttestation
package import RelyingPartyCrypto
internal import SignInVerification

extension RelyingPartyService {
    /// Replaces a key by another one of the same user and device: both have signed the same message, so that neither a
    /// thief of the old key alone nor a stranger's new key is enough. The sessions of the old key end in the same
    /// transaction.
    ///
    /// - Parameters:
    ///   - key: the new public key.
    ///   - tier: its declared tier.
    ///   - proof: the signature of the old key, of a challenge for `rotate`. Its context is the tier, a colon and the
    ///     identifier of the new key in base64url.
    ///   - signature: the signature of the new key, of the same message.
    ///   - evidence: a proof that the new key is in a TPM, made for the same message.
    /// - Returns: what is proven and claimed about the new key.
    /// - Throws: `refused`, also for the old key as the new one; `malformed` and `unavailable`.
    @discardableResult package func rotate(
        to key: P256PublicKey, tier: DeclaredTier, _ proof: SignedProof, signature: [UInt8],
        evidence: AttestationEvidence? = nil
    ) throws(RelyingPartyError) -> Attestation {
        try working {
            let now = now
            let context = Self.rotationContext(key, tier)
            let verified = try verify(proof, .rotate, context, at: now)
            guard key.isValid(signature, for: message(proof, .rotate, context, isRaw: false)) else {
                throw RelyingPartyError.refused(.wrongSignature)
            }
            let attestation = try attestation(evidence, of: key, proof, .rotate, context, at: now)
            guard policy.admits(.bound, tier, attestation.device) else { throw RelyingPartyError.refused(.tierTooLow) }
            try storage.transaction(of: proof.user) { database in
                let old = try database.requireActive(verified.key)
                try database.spend(verified.challenge)
                _ = try database.run(Statements.revokeKey, [.integer(now), .text(proof.user), .blob(proof.key)])
                _ = try database.run(Statements.endRevoked, [.text(proof.user)])
                try database.insert(
                    VerificationKey(key), of: proof.user, device: old.device, .bound, tier, attestation, at: now)
                try database.audit("rotate", proof.user, proof.key, context, at: now)
            }
            try record([.revoked(proof.key)])
            return attestation
        }
    }

    /// What the challenge and the signed message say about the new key.
    package static func rotationContext(_ key: P256PublicKey, _ tier: DeclaredTier) -> String {
        "\(tier.rawValue):\(StrictBase64.url.encode(key.identifier))"
    }
}
