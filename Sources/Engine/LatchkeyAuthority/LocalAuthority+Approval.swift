// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
import LatchkeySeams
import TPMProtocol

// Approvals of uses of a TPM's keys.

extension LocalAuthority {
    /// Seconds from the nonce of the TPM until an approval expires.
    static let approvalSeconds: Int32 = 60

    package func binding(storeID: [UInt8], _ accessControl: AccessControl) throws(Failure) -> KeyBinding {
        let signer = try signer()
        let part = PasscodeDemand.Part(accessControl.plan)
        let verifier = try part == nil ? nil : parts.keyPasscode?.verifier()
        let demand = part.flatMap { part in verifier.map { PasscodeDemand(part, verifier: $0) } }
        return KeyBinding(
            authority: signer.publicKey, reference: try reference(storeID, accessControl, demand?.part),
            passcode: demand)
    }

    package func approve(_ request: KeyApprovalRequest) throws(Failure) -> KeyApproval {
        let (accessControl, subject) = (request.accessControl, request.subject)
        let signer = try signer()
        let demand = subject.passcode
        let reference = try reference(request.storeID, accessControl, demand?.part)
        guard subject.policyReference == reference else {
            throw Failure(
                .itemAuthenticationFailed,
                "The key is bound to another access control, or to fingers that are not enrolled any more.",
                hint: "Delete the key and make a new one if fingers were added or removed.")
        }
        guard accessControl.constraints.contains(.privateKeyUsage) else {
            throw Failure(.keyUsageNotAllowed, "The key's access control does not allow its use.")
        }
        guard let command = TPMCommand(rawValue: subject.command), [.sign, .sharedSecret].contains(command) else {
            throw Failure(.notPermitted, "Only signatures and key agreements are approved.")
        }
        // The digest does not say where the name ends. With a name of another length, the parameters could begin with the
        // name of another key, and a proof for one key would approve the use of all of them.
        guard TPMName.hasValidForm(subject.keyName) else {
            throw Failure(
                .invalidParameter, "The key's name is not the one of a key of the TPM.",
                hint: "Install the same version of both services.")
        }
        let digest = try CommandDigest.command(command, names: [subject.keyName], parameters: subject.parameters)
        let text = try ApprovalText(
            nonce: request.nonce, expirySeconds: Self.approvalSeconds, command: digest, reference: reference)
        guard let permission = permission(request) else { throw Self.needsAuthentication }
        var approval = KeyApproval(expirySeconds: text.expirySeconds, signature: [])
        switch demand?.part {
        case .either? where permission.methods.contains(.biometry), nil: break
        case .alone?, .either?, .both?:
            try prove(permission, demand, text, request.session)
            approval.isPasscodeProven = true
        }
        switch demand?.part {
        case .either? where approval.isPasscodeProven, .alone?: break
        case .either?, .both?, nil: approval.signature = try signer.sign(text)
        }
        return approval
    }

    private static let needsAuthentication = Failure(
        .notPermitted, "The use of the key needs a new authentication.")

    /// Returns what permits a use now; nil if the person has to be asked again.
    private func permission(_ request: KeyApprovalRequest) -> KeyGrants.Permission? {
        let (accessControl, subject) = (request.accessControl, request.subject)
        let plan = accessControl.plan
        return core.withLock { core in
            guard !core.state.isLocked || LockState(isLocked: true).allows(accessControl.accessibility) else {
                return nil
            }
            guard !plan.stages.isEmpty else { return KeyGrants.Permission(methods: []) }
            return core.keyGrants.take(
                request.tokens, for: plan, key: subject.keyName, set: core.state.sensor.enrolment
            ) { [values] token in
                // The TPM demands the passcode itself, so that a proof of it without the value is worth nothing.
                subject.passcode == nil || values.value(for: token) != nil
            }
        }
    }

    /// Proves the passcode that permits a use to the session of the TPM.
    private func prove(
        _ permission: KeyGrants.Permission, _ demand: PasscodeDemand?, _ text: ApprovalText, _ session: UInt32
    ) throws(Failure) {
        defer { for token in permission.spent { values.take(token) } }
        guard let passcode = parts.keyPasscode, let token = permission.passcode, let value = values.value(for: token)
        else { throw Self.needsAuthentication }
        guard try passcode.verifier() == demand?.verifier else {
            throw Failure(
                .itemAuthenticationFailed, "The key was made with a passcode that was removed or recovered since then.",
                hint: "Delete the key and make a new one.")
        }
        let proof = KeyPasscodeProof(
            session: session, nonce: text.nonce, command: text.command, reference: text.reference,
            expirySeconds: text.expirySeconds)
        guard try passcode.prove(value, proof) else {
            // The value is that of an earlier passcode. Each further use would count as another wrong one.
            values.removeAll()
            throw Self.needsAuthentication
        }
    }

    /// Holds the value of a passcode that a token proves, for uses of keys that demand it of the TPM.
    package func hold(_ value: SecretBytes, for token: AuthToken) {
        guard parts.keyPasscode != nil, token.purpose == .app, token.methods.contains(.passcode) else { return }
        _ = values.store(value, for: token.challenge, evictsOldest: true)
    }

    /// Wipes the values of the passcode, which was changed or removed.
    package func forgetPasscodeValues() { values.removeAll() }

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
    ///
    /// - Parameter passcode: how the key demands the passcode; nil if it relies on this authority.
    private func reference(
        _ storeID: [UInt8], _ accessControl: AccessControl, _ passcode: PasscodeDemand.Part?
    ) throws(Failure) -> [UInt8] {
        guard accessControl.isValid else {
            throw Failure(.invalidParameter, "The access control flags contradict each other.")
        }
        guard passcode == nil || passcode == PasscodeDemand.Part(accessControl.plan) else {
            throw Failure(
                .itemAuthenticationFailed, "The key demands the passcode in another way than its access control.")
        }
        guard !accessControl.constraints.contains(.companion) else {
            throw Failure(
                .invalidParameter, "A key of the TPM cannot be opened by a paired device.",
                hint: "Use userPresence, biometry or the passcode for the key.")
        }
        var (set, epoch) = (nil as EnrolmentSet?, [] as [UInt8])
        if accessControl.constraints.contains(.biometryCurrentSet) {
            set = core.withLock { $0.state.sensor.enrolment }
            guard set != nil else {
                throw Failure(.enrolmentBindingUnavailable, "No finger or face is enrolled to which the key is bound.")
            }
            epoch = try parts.enrolmentEpoch?(set) ?? []
        }
        return try KeyPolicyReference.make(
            userID: parts.userID, storeID: storeID, accessControl, enrolment: set, epoch: epoch, passcode: passcode)
    }
}
