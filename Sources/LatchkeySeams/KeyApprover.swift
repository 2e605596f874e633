// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

/// The role that approves uses of keys whose module checks approvals itself. It is the authority of the user, so that
/// who stores a key cannot use it without the person.
///
/// All calls block.
package protocol KeyApprover: AnyObject, Sendable {
    /// Returns what binds a new key to this authority.
    ///
    /// - Throws: `invalidParameter` for an access control that cannot be bound, such as one with a paired device;
    ///   `enrolmentBindingUnavailable` if it requires an enrolment set and there is none; `unimplemented` if this
    ///   authority approves nothing.
    func binding(storeID: [UInt8], _ rule: AccessControl) throws(Failure) -> KeyBinding
    /// Approves one use of a key.
    ///
    /// - Throws: `notPermitted` if the tokens do not permit it any more, so that the person has to be asked again;
    ///   `itemAuthenticationFailed` for a key that is not bound to this authority, access control and enrolment set.
    func approve(_ request: KeyApprovalRequest) throws(Failure) -> KeyApproval
}

/// A request to approve one use of a key.
package struct KeyApprovalRequest: Equatable, Sendable {
    /// The identifier of the store that has the key, 16 bytes.
    package var storeID: [UInt8]
    /// The access control of the key.
    package var rule: AccessControl
    package var subject: KeyChallenge.Subject
    /// The nonce of the challenge.
    package var nonce: [UInt8]
    /// The challenges of the tokens that prove the access control, 32 bytes each.
    package var tokens: [[UInt8]]

    /// Creates a request from its fields.
    package init(
        storeID: [UInt8], rule: AccessControl, subject: KeyChallenge.Subject, nonce: [UInt8], tokens: [[UInt8]]
    ) {
        self.storeID = storeID
        self.rule = rule
        self.subject = subject
        self.nonce = nonce
        self.tokens = tokens
    }
}
