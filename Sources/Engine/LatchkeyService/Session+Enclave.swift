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

    func createKey(_ request: Request.CreateEnclaveKey, _ call: Call) async throws(Failure) -> Reply {
        let (keychain, enclave, caller) = (try keychain(), try enclave(), caller)
        try checkBiometry(request.accessControl)
        try await openPasscodeClass(
            for: request.accessControl, request.authentication, call, keychain,
            reason: "make a key that needs the passcode")
        let given = try appPassword(request.authentication, keychain)
        let parameters = try keychain.stretchingToAdd(request.accessControl, given)
        let password = try await stretched(given, parameters, request.authentication)
        let made: ModuleKey
        let properties: KeyProperties
        do throws(Failure) {
            (made, properties) = try await operate(enclave) { () throws(Failure) in
                let properties = try keychain.properties(ofNewKey: request.accessControl, password)
                return (try enclave.create(properties), properties)
            }
        } catch {
            throw await recorded(error, request.authentication.prompting)
        }
        do throws(Failure) {
            return .enclaveKey(
                try await service.parts.work.run(.oneItem) { () throws(Failure) in
                    try keychain.addKey(
                        request.describing(made.publicKey), blob: made.blob, publicKey: made.publicKey,
                        caller: caller, enrolment: properties.enrolment, password: password,
                        demandsPasscode: enclave.needsPasscode(made.blob))
                })
        } catch {
            let failure = error
            // If erasing fails too, the module retains a key whose blob is lost: it can never be used again.
            try await operate(enclave) { [log = service.parts.log] () throws(Failure) in
                log.recording(.unstoredKeyNotErased) { () throws(Failure) in try enclave.erase(made.blob) }
            }
            throw failure
        }
    }

    // MARK: - The status

    /// Answers with the status. The device of the enclave is asked what it is if that is not known.
    func status() -> Handling {
        guard let module = service.parts.keyModule, module.kind == .tpm, module.device == nil, !module.isImmediate
        else {
            return .reply(.status(service.status(caller)))
        }
        return .waits { [self] () async throws(Failure) in
            try await service.parts.keyWork.run { [self] () throws(Failure) in
                // The status says of a device that cannot be asked that its kind is not known; uses of its keys say why.
                try? module.findDevice()
                return .status(service.status(caller))
            }
        }
    }

    // MARK: - The thread of key operations

    /// Runs operations of the key module: on this thread if the module only computes, otherwise on the queue of key
    /// operations, in order of submission. So no thread that serves several clients waits for a device.
    func operate<Value: Sendable>(
        _ enclave: Enclave, _ body: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        if enclave.isImmediate { try body() } else { try await service.parts.keyWork.run(.any, body) }
    }

    func describeKey(_ name: EnclaveKeyName) throws(Failure) -> Reply {
        .enclaveKey(try keychain().describeKey(name, caller: caller))
    }
}
