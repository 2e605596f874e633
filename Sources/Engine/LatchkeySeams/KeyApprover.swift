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
