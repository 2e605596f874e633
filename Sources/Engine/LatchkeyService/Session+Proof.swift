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
}

extension Session {
    /// Returns the proofs of a new request.
    func requestProof(_ context: ContextHandle?) -> RequestProof { RequestProof(context: context, epoch: proofEpoch) }

    /// Returns the proofs that are valid now; throws `invalidContext` if the context was invalidated.
    func proof(of request: RequestProof) throws(Failure) -> Authorisation {
        let held = try proof(of: request.context)
        // Most requests have no proofs of their own; the state of the authority costs more than these are worth.
        guard !request.own.isEmpty, request.epoch == proofEpoch else { return held }
        return held.union(current(request.own))
    }

    /// Returns the proofs with `more` added; proofs from before a revocation are dropped.
    func adding(_ more: Authorisation, to request: RequestProof) -> RequestProof {
        var request = request
        let epoch = proofEpoch
        request.own = request.epoch == epoch ? current(request.own).union(more) : more
        request.epoch = epoch
        return request
    }
}
