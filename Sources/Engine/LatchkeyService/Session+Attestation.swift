// SPDX-License-Identifier: Apache-2.0

import LatchkeyKeychain
import LatchkeyModel
import LatchkeyPolicy
import LatchkeySeams
import Synchronization

// Enrolment of this device with relying parties, and proofs for its keys (docs/reference/device-proof.md).

extension Session {
    /// Asks the person whether the device may be identified to a relying party, and makes an attestation key.
    ///
    /// The TPM is not used before the person agreed: the endorsement key, which is the same for all relying parties, is
    /// read from it only then.
    func beginEnrolment(_ request: Request.BeginEnrolment, _ call: Call) async throws(Failure) -> Reply {
        guard RelyingParty.isName(request.party) else {
            throw Failure(
                .invalidParameter,
                "The name of a relying party has 1 to \(RelyingParty.nameCharacters) ASCII letters, digits and .-_:/@.",
                hint: "Use its domain, such as example.com.")
        }
        let (keychain, enclave, caller) = (try keychain(), try enclave(), caller)
        try enclave.checkAttests()
        try keychain.checkSealsAttestationKeys(caller)
        // Without a passcode nothing shows that a person agreed, and not a program.
        guard keychain.isPasscodeSet else {
            throw Failure(
                .passcodeNotSet, "A device is identified to a relying party only after its owner agreed at a prompt.",
                hint: "Set a passcode first, with: latchkey passcode set")
        }
        let prompting = Prompting(reason: request.party, interactionAllowed: request.interactionAllowed)
        let agreement = try await ask(
            call, Question(plan: Enclave.identificationPlan, prompting: prompting, purpose: .identifyDevice))
        let made: AttestationKey
        do throws(Failure) {
            made = try await operate(enclave) { [self] () throws(Failure) in
                guard !isClosed else { throw Refusal.failure(.systemCancel, nil) }
                try check(agreement)
                return try enclave.newAttestationKey(proof: agreement.proof)
            }
        } catch {
            throw await recorded(error, prompting)
        }
        let sealed = try await service.parts.work.run { () throws(Failure) in
            let sealed = try keychain.sealAttestationKey(made.blob, party: request.party, caller: caller)
            try keychain.record(.deviceIdentified, caller: caller)
            return sealed
        }
        return .enrolment(Reply.Enrolment(attestationKey: sealed, request: made.request))
    }

    /// Answers the challenge of the relying party. The person agreed when the attestation key was made.
    func answerEnrolment(_ request: Request.AnswerEnrolment) async throws(Failure) -> Reply {
        let enclave = try enclave()
        let key = try keychain().openAttestationKey(request.attestationKey, party: request.party, caller: caller)
        // Some TPMs compute their endorsement key for seconds each time, and uses of keys wait meanwhile. With one answer
        // at a time, a program that asks again and again delays each of them by one answer only.
        guard !service.isAnsweringChallenge.exchange(true, ordering: .relaxed) else {
            throw Failure(
                .limitExceeded, "Another challenge of a relying party is being answered.", hint: "Try again later.")
        }
        defer { service.isAnsweringChallenge.store(false, ordering: .relaxed) }
        do throws(Failure) {
            return .attestationMessage(
                try await operate(enclave) { () throws(Failure) in try enclave.answer(request.challenge, by: key) })
        } catch {
            throw await recorded(error, Prompting(interactionAllowed: false))
        }
    }

    /// Makes a proof for one key, with the checks and prompts of a use of the key.
    func proveKey(_ request: Request.ProveKey, _ call: Call) async throws(Failure) -> Reply {
        do throws(Failure) {
            guard Limits.nonceBytes.contains(request.nonce.count) else {
                throw Failure(
                    .invalidParameter,
                    "A nonce has \(Limits.nonceBytes.lowerBound) to \(Limits.nonceBytes.upperBound) bytes.",
                    hint: "Use the nonce of the relying party.")
            }
            try enclave().checkAttests()
            let key = try keychain().openAttestationKey(request.attestationKey, party: request.party, caller: caller)
            return try await useKey(
                request.name, request.authentication, for: .proof(by: key, nonce: request.nonce),
                reason: "prove to \(request.party) that a private key cannot leave this device", call)
        } catch {
            throw await recorded(error, request.authentication.prompting)
        }
    }
}
