// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
package import LatchkeySeams
import TPMProtocol

/// The Secure Enclave on a TPM 2.0: private keys that the TPM made, that it uses only after an authority approved the
/// command, and that cannot leave it.
///
/// Key types and policies are in `docs/reference/policy.md`, section "Keys of a TPM".
package final class TPMEnclave: KeyModule {
    struct Use: Sendable {
        let key: TPMUsableKey
        let operation: EnclaveOperation
        let subject: ApprovalSubject
    }
    private let chip: TPMChip
    private let latest = LatestTPMKey()
    private let uses: BegunKeyUses<Use>
    private let allowsVirtual: Bool
    private let configuration: String

    /// Creates a module without begun uses.
    ///
    /// - Parameters:
    ///   - allowsVirtual: whether keys may be made on a TPM that is a program, which its administrator can copy.
    ///   - configuration: the file in which root can allow that; a refusal names it.
    package init(
        _ chip: TPMChip, clock: any Clock, allowsVirtual: Bool,
        configuration: String = "/etc/latchkey/hardware.conf"
    ) {
        self.chip = chip
        self.configuration = configuration
        self.allowsVirtual = allowsVirtual
        uses = BegunKeyUses(clock: clock)
    }

    package var kind: EnclaveKind { .tpm }

    package var device: EnclaveDevice? { chip.knownIdentity.map { $0.isVirtual ? .program : .chip } }

    package var deviceProblem: Failure? { chip.ownerProblem }

    package func findDevice() throws(Failure) { _ = try chip.identity() }

    package var isImmediate: Bool { false }

    package var checksApprovals: Bool { true }

    package func recognises(_ blob: SecretBytes) -> Bool { TPMBlob.hasValidForm(blob) }

    package func needsPasscode(_ blob: SecretBytes) throws(Failure) -> Bool {
        switch try latest.decode(blob).blob.binding.passcode?.part {
        case .alone, .both: true
        case .either, nil: false
        }
    }

    package func create(_ properties: KeyProperties) throws(Failure) -> ModuleKey {
        guard let binding = properties.binding else {
            throw Failure(.internalFailure, "A key of the TPM needs an authority that approves its uses.")
        }
        return try chip.use { [allowsVirtual, configuration] (memory, client) throws(TPMError) in
            if !allowsVirtual { try client.identity().checkHardware(configuration) }
            return try memory.createKey(binding, password: properties.password, &client)
        }
    }

    package func prepare(_ blob: SecretBytes) throws(Failure) {
        let key = try latest.decode(blob)
        try chip.prepare { (memory, client) throws(TPMError) in try memory.prepare(key, &client) }
    }

    package func endPreparation(isUsed: Bool) { chip.endPreparation(isUsed: isUsed) }

    package func begin(_ blob: SecretBytes, _ operation: EnclaveOperation) throws(Failure) -> KeyChallenge {
        let key = try latest.decode(blob)
        let subject = try key.subject(operation)
        let use = try uses.begin(Use(key: key, operation: operation, subject: subject))
        do throws(Failure) {
            let (session, nonce) = try chip.use { [uses] (memory, client) throws(TPMError) in
                try memory.beginSession(use, below: key.blob.parent, &client) { uses.contains(use) }
            }
            return KeyChallenge(use, nonce: nonce, session: session.number, subject: subject)
        } catch {
            uses.drop(use)
            throw error
        }
    }

    package func finish(
        _ use: KeyChallenge.Identifier, approval: KeyApproval?, password: SecretBytes?
    ) throws(Failure) -> SecretBytes {
        try chip.use { [uses] (memory, client) throws(TPMError) in
            // Taken while the chip is used, so that no other thread removes the session of a use that has just ended.
            let begun = try failing { () throws(Failure) in try uses.take(use) }
            var session = try client.takeSession(use)
            do throws(TPMError) {
                let result = try memory.carryOut(begun, approval, password, in: &session, &client)
                client.storeSession(session)
                return result
            } catch {
                // After a lost connection there is nothing to remove.
                memory.use(client.generation)
                // Another program's object can have the handle of a key that it flushed.
                memory.forgetKeys(&client)
                // The session may contain the steps of a policy that did not succeed.
                client.forgetSession(session)
                throw error
            }
        }
    }

    package func abandon(_ use: KeyChallenge.Identifier) {
        // If the session cannot be removed now, it is removed with the connection.
        try? chip.use { [uses] (memory, client) throws(TPMError) in
            guard uses.contains(use) else { return }
            uses.drop(use)
            let session = try client.takeSession(use)
            client.forgetSession(session)
        }
    }

    package func newAttestationKey() throws(Failure) -> AttestationKey {
        try chip.use { (memory, client) throws(TPMError) in try memory.newAttestationKey(&client) }
    }

    package func answer(_ challenge: [UInt8], by attestationKey: SecretBytes) throws(Failure) -> [UInt8] {
        let key = try AttestationBlob(attestationKey)
        let challenge = try EnrolmentChallenge(received: challenge)
        return try chip.use { (memory, client) throws(TPMError) in try memory.answer(challenge, by: key, &client) }
    }

    package func attest(
        _ blob: SecretBytes, by attestationKey: SecretBytes, nonce: [UInt8]
    ) throws(Failure) -> [UInt8] {
        guard Limits.nonceBytes.contains(nonce.count) else {
            throw Failure(
                .invalidParameter,
                "The nonce of an attestation has \(Limits.nonceBytes.lowerBound) to "
                    + "\(Limits.nonceBytes.upperBound) bytes, not \(nonce.count).")
        }
        let (key, attestationKey) = (try TPMBlob(blob), try AttestationBlob(attestationKey))
        return try chip.use { (memory, client) throws(TPMError) in
            try memory.attest(key, by: attestationKey, nonce: nonce, &client)
        }
    }

    /// Does nothing: the TPM stores nothing of a key, and only the blob can be loaded.
    package func erase(_ blob: SecretBytes) throws(Failure) {}
}
