// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

/// Where the root key and the enrolment record rest, outside the database.
///
/// A driver keeps them so that only the owner of the store reads them; every call blocks.
package protocol KeyVault: AnyObject, Sendable {
    /// The root key: 32 bytes.
    func rootKey() throws(Failure) -> SecretBytes
    /// The enrolment record as it was last kept; nil when there is none.
    func enrolmentRecord() throws(Failure) -> SecretBytes?
    /// Replaces the enrolment record durably; what it replaces is erased.
    func replaceEnrolmentRecord(_ record: SecretBytes) throws(Failure)
}
