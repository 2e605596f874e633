// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
import LatchkeySeams
import LatchkeyWire

// The epoch of the enrolment set, in a file with the set that was seen last.

extension AuthorityFolder {
    /// The enrolment set that was seen last, and its epoch.
    struct SeenEnrolment: Equatable, Sendable {
        /// Empty if nothing was enrolled.
        var set: [UInt8]
        var epoch: [UInt8]
    }

    /// Returns the epoch of a set: at most 16 bytes, which are new whenever the set is another one than in the call before,
    /// also after a restart. Empty as long as the set has never changed. When a finger is added and removed again, the set is
    /// the earlier one, and what was bound to it before must end all the same. Blocks; a new epoch is durable before this
    /// returns.
    ///
    /// - Parameter set: the present set; nil if nothing is enrolled.
    /// - Throws: `storeUnreadable` for changed files, which are not replaced.
    package func epoch(of set: EnrolmentSet?) throws(Failure) -> [UInt8] {
        let set = set?.bytes ?? []
        return try seenEnrolment.withLock { (seen) throws(Failure) in
            let known: SeenEnrolment?
            if let seen { known = seen } else { known = try storedEnrolment() }
            if let known, known.set == set {
                seen = known
                return known.epoch
            }
            // The first set that is ever seen has no epoch, so that what was bound to it by an earlier version stays.
            let epoch: [UInt8] = known == nil ? [] : try random.bytes(16).copyBytes()
            var writer = CBORWriter()
            writer.array(2)
            writer.bytes(set)
            writer.bytes(epoch)
            try replace(enrolmentFile, .enrolment, writer.finish().copyBytes())
            seen = SeenEnrolment(set: set, epoch: epoch)
            return epoch
        }
    }

    private func storedEnrolment() throws(Failure) -> SeenEnrolment? {
        guard let body = try contents(of: enrolmentFile, .enrolment) else { return nil }
        var seen: SeenEnrolment?
        let isRead = Self.decode(body) { (reader) throws(WireError) in
            seen = try reader.tuple(2) { (reader) throws(WireError) in
                SeenEnrolment(set: try reader.bytes(limit: 64), epoch: try reader.bytes(limit: 16))
            }
        }
        guard isRead, let seen else { throw Self.changed(enrolmentFile) }
        return seen
    }
}
