// SPDX-License-Identifier: Apache-2.0

import LatchkeyKeychain
import LatchkeyModel
import LatchkeyPolicy

// Uses of private keys of the Secure Enclave: operations, and proofs for relying parties.

extension Session {
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
        var authentication: Authentication
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
                    // The proofs were for another key, or the authority has dropped them. One unlock of the device must
                    // not serve any number of keys.
                    var fresh = use
                    fresh.authentication.reuseSeconds = 0
                    return try ask(fresh, key.accessControl.plan)
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
