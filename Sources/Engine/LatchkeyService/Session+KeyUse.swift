// SPDX-License-Identifier: Apache-2.0

import LatchkeyKeychain
import LatchkeyModel
import LatchkeyPolicy

// Uses of private keys of the Secure Enclave: operations, and proofs for relying parties.

extension Session {
    func useKey(_ request: Request.UseEnclaveKey, _ call: Call) async throws(Failure) -> Reply {
        do throws(Failure) {
            return try await useKey(
                request.name, request.authentication, for: .operation(request.operation), reason: "use a private key",
                call, shownAs: try await asker(request.process))
        } catch {
            throw await recorded(error, request.authentication.prompting)
        }
    }

    /// The program that prompts name in place of the caller, which uses a key for it; nil for the caller.
    private func asker(_ process: ProcessName?) async throws(Failure) -> Caller? {
        guard let process else { return nil }
        let agent = caller
        return try await named(process) { (callers) throws(Failure) in try callers.asker(process, namedBy: agent) }
    }

    /// What a key is opened for.
    enum KeyPurpose: Sendable {
        case operation(EnclaveOperation)
        /// A proof for a relying party.
        case proof(by: SecretBytes, nonce: [UInt8])
    }

    /// Opens a key, asks for the proofs that its access control requires, and uses it.
    ///
    /// - Parameters:
    ///   - reason: the reason that a prompt shows if the caller gave none.
    ///   - asker: the program that prompts name; nil for the caller.
    func useKey(
        _ name: EnclaveKeyName, _ authentication: Authentication, for purpose: KeyPurpose, reason: String, _ call: Call,
        shownAs asker: Caller? = nil
    ) async throws(Failure) -> Reply {
        var authentication = authentication
        var held = requestProof(authentication.context)
        var password = try appPassword(authentication, keychain())
        var stretchRound = 0
        // The key, after it was found to need a proof.
        var item: [UInt8] = []
        var preparation: UInt64?
        var isUsed = false
        defer { if let preparation { service.preparations.end(preparation, isUsed: isUsed) } }
        while true {
            let proof = try proof(of: held)
            let (keychain, enclave) = (try keychain(), try enclave())
            let missing: AuthenticationPlan
            switch try keychain.openKey(name, caller: caller, proof: proof, password: password) {
            case .needs(let plan, let key): (missing, item) = (plan, key)
            case .stretch(let parameters):
                stretchRound += 1
                try checkStretchRounds(stretchRound)
                password = try await stretched(password.withoutKeys, [parameters], authentication)
                continue
            case .opened(let key):
                do throws(Failure) {
                    let reply = try await use(key, for: purpose, proof, keychain, enclave)
                    isUsed = true
                    return reply
                } catch {
                    guard error.status == .notPermitted else { throw error }
                    // The proofs were for another key, or the authority has dropped them. One unlock of the device must
                    // not serve any number of keys.
                    authentication.reuseSeconds = 0
                    missing = key.accessControl.plan
                }
            }
            if preparation == nil, case .operation = purpose, authentication.prompting.interactionAllowed {
                preparation = service.preparations.add(
                    name, caller, shownAs: asker, keychain, enclave)
            }
            try await prove(missing, call, authentication, &held, reason: reason, shownAs: asker, for: item)
        }
    }

    /// Uses an opened key, and records the use in the audit log.
    private func use(
        _ key: OpenedKey, for purpose: KeyPurpose, _ proof: Authorisation, _ keychain: Keychain, _ enclave: Enclave
    ) async throws(Failure) -> Reply {
        let (caller, biometry) = (caller, service.authority.state.sensor.kind)
        let reply: Reply
        let record: @Sendable () throws(Failure) -> Void
        switch purpose {
        case .operation(let operation):
            reply = .enclaveResult(
                try await operate(enclave) { () throws(Failure) in
                    try enclave.perform(
                        operation, key.blob, accessControl: key.accessControl, proof: proof, password: key.password)
                })
            guard let used = key.use else { return reply }
            record = { () throws(Failure) in try keychain.recordUse([used], caller: caller, biometry: biometry) }
        case .proof(let attestationKey, let nonce):
            reply = .attestationMessage(
                try await operate(enclave) { () throws(Failure) in
                    try enclave.attest(
                        key.blob, by: attestationKey, nonce: nonce, accessControl: key.accessControl, proof: proof)
                })
            record = { () throws(Failure) in
                try keychain.recordAttestation(of: key.item, caller: caller, biometry: biometry)
            }
        }
        try await service.parts.work.run(.oneItem, record)
        return reply
    }
}
