// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
import LatchkeySeams
import Synchronization
import TestSupport

/// A stand-in for the authority of a user, which approves uses of the keys of `ApprovingKeyModule` for every token.
package final class StandInApprover: KeyApprover {
    private let refusal: Mutex<Failure?>
    private let received = Recorder<KeyApprovalRequest>()

    /// Creates an approver that refuses with `refusal`, or approves if it is nil.
    package init(refusal: Failure? = nil) { self.refusal = Mutex(refusal) }

    /// The requests so far.
    package var requests: [KeyApprovalRequest] { received.all }

    package func binding(storeID: [UInt8], _ accessControl: AccessControl) throws(Failure) -> KeyBinding {
        KeyBinding(authority: [], reference: [])
    }

    package func approve(_ request: KeyApprovalRequest) throws(Failure) -> KeyApproval {
        received.add(request)
        if let refusal = refusal.withLock({ $0 }) { throw refusal }
        return KeyApproval(expirySeconds: 60, signature: request.nonce + request.subject.parameters)
    }
}
