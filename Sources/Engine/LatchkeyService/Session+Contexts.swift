// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyPolicy

// The contexts of a connection and their proofs.

extension Session {
    func createContext() throws(Failure) -> Reply {
        guard let handle = ContextHandle(try service.parts.random.bytes(16).copyBytes()) else {
            throw Failure(.internalFailure, "The system returned no random bytes.")
        }
        let isTooMany = state.withLock { state in
            guard state.contexts.count < Limits.contexts else { return true }
            state.contexts[handle] = Context()
            return false
        }
        guard !isTooMany else {
            throw Failure(.limitExceeded, "One connection has at most \(Limits.contexts) contexts.")
        }
        return .context(handle)
    }

    func invalidate(_ handle: ContextHandle) throws(Failure) -> Reply {
        let context = state.withLock { $0.contexts.removeValue(forKey: handle) }
        guard let context else { throw Failure(.invalidContext, "The context was invalidated before.") }
        for evaluation in context.evaluations { service.authority.withdraw(evaluation, .appCancel) }
        return .done
    }

    /// Returns the valid proofs of a context; throws `invalidContext` if it is not a context of this connection.
    func proof(of handle: ContextHandle?) throws(Failure) -> Authorisation {
        guard let handle else { return .none }
        guard let context = state.withLock({ $0.contexts[handle] }) else {
            throw Failure(.invalidContext, "The context was invalidated, or belongs to another connection.")
        }
        return current(context.proof)
    }

    /// Returns the proofs without those by biometry of an earlier enrolment set (abuse case 32).
    func current(_ proof: Authorisation) -> Authorisation {
        proof.holding(for: service.authority.state.sensor.enrolment)
    }

    /// Incremented whenever all proofs of this session are revoked.
    var proofEpoch: UInt64 { state.withLock { $0.proofEpoch } }

    /// Revokes all proofs and grants of this session, and ends its export or import; for example when the device is locked.
    func forgetProofs() {
        state.withLock { state in
            for handle in state.contexts.keys { state.contexts[handle]?.proof = .none }
            state.grants = []
            state.backup = nil
            state.receiving = nil
            state.proofEpoch += 1
        }
        service.tickets.remove(of: self)
    }
}
