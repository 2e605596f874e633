// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
import LatchkeySeams

// Approvals of uses of keys: `latchkey-authd` gives them, because it saw the person.

extension RemoteAuthority {
    package func binding(storeID: [UInt8], _ rule: AccessControl) throws(Failure) -> KeyBinding {
        let call = AuthorityCall.BindKey(userID: userID, storeID: storeID, rule: rule)
        switch try link.call(.bindKey(call)) {
        case .keyBinding(let binding): return binding
        case .failure(let failure): throw failure
        default: throw AuthorityLink.otherReply
        }
    }

    package func approve(_ request: KeyApprovalRequest) throws(Failure) -> KeyApproval {
        var request = request
        request.tokens = request.tokens.suffix(Limits.approvalTokens)
        switch try link.call(.approve(AuthorityCall.Approve(userID: userID, request: request))) {
        case .approved(let approval): return approval
        case .failure(let failure): throw failure
        default: throw AuthorityLink.otherReply
        }
    }
}
