// SPDX-License-Identifier: Apache-2.0

internal import RelyingPartyAttestation
internal import RelyingPartyCrypto
internal import SignInVerification

extension RelyingPartyService {
    /// Begins the enrolment of a device that will prove that a key is in its TPM. Reads and writes no storage, so the reply
    /// is the same for users that do not exist.
    ///
    /// - Parameters:
    ///   - request: the first message of the device, `docs/reference/device-proof.md`.
    ///   - user: the user for whom a key will be registered.
    /// - Returns: the challenge that only the TPM can answer, and the enrolment, which the device sends back.
    /// - Throws: `refused` for a device that is not trusted, `malformed` and `unavailable`.
    public func beginAttestation(
        _ request: [UInt8], user: String
    ) throws(RelyingPartyError) -> (challenge: [UInt8], enrolment: [UInt8]) {
        try working {
            try check(user: user, key: [UInt8](repeating: 0, count: 32))
            guard let verifier, let master = masters.first else { throw RelyingPartyError.refused(.attestationOff) }
            let nonce = try randomBytes(12)
            do throws(AttestationRefusal) {
                return try verifier.begin(request, user: user, under: master, at: now, nonce: nonce)
            } catch {
                throw Self.error(error)
            }
        }
    }

    /// Verifies the evidence for a key that is being registered, if there is any. Writes nothing.
    func attestation(
        _ evidence: AttestationEvidence?, of key: P256PublicKey, _ proof: SignedProof, _ purpose: ChallengePurpose,
        _ context: String, at now: Int64
    ) throws -> Attestation {
        guard let evidence else { return .none }
        guard let verifier else { throw RelyingPartyError.refused(.attestationOff) }
        let nonce = try attestationNonce(proof, purpose, context)
        do throws(AttestationRefusal) {
            let found = try verifier.verify(
                evidence, of: key.point, user: proof.user, nonce: nonce, under: masters, at: now)
            // Evidence that is not accepted is not ignored: the device would believe that its key counts as proven.
            guard found.device != .virtualTPM || policy.permitsVirtualTPM else { throw .virtualDevice }
            return found
        } catch {
            throw Self.error(error)
        }
    }

    private static func error(_ refusal: AttestationRefusal) -> RelyingPartyError {
        switch refusal {
        case .malformed: .malformed("attestation")
        case .untrustedDevice: .refused(.untrustedDevice)
        case .virtualDevice: .refused(.virtualDevice)
        case .enrolment: .refused(.enrolment)
        case .enrolmentExpired: .refused(.enrolmentExpired)
        case .statement: .refused(.statement)
        case .otherKey: .refused(.otherKey)
        case .failure: .unavailable("libcrypto failed.")
        }
    }
}
