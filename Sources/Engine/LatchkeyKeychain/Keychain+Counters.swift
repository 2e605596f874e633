// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
import LatchkeySeams

extension PolicyCounters {
    /// Whether they are at least as strict as those that replace lost counters (`PolicyState.useUpTries`).
    fileprivate var areUsedUp: Bool { biometryFailures >= 5 && passcodeFailures >= 6 }
}

extension Keychain {
    /// Stores the counters of failed tries; durable on return. Needs no free space.
    package func persist(_ stored: PolicyCounters) throws(Failure) {
        try counters.persist(
            stored, bootID: clock.bootID, above: try countersFloor(), generation: anchor.record?.committed ?? 0)
    }

    /// Returns the stored counters, and whether they were stored in this boot; nil when none were ever stored.
    ///
    /// Throws `storeUnreadable` when they are missing, were changed, or may have been restored from an earlier time.
    package func storedCounters() throws(Failure) -> (PolicyCounters, isOfThisBoot: Bool)? {
        let values = try counters.values(notBefore: try countersFloor())
        // When database and anchor do not match, the counters may have been restored from an earlier time too: they are
        // accepted only if they leave no try.
        guard !isRolledBack || values?.counters.areUsedUp == true else {
            throw Failure.damagedStore("its counters of failed tries may be older ones")
        }
        guard let stored = values else { return nil }
        return (stored.counters, isOfThisBoot(stored.bootID))
    }

    /// Throws `storeUnreadable` when the counters are missing, were changed or were restored from an earlier time.
    func checkCounters() throws(Failure) { _ = try counters.values(notBefore: try countersFloor()) }

    /// Whether a boot identifier is the current one; false for an empty one.
    func isOfThisBoot(_ bootID: [UInt8]) -> Bool { !bootID.isEmpty && bootID == clock.bootID }

    /// The newest serial number of the counters that the audit log or the anchor names.
    private func countersFloor() throws(Failure) -> UInt64 {
        let known = try store.read { (store) throws(Failure) in try audit.end(in: store).numbers.countersSerial }
        return max(known, anchor.record?.countersSerial ?? 0)
    }
}
