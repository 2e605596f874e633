// SPDX-License-Identifier: Apache-2.0

import LatchkeyEnclave
import LatchkeyKeychain
import LatchkeyModel
import LatchkeyPolicy
import LatchkeySeams

// Private keys of the Secure Enclave. The user authenticates to the daemon, which then uses the key on behalf of the
// app.

extension Session {
    func enclave() throws(Failure) -> Enclave {
        guard let enclave = service.enclave else {
            throw Failure(
                .enclaveUnavailable, "No Secure Enclave is available: it needs a TPM, or the software implementation.",
                hint:
                    "Choose software with a line \"enclave = software\" in \(service.parts.storePath)/latchkeyd.conf; "
                    + "latchkeyd reads it when it starts, so end it: kill \(service.parts.processID)"
            )
        }
        return enclave
    }

    // MARK: - Creating keys

    func createKey(_ id: UInt64, _ request: Request.CreateEnclaveKey, _ answer: @escaping Answer) throws(Failure) {
        let keychain = try keychain()
        let enclave = try enclave()
        try checkBiometry(request.accessControl)
        guard try keychain.addNeedsPasscode(request.accessControl) else {
            return try createKey(request, keychain, enclave, answer)
        }
        if try proof(of: request.authentication.context).methods.contains(.passcode), keychain.tree.holdsPasscodeKey {
            return try createKey(request, keychain, enclave, answer)
        }
        try askThen(
            id, AuthenticationPlan([[.passcode]]), request.authentication, 1,
            reason: "make a key that needs the passcode"
        ) { [self] (_) throws(Failure) in
            try createKey(request, keychain, enclave, answer)
        } answer: {
            answer($0)
        }
    }

    private func createKey(
        _ request: Request.CreateEnclaveKey, _ keychain: Keychain, _ enclave: Enclave, _ answer: @escaping Answer
    ) throws(Failure) {
        let caller = caller
        let password = try appPassword(request.authentication, keychain)
        let parameters = try keychain.stretchingToAdd(request.accessControl, password)
        try stretch(request.authentication, parameters, password, answer) { [self] password in
            operate(enclave, answer) { [self] () throws(Failure) in
                let properties = try keychain.properties(ofNewKey: request.accessControl, password)
                let made = try enclave.create(properties)
                service.parts.work.submit(.oneItem) { [self] in
                    do throws(Failure) {
                        let key = try keychain.addKey(
                            request.describing(made.publicKey), blob: made.blob, publicKey: made.publicKey,
                            caller: caller, enrolment: properties.enrolment, password: password)
                        answer(.enclaveKey(key))
                    } catch {
                        erase(made, enclave)
                        answer(.failure(error))
                    }
                }
            }
        }
    }

    /// Erases a key that was created and could not be stored.
    private func erase(_ key: ModuleKey, _ enclave: Enclave) {
        operate(enclave) { [log = service.parts.log] in
            // If this fails too, the module keeps a key whose blob is lost: it can never be used again.
            log.noting(.unstoredKeyNotErased) { () throws(Failure) in try enclave.erase(key.blob) }
        }
    }

    // MARK: - The thread of key operations

    /// Runs operations of the key module: on this thread if the module only computes, otherwise on the queue of key
    /// operations, in order of submission. So no thread that serves several clients waits for a device.
    private func operate(_ enclave: Enclave, _ body: @escaping @Sendable () -> Void) {
        if enclave.isImmediate { body() } else { service.parts.keyWork.submit(.any, body) }
    }

    /// Like the function above; a failure of `body` ends the request.
    func operate(
        _ enclave: Enclave, _ answer: @escaping Answer, _ body: @escaping @Sendable () throws(Failure) -> Void
    ) {
        operate(enclave) { [self] in
            do throws(Failure) { try body() } catch { end(error, answer) }
        }
    }

    func describeKey(_ name: EnclaveKeyName) throws(Failure) -> Reply {
        .enclaveKey(try keychain().describeKey(name, caller: caller))
    }

    // MARK: - Using keys

