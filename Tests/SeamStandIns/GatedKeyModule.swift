// SPDX-License-Identifier: Apache-2.0

import Dispatch
package import LatchkeyModel
package import LatchkeySeams
import Synchronization
import TestSupport

/// A stand-in for a slow device: each operation of another module waits until the test lets it pass.
package final class GatedKeyModule: KeyModule {
    private let inner: any KeyModule
    private let gate = DispatchSemaphore(value: 0)
    private let arrivals = DispatchSemaphore(value: 0)
    private let begun = Recorder<EnclaveOperation>()
    private let erasures = Mutex(0)
    private let ownDevice: EnclaveDevice?
    private let isFound = Mutex(false)

    /// Creates a module that computes with `inner`.
    ///
    /// - Parameter device: what the module says about its device after it was asked, as a TPM; nil for the kind of `inner`.
    package init(_ inner: any KeyModule, device: EnclaveDevice? = nil) {
        (self.inner, ownDevice) = (inner, device)
    }

    /// Lets that many operations pass, those that wait already included.
    package func open(_ count: Int = 1) { for _ in 0..<count { gate.signal() } }

    /// Waits until an operation has arrived at the gate, for each call one more; false after ten seconds.
    package func waitForArrival() -> Bool { arrivals.wait(timeout: .now() + 10) == .success }

    /// The operations that were begun, in order.
    package var operations: [EnclaveOperation] { begun.all }

    /// The number of keys that were erased.
    package var erased: Int { erasures.withLock { $0 } }

    private func pass() throws(Failure) {
        arrivals.signal()
        guard gate.wait(timeout: .now() + 10) == .success else {
            throw Failure(.timedOut, "The test did not open the gate.")
        }
    }

    package var kind: EnclaveKind { ownDevice == nil ? inner.kind : .tpm }
    package var device: EnclaveDevice? { isFound.withLock { $0 } ? ownDevice : nil }
    package var isImmediate: Bool { false }
    package var checksApprovals: Bool { inner.checksApprovals }

    package func recognises(_ blob: SecretBytes) -> Bool { inner.recognises(blob) }

    package func findDevice() throws(Failure) {
        try pass()
        isFound.withLock { $0 = true }
    }

    package func needsPasscode(_ blob: SecretBytes) throws(Failure) -> Bool { try inner.needsPasscode(blob) }

    package func create(_ properties: KeyProperties) throws(Failure) -> ModuleKey {
        try pass()
        return try inner.create(properties)
    }

    package func begin(_ blob: SecretBytes, _ operation: EnclaveOperation) throws(Failure) -> KeyChallenge {
        try pass()
        begun.add(operation)
        return try inner.begin(blob, operation)
    }

    package func finish(
        _ use: KeyChallenge.Identifier, approval: KeyApproval?, password: SecretBytes?
    ) throws(Failure) -> SecretBytes {
        try inner.finish(use, approval: approval, password: password)
    }

    package func abandon(_ use: KeyChallenge.Identifier) { inner.abandon(use) }

    package func newAttestationKey() throws(Failure) -> AttestationKey { try inner.newAttestationKey() }

    package func answer(_ challenge: [UInt8], by attestationKey: SecretBytes) throws(Failure) -> [UInt8] {
        try inner.answer(challenge, by: attestationKey)
    }

    package func attest(
        _ blob: SecretBytes, by attestationKey: SecretBytes, nonce: [UInt8]
    ) throws(Failure) -> [UInt8] {
        try inner.attest(blob, by: attestationKey, nonce: nonce)
    }

    package func erase(_ blob: SecretBytes) throws(Failure) {
        erasures.withLock { $0 += 1 }
        try inner.erase(blob)
    }
}
