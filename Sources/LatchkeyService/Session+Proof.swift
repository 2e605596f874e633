// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyPolicy

/// What a request may go by: what its context holds, and what was proven for it alone while it ran.
///
/// A request may wait for a person for a minute. What it takes along is looked at anew each time, since a lock or another
/// finger may have made it void meanwhile.
struct RequestProof: Sendable {
    fileprivate let context: ContextHandle?
    fileprivate var own = Authorisation.none
    fileprivate var epoch: UInt64
}

extension Session {
    /// What a request begins with.
    func requestProof(_ context: ContextHandle?) -> RequestProof { RequestProof(context: context, epoch: proofEpoch) }

    /// What holds of it now; throws when the context is gone.
    func proof(of request: RequestProof) throws(Failure) -> Authorisation {
        let held = try proof(of: request.context)
        guard request.epoch == proofEpoch else { return held }
        return held.union(current(request.own))
    }

    /// The same with what was proven besides. What was proven before a lock counts no more.
    func adding(_ more: Authorisation, to request: RequestProof) -> RequestProof {
        var request = request
        let epoch = proofEpoch
        request.own = request.epoch == epoch ? current(request.own).union(more) : more
        request.epoch = epoch
        return request
    }
}
