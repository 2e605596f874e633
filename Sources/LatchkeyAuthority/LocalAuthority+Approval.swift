// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
import LatchkeySeams
import TPMProtocol

// Approvals of uses of a TPM's keys.

extension LocalAuthority {
    /// Seconds from the nonce of the TPM until an approval expires.
    static let approvalSeconds: Int32 = 60

    package func binding(storeID: [UInt8], _ rule: AccessControl) throws(Failure) -> KeyBinding {
        let signer = try signer()
        return KeyBinding(authority: signer.publicKey, reference: try reference(storeID, rule))
    }

    package func approve(_ request: KeyApprovalRequest) throws(Failure) -> KeyApproval {
        let (rule, subject) = (request.rule, request.subject)
        let signer = try signer()
        let reference = try reference(request.storeID, rule)
        guard subject.policyReference == reference else {
            throw Failure(
                .itemAuthenticationFailed,
                "The key is bound to another access control, or to fingers that are not enrolled any more.",
                hint: "Delete the key and make a new one if fingers were added or removed.")
        }
        guard rule.constraints.contains(.privateKeyUsage) else {
            throw Failure(.keyUsageNotAllowed, "The key's access control does not allow its use.")
        }
        guard let command = TPMCommand(rawValue: subject.command), [.sign, .sharedSecret].contains(command) else {
            throw Failure(.notPermitted, "Only signatures and key agreements are approved.")
        }
        // The digest does not say where the name ends. With a name of another length, the parameters could begin with the
        // name of another key, and a proof for one key would approve the use of all of them.
        guard TPMName.isOne(subject.keyName) else {
            throw Failure(
                .invalidParameter, "The key's name is not the one of a key of the TPM.",
                hint: "Install the same version of both services.")
        }
        let digest = try CommandDigest.command(command, names: [subject.keyName], parameters: subject.parameters)
        let plan = rule.plan
        let isPermitted = core.withLock { core in
            guard !core.state.isLocked || LockState(isLocked: true).allows(rule.accessibility) else { return false }
            guard !plan.stages.isEmpty else { return true }
            return core.keyGrants.take(
                request.tokens, for: plan, key: subject.keyName, set: core.state.sensor.enrolment)
        }
        guard isPermitted else {
            throw Failure(.notPermitted, "The use of the key needs a new authentication.")
        }
        let text = try ApprovalText(
            nonce: request.nonce, expirySeconds: Self.approvalSeconds, command: digest, reference: reference)
        return KeyApproval(expirySeconds: Self.approvalSeconds, signature: try signer.sign(text))
    }

    /// The signer, which is made when it is needed first: reading the key costs more than a signature.
    private func signer() throws(Failure) -> ApprovalSigner {
        try approvals.withLock { (signer) throws(Failure) in
            if let signer { return signer }
            let made = try makeSigner()
            signer = made
            return made
        }
    }

    private func makeSigner() throws(Failure) -> ApprovalSigner {
        guard let key = parts.approvalKey else {
            throw Failure(.unimplemented, "This authority approves no uses of keys.")
        }
        guard let signer = ApprovalSigner(try key()) else {
            throw Failure(.storeUnreadable, "The key that approves uses of the TPM's keys is damaged.")
        }
        return signer
    }

    /// The reference of an access control now.
    private func reference(_ storeID: [UInt8], _ rule: AccessControl) throws(Failure) -> [UInt8] {
        guard rule.isValid else {
            throw Failure(.invalidParameter, "The access control flags contradict each other.")
        }
        guard !rule.constraints.contains(.companion) else {
            throw Failure(
                .invalidParameter, "A key of the TPM cannot be opened by a paired device.",
                hint: "Use userPresence, biometry or the passcode for the key.")
        }
        var set: EnrolmentSet?
        if rule.constraints.contains(.biometryCurrentSet) {
            set = core.withLock { $0.state.sensor.enrolment }
            guard set != nil else {
                throw Failure(.enrolmentBindingUnavailable, "No finger or face is enrolled to which the key is bound.")
            }
        }
        return try KeyPolicyReference.make(userID: parts.userID, storeID: storeID, rule, enrolment: set)
    }
}
