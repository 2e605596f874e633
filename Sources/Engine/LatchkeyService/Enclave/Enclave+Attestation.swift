// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
package import LatchkeyPolicy
package import LatchkeySeams

// Proofs for relying parties (docs/reference/device-proof.md).

extension Enclave {
    /// The proof that a person must give before the device is identified to a relying party.
    package static var identificationPlan: AuthenticationPlan { Policy.deviceOwnerAuthentication.plan }

    /// Throws `unimplemented` if keys of no module can attest.
    package func checkAttests() throws(Failure) { _ = try attester() }

    private func attester() throws(Failure) -> any KeyModule {
        guard let module = ([module] + earlier).first(where: { $0.kind == .tpm }) else {
            throw Failure(
                .unimplemented,
                "Keys of the software enclave cannot prove where they are: they are not bound to a device.",
                hint: "Choose a TPM, with a line \"enclave = tpm\" in the configuration of latchkeyd.")
        }
        return module
    }

    /// Makes an attestation key, with the message that identifies the device. Blocks.
    ///
    /// - Throws: `itemAuthenticationFailed` unless the proof satisfies `identificationPlan`; the errors of the module.
    package func newAttestationKey(proof: Authorisation) throws(Failure) -> AttestationKey {
        guard proof.satisfies(Self.identificationPlan) else {
            throw Failure(.itemAuthenticationFailed, "The device is identified only after the person agreed.")
        }
        return try attester().newAttestationKey()
    }

    /// Answers the challenge of a relying party. Blocks.
    package func answer(_ challenge: [UInt8], by attestationKey: SecretBytes) throws(Failure) -> [UInt8] {
        try attester().answer(challenge, by: attestationKey)
    }

    /// Makes the proof that a key cannot leave its device, after checking what a use of the key needs. Blocks.
    ///
    /// - Throws: as `perform`; `unimplemented` for a key of the software.
    package func attest(
        _ blob: SecretBytes, by attestationKey: SecretBytes, nonce: [UInt8], accessControl: AccessControl,
        proof: Authorisation
    ) throws(Failure) -> [UInt8] {
        try checkUsage(accessControl)
        try check(proof, for: accessControl)
        return try module(of: blob).attest(blob, by: attestationKey, nonce: nonce)
    }
}
