// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

/// The role that tells two times of the same enrolment set from each other. When a finger is added and removed again, the
/// set is the earlier one, and what was bound to it before must end all the same.
package protocol EnrolmentEpochs: AnyObject, Sendable {
    /// Returns the epoch of a set: at most 16 bytes, which are new whenever the set is another one than in the call before,
    /// also after a restart. Empty as long as the set has never changed. Blocks; a new epoch is durable before this returns.
    ///
    /// - Parameter set: the present set; nil if nothing is enrolled.
    /// - Throws: `storeUnreadable` for changed files, which are not replaced.
    func epoch(of set: EnrolmentSet?) throws(Failure) -> [UInt8]
}
