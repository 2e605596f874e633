// SPDX-License-Identifier: Apache-2.0

import LatchkeyKeychain
import LatchkeyModel
import LatchkeyPolicy
import LatchkeySeams
import Synchronization

// Enrolment of this device with relying parties, and proofs for its keys (docs/device-proof.md).

extension Session {
    /// Asks the person whether the device may be identified to a relying party, and makes an attestation key.
    ///
    /// The TPM is not used before the person agreed: the endorsement key, which is the same for all relying parties, is
    /// read from it only then.
    func beginEnrolment(
        _ id: UInt64, _ request: Request.BeginEnrolment, _ answer: @escaping Answer
    ) throws(Failure) {
        guard RelyingParty.isName(request.party) else {
            throw Failure(
                .invalidParameter,
                "The name of a relying party has 1 to \(RelyingParty.nameCharacters) ASCII letters, digits and .-_:/@.",
                hint: "Use its domain, such as example.com.")
        }
        let (keychain, enclave) = (try keychain(), try enclave())
        try enclave.checkAttests()
        try keychain.checkSealsAttestationKeys(caller)
        // Without a passcode nothing shows that a person agreed, and not a program.
        guard keychain.isPasscodeSet else {
            throw Failure(
                .passcodeNotSet, "A device is identified to a relying party only after its owner agreed at a prompt.",
                hint: "Set a passcode first, with: latchkey passcode set")
        }
        let epoch = proofEpoch
        askOwnerToEnter(
            id, Enclave.identificationPlan, for: .identifyDevice, party: request.party,
            interactionAllowed: request.interactionAllowed
        ) { [self] asked, _ in
            switch asked {
            case .denied(let failure): deny(failure, interactionAllowed: request.interactionAllowed, answer)
            case .granted(let proof):
                operate(enclave, answer) { [self] () throws(Failure) in
                    guard !isClosed, epoch == proofEpoch else { throw Refusal.failure(.systemCancel, nil) }
                    store(try enclave.newAttestationKey(proof: proof), request.party, keychain, answer)
                }
            }
        }
    }

    /// Records an enrolment in the audit log, then replies with the sealed attestation key.
    private func store(
        _ made: AttestationKey, _ party: String, _ keychain: Keychain, _ answer: @escaping Answer
    ) {
        let caller = caller
        service.parts.work.submit(.any) {
            do throws(Failure) {
                let sealed = try keychain.sealAttestationKey(made.blob, party: party, caller: caller)
                try keychain.record(.deviceIdentified, caller: caller)
                answer(.enrolment(Reply.Enrolment(attestationKey: sealed, request: made.request)))
            } catch {
                answer(.failure(error))
            }
        }
    }

    /// Answers the challenge of the relying party. The person agreed when the attestation key was made.
    func answerEnrolment(_ request: Request.AnswerEnrolment, _ answer: @escaping Answer) throws(Failure) {
        let enclave = try enclave()
        let key = try keychain().openAttestationKey(request.attestationKey, party: request.party, caller: caller)
        // Some TPMs compute their endorsement key for seconds each time, and uses of keys wait meanwhile. With one answer
        // at a time, a program that asks again and again delays each of them by one answer only.
        guard !service.isAnsweringChallenge.exchange(true, ordering: .relaxed) else {
            throw Failure(
                .limitExceeded, "Another challenge of a relying party is being answered.", hint: "Try again later.")
        }
        operate(enclave, answer) { [service] () throws(Failure) in
            let message = Result { () throws(Failure) in try enclave.answer(request.challenge, by: key) }
            service.isAnsweringChallenge.store(false, ordering: .relaxed)
            answer(.attestationMessage(try message.get()))
        }
    }

    /// Makes a proof for one key, with the checks and prompts of a use of the key.
    func proveKey(_ id: UInt64, _ request: Request.ProveKey, _ answer: @escaping Answer) {
        do throws(Failure) {
            guard Limits.nonceBytes.contains(request.nonce.count) else {
                throw Failure(
                    .invalidParameter,
                    "A nonce has \(Limits.nonceBytes.lowerBound) to \(Limits.nonceBytes.upperBound) bytes.",
                    hint: "Use the nonce of the relying party.")
            }
            try enclave().checkAttests()
            let key = try keychain().openAttestationKey(
                request.attestationKey, party: request.party, caller: caller)
            useKey(
                id, request.name, request.authentication, for: .proof(by: key, nonce: request.nonce),
                reason: "prove to \(request.party) that a private key cannot leave this device", answer)
        } catch {
            end(error, answer)
        }
    }
}
