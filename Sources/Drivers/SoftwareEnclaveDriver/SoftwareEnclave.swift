// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
package import LatchkeySeams

/// A key module without hardware protection.
///
/// During a use the private key is in this process, in memory that is wiped afterwards; at rest it exists only in the
/// keychain's envelopes. The module checks the password of a key, and leaves the access control and the enrolment set
/// to the engine: a check in the same process would stop no attack that the engine's check does not stop.
package final class SoftwareEnclave: KeyModule {
    private struct Use: Sendable {
        let blob: SoftwareBlob
        let operation: EnclaveOperation
    }
    private let uses: BegunKeyUses<Use>
    private let random: any RandomSource

    /// Creates a module without begun uses.
    package init(clock: any Clock, random: any RandomSource) {
        uses = BegunKeyUses(clock: clock)
        self.random = random
    }

    package var kind: EnclaveKind { .software }

    package var isImmediate: Bool { true }

    package var checksApprovals: Bool { false }

    package func recognises(_ blob: SecretBytes) -> Bool { SoftwareBlob.hasValidForm(blob) }

    package func create(_ properties: KeyProperties) throws(Failure) -> ModuleKey {
        try SoftwareBlob.makeKey(password: properties.password, random)
    }

    package func begin(_ blob: SecretBytes, _ operation: EnclaveOperation) throws(Failure) -> KeyChallenge {
        guard let blob = SoftwareBlob(blob) else { throw Self.foreignBlob }
        return KeyChallenge(try uses.begin(Use(blob: blob, operation: operation)))
    }

    package func finish(
        _ use: KeyChallenge.Identifier, approval: KeyApproval?, password: SecretBytes?
    ) throws(Failure) -> SecretBytes {
        let use = try uses.take(use)
        // The challenge has no subject, so an approval must be meant for another module.
        guard approval == nil else {
            throw Failure(.itemAuthenticationFailed, "A key of the software enclave takes no approval.")
        }
        let scalar = try use.blob.scalar(password: password)
        switch use.operation {
        case .sign(let digest): return try scalar.sign(digest)
        case .agree(let point):
            guard let secret = try scalar.agree(point) else {
                throw Failure(.invalidParameter, "The public key is not a point on P-256.")
            }
            return secret
        }
    }

    package func abandon(_ use: KeyChallenge.Identifier) { uses.drop(use) }

    package func newAttestationKey() throws(Failure) -> AttestationKey { throw Self.cannotAttest }

    package func answer(_ challenge: [UInt8], by attestationKey: SecretBytes) throws(Failure) -> [UInt8] {
        throw Self.cannotAttest
    }

    package func attest(
        _ blob: SecretBytes, by attestationKey: SecretBytes, nonce: [UInt8]
    ) throws(Failure) -> [UInt8] { throw Self.cannotAttest }

    private static let cannotAttest = Failure(
        .unimplemented,
        "A key of the software enclave cannot attest: it is not bound to a device, and could be copied.",
        hint: "Only a key of a TPM can prove that it cannot leave its device.")

    /// Does nothing: the blob is the only place of the key.
    package func erase(_ blob: SecretBytes) throws(Failure) {}

    private static var foreignBlob: Failure {
        Failure(.internalFailure, "The key was not made by a software enclave.")
    }
}
