// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
package import LatchkeySeams

// Approvals of uses of keys: `latchkey-authd` gives them, because it saw the person.

extension RemoteAuthority {
    package func binding(storeID: [UInt8], _ rule: AccessControl) throws(Failure) -> KeyBinding {
        let call = AuthorityCall.BindKey(userID: userID, storeID: storeID, rule: rule)
        switch try link.call(.bindKey(call)) {
        case .keyBinding(let binding):
            return KeyBinding(authority: binding.authority, reference: binding.reference)
        case .failure(let failure): throw failure
        default: throw AuthorityLink.otherReply
        }
    }

    package func approve(_ request: KeyApprovalRequest) throws(Failure) -> KeyApproval {
        let subject = request.subject
        let call = AuthorityCall.Approve(
            userID: userID, storeID: request.storeID, rule: request.rule, keyName: subject.keyName,
            command: subject.command, parameters: subject.parameters, reference: subject.policyReference,
            nonce: request.nonce, tokens: Array(request.tokens.suffix(Limits.approvalTokens)))
        switch try link.call(.approve(call)) {
        case .approved(let approval):
            guard let seconds = Int32(exactly: approval.expirySeconds) else { throw AuthorityLink.otherReply }
            return KeyApproval(expirySeconds: seconds, signature: approval.signature)
        case .failure(let failure): throw failure
        default: throw AuthorityLink.otherReply
        }
    }
}
