// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
import LatchkeySeams

extension PolicyCounters {
    /// Whether they are at least as strict as counters that were lost: `PolicyState.useUpTries`.
    fileprivate var areUsedUp: Bool { biometryFailures >= 5 && passcodeFailures >= 6 }
}

extension Keychain {
    /// Keeps the counters of failed tries, durably when this returns. Needs no free space.
    package func keep(_ kept: PolicyCounters) throws(Failure) {
        try counters.keep(
            kept, bootID: clock.bootID, above: try countersFloor(), generation: anchor.record?.committed ?? 0)
    }

    /// The counters as they were kept, and whether the machine was restarted since; nil in a store
    /// that has not written any.
    /// Throws when they were changed, taken out, or replaced by older ones.
    package func keptCounters() throws(Failure) -> (PolicyCounters, isOfThisBoot: Bool)? {
        let values = try counters.values(notBefore: try countersFloor())
        // Beside a database that was rolled back the counters may be older ones as well: they are believed only if no try
        // is left.
        guard !isRolledBack || values?.counters.areUsedUp == true else {
            throw Failure.damagedStore("its counters of failed tries may be older ones")
        }
        guard let kept = values else { return nil }
        return (kept.counters, isOfThisBoot(kept.bootID))
    }

    /// Throws when the counters were changed, taken out, or replaced by older ones.
    func checkCounters() throws(Failure) { _ = try counters.values(notBefore: try countersFloor()) }

    /// Whether a boot identifier names this boot. A missing one names none.
    func isOfThisBoot(_ bootID: [UInt8]) -> Bool { !bootID.isEmpty && bootID == clock.bootID }

    /// The newest serial number of the counters that the database or the anchor knows of.
    private func countersFloor() throws(Failure) -> UInt64 {
        let known = try store.read { (store) throws(Failure) in try audit.end(in: store).numbers.countersSerial }
        return max(known, anchor.record?.countersSerial ?? 0)
    }
}