    func useKey(_ id: UInt64, _ request: Request.UseEnclaveKey, _ answer: @escaping Answer) {
        useKey(
            id, request.name, request.authentication, for: .operation(request.operation), reason: "use a private key",
            answer)
    }

    /// What a key is opened for.
    enum KeyPurpose: Sendable {
        case operation(EnclaveOperation)
        /// A proof for a relying party.
        case proof(by: SecretBytes, nonce: [UInt8])
    }

    /// The state of a request that uses a key.
    private struct KeyUse: Sendable {
        let id: UInt64
        let name: EnclaveKeyName
        let authentication: Authentication
        let purpose: KeyPurpose
        let reason: String
        let answer: Answer
        var held: RequestProof
        var password: AppPassword
        var round = 1
        var stretchRound = 1
    }

    /// Opens a key, asks for the proofs that its access control requires, and uses it.
    ///
    /// - Parameter reason: the reason that a prompt shows if the caller gave none.
    func useKey(
        _ id: UInt64, _ name: EnclaveKeyName, _ authentication: Authentication, for purpose: KeyPurpose,
        reason: String, _ answer: @escaping Answer
    ) {
        do throws(Failure) {
            try useKey(
                KeyUse(
                    id: id, name: name, authentication: authentication, purpose: purpose, reason: reason,
                    answer: answer, held: requestProof(authentication.context),
                    password: try appPassword(authentication, keychain())))
        } catch {
            end(error, answer)
        }
    }

    private func useKey(_ use: KeyUse) throws(Failure) {
        let answer = use.answer
        let proof = try proof(of: use.held)
        let keychain = try keychain()
        let enclave = try enclave()
        switch try keychain.openKey(use.name, caller: caller, proof: proof, password: use.password) {
        case .needs(let plan):
            try ask(use, plan)
        case .stretch(let parameters):
            try checkStretchRounds(use.stretchRound)
            try stretch(use.authentication, [parameters], use.password.withoutKeys, answer) {
                [self] (password) throws(Failure) in
                var next = use
                next.password = password
                next.stretchRound += 1
                try useKey(next)
            }
        case .opened(let key):
            operate(enclave, answer) { [self] () throws(Failure) in
                do throws(Failure) {
                    try carryOut(use, key, proof, keychain, enclave)
                } catch {
                    guard error.status == .notPermitted else { throw error }
                    // The proofs were for another key, or the authority has dropped them.
                    return try ask(use, key.accessControl.plan)
                }
            }
        }
    }

    /// Uses an opened key, records the use in the audit log, and replies.
    private func carryOut(
        _ use: KeyUse, _ key: OpenedKey, _ proof: Authorisation, _ keychain: Keychain, _ enclave: Enclave
    ) throws(Failure) {
        let (caller, answer) = (caller, use.answer)
        let reply: Reply
        let record: @Sendable () throws(Failure) -> Void
        switch use.purpose {
        case .operation(let operation):
            reply = .enclaveResult(
                try enclave.perform(
                    operation, key.blob, rule: key.accessControl, proof: proof, password: key.password))
            guard let used = key.use else { return answer(reply) }
            record = { () throws(Failure) in try keychain.recordUse([used], caller: caller) }
        case .proof(let attestationKey, let nonce):
            reply = .attestationMessage(
                try enclave.attest(
                    key.blob, by: attestationKey, nonce: nonce, rule: key.accessControl, proof: proof))
            record = { () throws(Failure) in try keychain.recordAttestation(of: key.item, caller: caller) }
        }
        service.parts.work.submit(.oneItem) {
            do throws(Failure) {
                try record()
                answer(reply)
            } catch {
                answer(.failure(error))
            }
        }
    }

    /// Asks for the proofs of a key, then continues with them.
    private func ask(_ use: KeyUse, _ plan: AuthenticationPlan) throws(Failure) {
        try askThen(use.id, plan, use.authentication, use.round, reason: use.reason) {
            [self] (more) throws(Failure) in
            var next = use
            next.held = adding(more, to: use.held)
            next.round += 1
            try useKey(next)
        } answer: {
            use.answer($0)
        }
    }
}
