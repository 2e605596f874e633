// SPDX-License-Identifier: Apache-2.0

import LatchkeyKeychain
package import LatchkeyModel
import LatchkeyPolicy
package import LatchkeySeams
import Synchronization

// The calls of the authority, and the check of its tokens.

extension Service: AuthorityClient {
    package func adopt(_ set: EnrolmentSet?) throws(Failure) {
        // Without a keychain there is nothing bound to an enrolment set.
        guard case .success(let keychain) = self.keychain else { return }
        _ = try keychain.follow(set)
    }

    package func open(_ passcode: PasscodeSecret) throws(Failure) -> PasscodeVerdict {
        let keychain = try self.keychain.get()
        guard try keychain.unlock(passcode) else {
            keeper?.passcodeWasWrong()
            return .wrong
        }
        return .right
    }

    /// Not called: the password of an account is verified in `latchkey-authd`, which sends the key of the slot.
    package func open(accountPassword: SecretBytes, previous: SecretBytes?) throws(Failure) -> PasscodeVerdict {
        throw Failure(.internalFailure, "The password of an account is not verified in this process.")
    }

    package func replaceSlot(_ slotKey: SecretBytes, passcodeID: [UInt8]) throws(Failure) {
        try self.keychain.get().followAccountPassword(to: .slotKey(slotKey, passcodeID: passcodeID))
    }

    package func recoveryOpens(_ rootKey: SecretBytes) throws(Failure) -> Bool {
        guard let recovery = parts.recovery else {
            throw Failure(.notPermitted, "In tier \(parts.tier.name) there is no recovery code for the keychain.")
        }
        return try recovery.opens(rootKey)
    }

    package func recoveryCopy() throws(Failure) -> [UInt8] { try parts.recovery?.copy() ?? [] }

    package func keepRecovery(copy: [UInt8]) throws(Failure) {
        // Without a vault that a code opens, a copy would be of no use.
        try parts.recovery?.keep(copy: copy)
    }

    package func counted(_ counters: PolicyCounters) { keeper?.follow(counters) }

    package func authorityWasLost() {
        forgetProofs()
        environments.follow(authority.state)
    }

    package func countersWereLost() throws(Failure) { try self.keychain.get().record(.countersLost, caller: nil) }

    package func refused(_ source: UntrustedSource, count: UInt64) {
        // The thread that reports it receives messages, so it must not wait for the store.
        parts.work.submit(.any) { [self] in
            parts.log.noting(.refusalNotRecorded) { () throws(Failure) in
                try self.keychain.get().record(source.auditEvent, caller: nil, count: count)
            }
        }
    }

    /// The result of an evaluation whose token was checked.
    enum Evaluated: Sendable {
        case granted(Authorisation)
        case denied(Status)
        /// Refused for a cause that the status alone does not name.
        case failed(Failure)
    }

    /// Starts an evaluation, and checks the token that answers it.
    ///
    /// - Parameters:
    ///   - subject: what the proofs are for: the bytes that name an item or a key; empty for a policy.
    ///   - acceptsWeak: whether the plan is that of a policy, which a weak sensor can answer.
    ///   - completion: called exactly once; with what the user entered, if the last step asks for something.
    /// - Returns: the number of the evaluation; 0 if it was refused before it began.
    func evaluate(
        _ plan: AuthenticationPlan, asker: Asker, prompting: Prompting, purpose: PromptPurpose = .app,
        lastStep: RequestedStep = .none, reuseSeconds: UInt64 = 0, keyUses: KeyUses = .one, subject: [UInt8] = [],
        acceptsWeak: Bool = false,
        completion: @escaping @Sendable (Evaluated, EnteredSecret?) -> Void
    ) -> UInt64 {
        let expectation: TokenExpectation
        do throws(Failure) {
            let challenge = try parts.random.bytes(AuthToken.digestBytes).copyBytes()
            expectation = TokenExpectation(
                connection: authority.connection, challenge: challenge, userID: parts.userID, purpose: purpose,
                binding: try TokenBinding.digest(plan, asker, subject: subject, challenge: challenge), plan: plan,
                caller: asker.caller,
                evaluation: evaluations.add(1, ordering: .relaxed).newValue, acceptsVirtual: parts.acceptsVirtual,
                acceptsWeak: acceptsWeak)
        } catch {
            completion(.failed(error), nil)
            return 0
        }
        var request = AuthenticationRequest(
            plan: plan, asker: asker, prompting: prompting, purpose: purpose, lastStep: lastStep,
            reuseSeconds: reuseSeconds, keyUses: keyUses, challenge: expectation.challenge, binding: expectation.binding
        )
        request.acceptsWeak = acceptsWeak
        // The answer arrives once, so the challenge is accepted once: it exists only in this closure.
        return authority.evaluate(request) { [self] answer in
            switch answer {
            case .denied(let status): completion(.denied(status), nil)
            case .failed(let failure): completion(.failed(failure), nil)
            case .granted(let token, let entered):
                if let proof = check(token, expectation) {
                    completion(.granted(proof), entered)
                } else {
                    completion(.denied(.systemCancel), nil)
                }
            }
        }
    }

    /// Returns the authorisation that a token proves; nil, with an entry in the log, if the token is not accepted.
    private func check(_ token: AuthToken, _ expectation: TokenExpectation) -> Authorisation? {
        let failure: Failure
        do throws(Failure) {
            let code = try authority.code(of: token)
            do throws(TokenFlaw) {
                return try Authorisation(
                    token, answering: expectation, code: code, now: parts.clock.uptime, bootID: parts.clock.bootID)
            } catch {
                failure = Failure(.internalFailure, "A token was refused: \(error.rawValue).")
            }
        } catch {
            failure = error
        }
        parts.log.note(.tokenRefused, failure)
        return nil
    }
}
