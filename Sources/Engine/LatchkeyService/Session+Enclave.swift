// SPDX-License-Identifier: Apache-2.0

import LatchkeyKeychain
import LatchkeyModel
import LatchkeySeams

// Private keys of the Secure Enclave. The user authenticates to the daemon, which then uses the key on behalf of the
// app.

extension Session {
    func enclave() throws(Failure) -> Enclave {
        guard let enclave = service.enclave else {
            let parts = service.parts
            throw Self.enclaveUnavailable(parts.tier, storePath: parts.storePath)
        }
        return enclave
    }

    /// The failure without an enclave, whose hint says where software is chosen and what has to read that.
    static func enclaveUnavailable(_ tier: Tier, storePath: String) -> Failure {
        switch tier {
        case .user, .simulated:
            Failure(
                .enclaveUnavailable, "No Secure Enclave is available: it needs a TPM, or the software implementation.",
                hint:
                    "Choose software with a line \"enclave = software\" in \(storePath)/latchkeyd.conf, and then: "
                    + "latchkey restart")
        case .file, .tpm:
            // One service for all users, with a configuration that only root writes.
            Failure(
                .enclaveUnavailable, "No Secure Enclave is available: it needs a TPM, or the software implementation.",
                hint:
                    "As root, choose software with a line \"enclave = software\" in /etc/latchkey/latchkeyd.conf, and then: "
                    + "systemctl restart latchkeyd")
        }
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
        let password = try appPassword(request.authentication, keychain)
        let parameters = try keychain.stretchingToAdd(request.accessControl, password)
        try stretch(request.authentication, parameters, password, answer) { [self] password in
            operate(enclave, answer) { [self] () throws(Failure) in
                let properties = try keychain.properties(ofNewKey: request.accessControl, password)
                let made = try enclave.create(properties)
                service.parts.work.submit(.oneItem) { [self] in
                    store(made, request, properties, password, keychain, enclave, answer)
                }
            }
        }
    }

    /// Stores a key that the module has made; if that fails, erases it.
    private func store(
        _ made: ModuleKey, _ request: Request.CreateEnclaveKey, _ properties: KeyProperties, _ password: AppPassword,
        _ keychain: Keychain, _ enclave: Enclave, _ answer: @escaping Answer
    ) {
        do throws(Failure) {
            let key = try keychain.addKey(
                request.describing(made.publicKey), blob: made.blob, publicKey: made.publicKey, caller: caller,
                enrolment: properties.enrolment, password: password, demandsPasscode: enclave.needsPasscode(made.blob))
            answer(.enclaveKey(key))
        } catch {
            erase(made, enclave)
            answer(.failure(error))
        }
    }

    /// Erases a key that was created and could not be stored.
    private func erase(_ key: ModuleKey, _ enclave: Enclave) {
        operate(enclave) { [log = service.parts.log] in
            // If this fails too, the module keeps a key whose blob is lost: it can never be used again.
            log.noting(.unstoredKeyNotErased) { () throws(Failure) in try enclave.erase(key.blob) }
        }
    }

    // MARK: - The status

    /// Answers with the status. The device of the enclave is asked what it is if that is not known.
    func status(_ answer: @escaping Answer) {
        guard let module = service.parts.keyModule, module.kind == .tpm, module.device == nil, !module.isImmediate
        else {
            return answer(.status(service.status(caller)))
        }
        service.parts.keyWork.submit(.any) { [self] in
            // The status says of a device that cannot be asked that its kind is not known; uses of its keys say why.
            try? module.findDevice()
            answer(.status(service.status(caller)))
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
}
