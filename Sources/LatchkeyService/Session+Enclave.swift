// SPDX-License-Identifier: Apache-2.0

import LatchkeyEnclave
import LatchkeyKeychain
import LatchkeyModel

// Private keys of the Secure Enclave. What a person proves is proven to the daemon, which then uses the key itself.

extension Session {
    private func enclave() throws(Failure) -> Enclave {
        guard let enclave = service.enclave else {
            throw Failure(
                .enclaveUnavailable, "There is no Secure Enclave here: this needs a TPM, or one made of software.",
                hint: "Choose software with a line \"enclave = software\" in \(service.parts.storePath)/latchkeyd.conf."
            )
        }
        return enclave
    }

    // MARK: - Making keys

    func createKey(_ id: UInt64, _ request: Request.CreateEnclaveKey, _ answer: @escaping Answer) throws(Failure) {
        let keychain = try keychain()
        let enclave = try enclave()
        try checkBiometry(request.accessControl)
        guard try keychain.addNeedsPasscode(request.accessControl) else {
            return createKey(request, keychain, enclave, answer)
        }
        if try proof(of: request.authentication.context).methods.contains(.passcode), keychain.tree.holdsPasscodeKey {
            return createKey(request, keychain, enclave, answer)
        }
        try askThen(
            id, AuthenticationPlan([[.passcode]]), request.authentication, 1,
            reason: "make a key that needs the passcode"
        ) { [self] _ in
            createKey(request, keychain, enclave, answer)
        } answer: {
            answer($0)
        }
    }

    private func createKey(
        _ request: Request.CreateEnclaveKey, _ keychain: Keychain, _ enclave: Enclave, _ answer: @escaping Answer
    ) {
        let caller = caller
        service.parts.work.submit(.oneItem) {
            do throws(Failure) {
                let made = try enclave.create(request.accessControl)
                let key = try keychain.addKey(
                    request.describing(made.publicKey), blob: made.blob, publicKey: made.publicKey, caller: caller)
                answer(.enclaveKey(key))
            } catch {
                answer(.failure(error))
            }
        }
    }

    func describeKey(_ name: EnclaveKeyName) throws(Failure) -> Reply {
        .enclaveKey(try keychain().describeKey(name, caller: caller))
    }

    // MARK: - Using keys

    func useKey(_ id: UInt64, _ request: Request.UseEnclaveKey, _ answer: @escaping Answer) {
        let held = requestProof(request.authentication.context)
        let use: @Sendable () -> Void = { [self] in
            do throws(Failure) {
                try useKey(id, request, held, round: 1, answer)
            } catch {
                end(error, answer)
            }
        }
        // A password is stretched, which takes its time.
        if request.authentication.applicationPassword == nil { use() } else { service.parts.work.submit(.any, use) }
    }

    private func useKey(
        _ id: UInt64, _ request: Request.UseEnclaveKey, _ held: RequestProof, round: Int, _ answer: @escaping Answer
    ) throws(Failure) {
        let proof = try proof(of: held)
        let keychain = try keychain()
        let enclave = try enclave()
        let opening = try keychain.openKey(
            request.name, caller: caller, proof: proof, password: request.authentication.applicationPassword)
        switch opening {
        case .needs(let plan):
            try askThen(id, plan, request.authentication, round, reason: "use a private key") {
                [self] (more) throws(Failure) in
                try useKey(id, request, adding(more, to: held), round: round + 1, answer)
            } answer: {
                answer($0)
            }
        case .opened(let key):
            let result = try enclave.perform(request.operation, key.blob, rule: key.accessControl, proof: proof)
            guard let use = key.use else { return answer(.enclaveResult(result)) }
            let caller = caller
            service.parts.work.submit(.oneItem) {
                do throws(Failure) {
                    try keychain.recordUse([use], caller: caller)
                    answer(.enclaveResult(result))
                } catch {
                    answer(.failure(error))
                }
            }
        }
    }
}
