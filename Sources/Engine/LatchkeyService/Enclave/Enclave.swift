// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
package import LatchkeyPolicy
package import LatchkeySeams

/// Private keys that never leave a key module, and the access controls under which they are used.
///
/// A module, such as `TPMEnclave`, only makes keys and uses their blobs. The keychain stores the blobs, and this type
/// stores nothing. It stands between both, so that no request reaches a module without a check of the key's access
/// control.
///
/// Every use requires an `Authorisation`, so that code which omits the check does not compile. Where an authority in
/// another process approves each command, this check is the first of two: the TPM verifies the approval itself.
package final class Enclave: Sendable {
    let module: any KeyModule
    /// Modules that made keys which the store may still have.
    let earlier: [any KeyModule]
    private let approver: any KeyApprover
    private let storeID: [UInt8]

    /// Creates an enclave.
    ///
    /// - Parameters:
    ///   - module: makes new keys, and uses those that it made.
    ///   - earlier: use the keys that they made.
    ///   - approver: approves uses if a module checks that.
    ///   - storeID: the identifier of the store that has the keys.
    package init(_ module: any KeyModule, earlier: [any KeyModule] = [], approver: any KeyApprover, storeID: [UInt8]) {
        (self.module, self.earlier, self.approver, self.storeID) = (module, earlier, approver, storeID)
    }

    /// The kind of the key module: hardware or software.
    package var kind: EnclaveKind { module.kind }

    /// Whether all functions may run on the thread that serves all clients; otherwise they run on the queue of key
    /// operations.
    package var isImmediate: Bool { module.isImmediate && earlier.allSatisfy(\.isImmediate) }

    /// Creates a P-256 key. Blocks unless `isImmediate`.
    ///
    /// - Throws: `invalidParameter` for a contradictory access control, and the errors of the module.
    package func create(_ properties: KeyProperties) throws(Failure) -> ModuleKey {
        guard properties.accessControl.isValid else {
            throw Failure(.invalidParameter, "The access control flags contradict each other.")
        }
        guard module.checksApprovals else { return try module.create(properties) }
        var properties = properties
        properties.binding = try approver.binding(storeID: storeID, properties.accessControl)
        return try module.create(properties)
    }

    /// Erases a key that was created and could not be stored.
    package func erase(_ blob: SecretBytes) throws(Failure) { try module(of: blob).erase(blob) }

    /// Whether a key is lost with the passcode, because its module demands the passcode for each use.
    package func needsPasscode(_ blob: SecretBytes) throws(Failure) -> Bool { try module(of: blob).needsPasscode(blob) }

    func module(of blob: SecretBytes) throws(Failure) -> any KeyModule {
        guard let module = ([module] + earlier).first(where: { $0.recognises(blob) }) else {
            throw Failure(
                .enclaveUnavailable,
                "The key was made by an implementation of the Secure Enclave that is not used now.",
                hint: "Choose the one that made it, with a line \"enclave = ...\" in the configuration of latchkeyd.")
        }
        return module
    }

    /// Performs one operation with an opened key, after checking the proof against the key's access control. Blocks
    /// unless `isImmediate`.
    ///
    /// - Parameters:
    ///   - operation: signing a digest of 20, 28, 32, 48 or 64 bytes, or ECDH with an uncompressed P-256 point (65
    ///     bytes).
    ///   - blob: the module's blob of the key, decrypted by the keychain.
    ///   - accessControl: the key's access control.
    ///   - proof: the proof obtained for this use.
    ///   - password: the key's password; nil if it has none.
    /// - Returns: r ‖ s (64 bytes) or the ECDH shared secret (32 bytes).
    /// - Throws: `keyUsageNotAllowed` without `.privateKeyUsage`; `itemAuthenticationFailed` when the proof does not
    ///   satisfy the access control; `notPermitted` when the authority does not approve a use for this proof any more;
    ///   `invalidParameter` for malformed input; the errors of the module and of the authority.
    package func perform(
        _ operation: EnclaveOperation, _ blob: SecretBytes, accessControl: AccessControl, proof: Authorisation,
        password: SecretBytes? = nil
    ) throws(Failure) -> SecretBytes {
        try checkUsage(accessControl)
        // The proof is checked before a use begins, so that a request without one occupies none of the begun uses.
        try check(proof, for: accessControl)
        let use = try begin(operation, blob, accessControl: accessControl)
        let approval: KeyApproval?
        do throws(Failure) {
            approval = try use.challenge.subject.map { (subject) throws(Failure) in
                try approver.approve(
                    KeyApprovalRequest(
                        storeID: storeID, accessControl: accessControl, subject: subject, nonce: use.challenge.nonce,
                        session: use.challenge.session, tokens: proof.tokens))
            }
        } catch {
            abandon(use)
            throw error
        }
        return try finish(use, proof: proof, approval: approval, password: password)
    }

    // MARK: - While a person is asked

    /// Whether new keys are used faster after `prepare`: those of a device that checks approvals itself.
    package var prepares: Bool { module.checksApprovals && !module.isImmediate }

    /// Prepares a use of a key, whose proof the person is asked for; needs none, because it uses nothing. Blocks.
    ///
    /// - Returns: what ends the preparation, which must be called once; nil for a key that is used without one.
    package func prepare(_ blob: SecretBytes) -> (@Sendable (_ isUsed: Bool) -> Void)? {
        guard module.recognises(blob) else { return nil }
        // The use itself reports what is wrong.
        do throws(Failure) { try module.prepare(blob) } catch { return nil }
        return { [module] in module.endPreparation(isUsed: $0) }
    }

    // MARK: - The two steps

    /// A use that has begun, with the access control that its proof must satisfy.
    package struct BegunUse: Sendable {
        package let challenge: KeyChallenge
        fileprivate let accessControl: AccessControl
        fileprivate let module: any KeyModule
    }

    /// Begins a use of a key. Reveals nothing, so it needs no proof.
    ///
    /// - Throws: `keyUsageNotAllowed` without `.privateKeyUsage`; `invalidParameter` for malformed input; the errors of
    ///   the module.
    package func begin(
        _ operation: EnclaveOperation, _ blob: SecretBytes, accessControl: AccessControl
    ) throws(Failure) -> BegunUse {
        try checkUsage(accessControl)
        switch operation {
        case .sign(let digest):
            // The lengths of SHA-1, SHA-224, SHA-256, SHA-384 and SHA-512.
            guard [20, 28, 32, 48, 64].contains(digest.count) else {
                throw Failure(.invalidParameter, "A digest has 20, 28, 32, 48 or 64 bytes, not \(digest.count).")
            }
        case .agree(let point):
            guard point.count == 65, point[0] == 4 else {
                throw Failure(.invalidParameter, "A public key of P-256 has 65 bytes and begins with 04.")
            }
        }
        let module = try module(of: blob)
        return BegunUse(challenge: try module.begin(blob, operation), accessControl: accessControl, module: module)
    }

    /// Finishes a use with the proof and, if the challenge has a subject, the approval that were obtained for it. The use
    /// has ended afterwards, whether it succeeds or not.
    package func finish(
        _ use: BegunUse, proof: Authorisation, approval: KeyApproval?, password: SecretBytes?
    ) throws(Failure) -> SecretBytes {
        do throws(Failure) {
            try check(proof, for: use.accessControl)
        } catch {
            abandon(use)
            throw error
        }
        return try use.module.finish(use.challenge.use, approval: approval, password: password)
    }

    /// Ends a use without a result.
    package func abandon(_ use: BegunUse) { use.module.abandon(use.challenge.use) }

    func checkUsage(_ accessControl: AccessControl) throws(Failure) {
        guard accessControl.constraints.contains(.privateKeyUsage) else {
            throw Failure(.keyUsageNotAllowed, "The key's access control does not allow its use.")
        }
    }

    func check(_ proof: Authorisation, for accessControl: AccessControl) throws(Failure) {
        guard !accessControl.isProtected || proof.satisfies(accessControl.plan) else {
            throw Failure(.itemAuthenticationFailed, "The proof does not satisfy the key's access control.")
        }
    }
}
