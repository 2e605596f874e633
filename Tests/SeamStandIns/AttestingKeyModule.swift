// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
package import LatchkeySeams
import TestSupport

/// A stand-in for a TPM that attests. Another module does its computations; its attestation keys and messages are
/// constants that a test compares.
package final class AttestingKeyModule: KeyModule {
    /// What the module was asked for, in order.
    package enum Call: Equatable, Sendable {
        case newAttestationKey
        case answer
        case attest
    }
    private let inner: any KeyModule
    private let made = Recorder<Call>()

    /// The message that identifies the device.
    package static let request = Array("endorsement key of this device".utf8)

    /// Creates a module that computes with `inner`.
    package init(_ inner: any KeyModule, isImmediate: Bool = true) {
        (self.inner, self.isImmediate) = (inner, isImmediate)
    }

    /// What was asked for so far.
    package var calls: [Call] { made.all }

    package var kind: EnclaveKind { .tpm }
    package let isImmediate: Bool
    package var checksApprovals: Bool { false }

    package func recognises(_ blob: SecretBytes) -> Bool { inner.recognises(blob) }
    package func create(_ properties: KeyProperties) throws(Failure) -> ModuleKey { try inner.create(properties) }

    package func begin(_ blob: SecretBytes, _ operation: EnclaveOperation) throws(Failure) -> KeyChallenge {
        try inner.begin(blob, operation)
    }

    package func finish(
        _ use: KeyChallenge.Identifier, approval: KeyApproval?, password: SecretBytes?
    ) throws(Failure) -> SecretBytes {
        try inner.finish(use, approval: approval, password: password)
    }

    package func abandon(_ use: KeyChallenge.Identifier) { inner.abandon(use) }

    package func newAttestationKey() throws(Failure) -> AttestationKey {
        made.add(.newAttestationKey)
        return AttestationKey(blob: SecretBytes([4, 4, 4]), request: Self.request)
    }

    package func answer(_ challenge: [UInt8], by attestationKey: SecretBytes) throws(Failure) -> [UInt8] {
        made.add(.answer)
        return attestationKey.copyBytes() + challenge
    }

    package func attest(
        _ blob: SecretBytes, by attestationKey: SecretBytes, nonce: [UInt8]
    ) throws(Failure) -> [UInt8] {
        made.add(.attest)
        return attestationKey.copyBytes() + nonce
    }

    package func erase(_ blob: SecretBytes) throws(Failure) { try inner.erase(blob) }
}
