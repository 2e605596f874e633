// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyPolicy

/// The proofs usable by one request: those of its context, and those obtained while it runs.
///
/// A request may wait a minute for the user. Its proofs are validated again at each use, since a lock or an enrolment
/// change may have revoked them meanwhile.
struct RequestProof: Sendable {
    fileprivate let context: ContextHandle?
    fileprivate var own = Authorisation.none
    fileprivate var epoch: UInt64
    /// The number of prompts so far.
    fileprivate(set) var rounds = 0
}

extension Session {
    /// Maximum number of prompts within one request (behaviour AC-13).
    static let roundsOfAsking = 20

    /// Returns the proofs of a new request.
    func requestProof(_ context: ContextHandle?) -> RequestProof { RequestProof(context: context, epoch: proofEpoch) }

    /// Returns the proofs that are valid now; throws `invalidContext` if the context was invalidated.
    func proof(of request: RequestProof) throws(Failure) -> Authorisation {
        let held = try proof(of: request.context)
        // Most requests have no proofs of their own; the state of the authority costs more than these are worth.
        guard !request.own.isEmpty, request.epoch == proofEpoch else { return held }
        return held.union(current(request.own))
    }

    /// Shows a prompt for the proofs that an item or a key requires, and adds them to those of the request; proofs from
    /// before a revocation are dropped.
    ///
    /// The authority shows no prompt if it accepts a recent unlock of the device instead (behaviour LA-33), so that it
    /// also answers a request that allows none.
    func prove(
        _ plan: AuthenticationPlan, _ call: Call, _ authentication: Authentication, _ request: inout RequestProof,
        reason: String = "read a protected item"
    ) async throws(Failure) {
        let interactionAllowed = authentication.prompting.interactionAllowed
        let notAllowed = Failure(
            .interactionNotAllowed, "The item requires authentication, and a prompt is not allowed.")
        guard interactionAllowed || authentication.reuseSeconds > 0 else { throw notAllowed }
        guard request.rounds < Self.roundsOfAsking else {
            throw Failure(.itemAuthenticationFailed, "The request required authentication too many times.")
        }
        request.rounds += 1
        var prompting = authentication.prompting
        if prompting.reason.isEmpty { prompting.reason = reason }
        // Under a policy, "Enter Password" makes the app ask for its own password (behaviour LA-24). In an item
        // request it only makes the request fail (behaviour AC-12), so the button is shown only if the app set its
        // title.
        let takesPasscode = plan.stages.contains { $0.contains(.passcode) }
        if !takesPasscode, prompting.fallbackTitle == nil { prompting.fallbackTitle = "" }
        let agreement: Agreement
        do throws(Failure) {
            agreement = try await ask(
                call,
                Question(
                    plan: plan, context: authentication.context, prompting: prompting,
                    reuseSeconds: authentication.reuseSeconds))
        } catch {
            throw interactionAllowed ? error : notAllowed
        }
        let epoch = agreement.answeredIn
        request.own = request.epoch == epoch ? current(request.own).union(agreement.proof) : agreement.proof
        request.epoch = epoch
    }
}
