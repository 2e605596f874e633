// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
import LatchkeyKeychain
package import LatchkeyModel
import LatchkeyPolicy
package import LatchkeySeams
import Synchronization

// The calls of the authority, and the check of its tokens.

extension Service: KeychainService {
    package func adopt(_ set: EnrolmentSet?) throws(Failure) {
        // Without a keychain there is nothing bound to an enrolment set.
        guard case .success(let keychain) = self.keychain else { return }
        _ = try keychain.apply(set)
    }

    package func open(_ passcode: SecretBytes) throws(Failure) -> PasscodeVerdict {
        try opens(.typed(passcode)) ? .right(nil) : .wrong
    }

    package func openSlot(_ slotKey: SecretBytes, passcodeID: [UInt8]) throws(Failure) -> Bool {
        try opens(.slotKey(slotKey, passcodeID: passcodeID))
    }

    private func opens(_ passcode: PasscodeSecret) throws(Failure) -> Bool {
        try self.keychain.get().unlock(passcode)
    }

    package func replaceSlot(_ slotKey: SecretBytes, passcodeID: [UInt8]) throws(Failure) {
        try self.keychain.get().replaceSlot(with: .slotKey(slotKey, passcodeID: passcodeID))
    }

    package func counted(_ counters: PolicyCounters) { maintenance?.apply(counters) }

    package func authorityWasLost() {
        forgetProofs()
        environments.apply(authority.state)
    }

    package func countersWereLost() throws(Failure) { try self.keychain.get().record(.countersLost, caller: nil) }

    package func tryFailed(_ proof: TriedProof) { maintenance?.tryFailed(proof, of: nil, []) }

    package func refused(_ source: UntrustedSource, count: UInt64) {
        // The thread that reports it receives messages, so it must not wait for the store.
        parts.work.submit(.any) { [self] in
            parts.log.recording(.refusalNotRecorded) { () throws(Failure) in
                try self.keychain.get().record(source.auditEvent, caller: nil, count: count)
            }
        }
    }

    /// Carries out an event on the write queue and reports it to the authority before the next write, so that both see
    /// events in one order.
    ///
    /// - Parameters:
    ///   - event: returns the failure of an event that has happened nevertheless; the authority has to apply that too.
    ///   - then: called before the authority processes a later event; the request waits until it calls its argument.
    /// - Throws: the failure of the event, or that of the authority.
    func carryOut(
        _ change: AuthorityChange, _ event: @escaping @Sendable () throws(Failure) -> Failure?,
        then: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void = { $0() }
    ) async throws(Failure) {
        let failure = try await parts.work.begin { [self] (end) throws(Failure) in
            let incomplete = try event()
            authority.report(change) { failure in then { end(incomplete ?? failure) } }
        }
        if let failure { throw failure }
    }

    /// Starts an evaluation, and checks the token that answers it.
    ///
    /// - Parameters:
    ///   - request: its challenge and its binding are added here.
    ///   - named: `caller` under its name of now, for failed tries: as this service identified it, also if the authority is
    ///     another process.
    ///   - asker: the program that the prompt names; otherwise `caller`.
    ///   - subject: what the proofs are for: the bytes that name an item or a key; empty for a policy.
    ///   - item: the item that failed tries are recorded for, by its identifier in the audit log; empty if it is not known.
    ///   - completion: called exactly once; with what the user entered, if the last step asks for something. A failure
    ///     without a message is a refusal that its status describes.
    /// - Returns: the number of the evaluation; 0 if it was refused before it began.
    func evaluate(
        _ request: AuthenticationRequest, of caller: Caller, named: Caller, shownAs asker: Caller, subject: [UInt8],
        item: [UInt8],
        completion: @escaping @Sendable (Result<Authorisation, Failure>, AuthenticationGrant.Entered?) -> Void
    ) -> UInt64 {
        var request = request
        let expectation: TokenExpectation
        do throws(Failure) {
            request.challenge = try parts.random.bytes(AuthToken.digestBytes).copyBytes()
            request.binding = try TokenBinding.digest(
                request.plan, caller, subject: subject, challenge: request.challenge)
            expectation = TokenExpectation(
                connection: authority.connection, challenge: request.challenge, userID: parts.userID,
                purpose: request.purpose, binding: request.binding, plan: request.plan, caller: caller,
                evaluation: evaluations.add(1, ordering: .relaxed).newValue, acceptsVirtual: parts.acceptsVirtual,
                acceptsWeak: request.acceptsWeak)
        } catch {
            completion(.failure(error), nil)
            return 0
        }
        // The answer arrives once, so the challenge is accepted once: it exists only in this closure.
        return authority.evaluate(request, of: asker) { [weak self] proof in
            self?.maintenance?.tryFailed(proof, of: named, item)
        } _: { [self] answer in
            switch answer {
            case .failure(let failure): completion(.failure(failure), nil)
            case .success(let grant):
                if let proof = check(grant.token, expectation) {
                    completion(.success(proof), grant.entered)
                } else {
                    completion(.failure(Failure(.systemCancel)), nil)
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
        parts.log.record(.tokenRefused, failure)
        return nil
    }
}

/// What a token is bound to besides the caller's user: the access control, the subject, the app and its session.
enum TokenBinding {
    /// Returns HMAC-SHA-256 of the fields under the challenge of the request, 32 bytes. The count of every field
    /// precedes it, so that no two requests have the same input.
    static func digest(
        _ plan: AuthenticationPlan, _ caller: Caller, subject: [UInt8], challenge: [UInt8]
    ) throws(Failure) -> [UInt8] {
        guard let key = SymmetricKey(SecretBytes(challenge)) else {
            throw Failure(.internalFailure, "A challenge has the wrong length.")
        }
        var message = CryptographicLabel.binding.bytes + [0]
        func append(_ field: [UInt8]) {
            withUnsafeBytes(of: UInt32(truncatingIfNeeded: field.count).bigEndian) { message.append(contentsOf: $0) }
            message += field
        }
        append(plan.stages.map { stage in stage.reduce(0 as UInt8) { $0 | 1 << $1.rawValue } })
        append(subject)
        append(Array(caller.application.utf8))
        append(withUnsafeBytes(of: caller.session.bigEndian) { Array($0) })
        return try key.authenticationCode(message)
    }
}
