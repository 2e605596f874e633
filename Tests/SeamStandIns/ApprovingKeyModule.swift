// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
package import LatchkeySeams

/// A stand-in for a key module that checks approvals itself, such as a TPM. It protects nothing: it wraps another
/// module, and an approval is the bytes of the challenge.
package final class ApprovingKeyModule: KeyModule {
    private let inner: any KeyModule
    /// The challenges, with the uses of `inner` in place of their own.
    private let uses: BegunKeyUses<KeyChallenge>
    private let random: any RandomSource

    /// Creates a module that computes with `inner`.
    package init(_ inner: any KeyModule, clock: any Clock, random: any RandomSource) {
        self.inner = inner
        uses = BegunKeyUses(clock: clock)
        self.random = random
    }

    /// Returns the approval that an authority would give for a challenge.
    package static func approval(of challenge: KeyChallenge) -> KeyApproval? {
        challenge.subject.map { KeyApproval(expirySeconds: 60, signature: challenge.nonce + $0.parameters) }
    }

    package var kind: EnclaveKind { .tpm }
    package var isImmediate: Bool { false }
    package var checksApprovals: Bool { true }

    package func recognises(_ blob: SecretBytes) -> Bool { inner.recognises(blob) }
    package func create(_ properties: KeyProperties) throws(Failure) -> ModuleKey { try inner.create(properties) }

    package func begin(_ blob: SecretBytes, _ operation: EnclaveOperation) throws(Failure) -> KeyChallenge {
        let parameters =
            switch operation {
            case .sign(let digest): digest
            case .agree(let point): point
            }
        let begun = try inner.begin(blob, operation)
        let nonce = try random.bytes(16).copyBytes()
        let subject = ApprovalSubject(keyName: [0], command: 1, parameters: parameters, policyReference: [])
        do throws(Failure) {
            let use = try uses.begin(KeyChallenge(begun.use, nonce: nonce, subject: subject))
            return KeyChallenge(use, nonce: nonce, subject: subject)
        } catch {
            inner.abandon(begun.use)
            throw error
        }
    }

    package func finish(
        _ use: KeyChallenge.Identifier, approval: KeyApproval?, password: SecretBytes?
    ) throws(Failure) -> SecretBytes {
        let begun = try uses.take(use)
        guard let approval, approval == Self.approval(of: begun) else {
            inner.abandon(begun.use)
            throw Failure(.itemAuthenticationFailed, "The challenge was not approved.")
        }
        return try inner.finish(begun.use, approval: nil, password: password)
    }

    package func abandon(_ use: KeyChallenge.Identifier) {
        // A use that has ended already holds nothing.
        if let begun = try? uses.take(use) { inner.abandon(begun.use) }
    }

    package func newAttestationKey() throws(Failure) -> AttestationKey {
        AttestationKey(blob: SecretBytes([1]), request: [1])
    }

    package func answer(_ challenge: [UInt8], by attestationKey: SecretBytes) throws(Failure) -> [UInt8] { challenge }

    package func attest(
        _ blob: SecretBytes, by attestationKey: SecretBytes, nonce: [UInt8]
    ) throws(Failure) -> [UInt8] {
        guard Limits.nonceBytes.contains(nonce.count) else { throw Failure(.invalidParameter) }
        return nonce
    }

    package func erase(_ blob: SecretBytes) throws(Failure) { try inner.erase(blob) }
}
