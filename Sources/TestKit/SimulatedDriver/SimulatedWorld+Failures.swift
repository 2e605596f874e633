// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
package import LatchkeySeams

extension SimulatedWorld {
    /// The transcript so far, one event per line.
    package var transcript: [String] { record.lines }

    /// Returns and clears the failure that a script set for the next item request; nil if there is none.
    func failureOfItems() -> Failure? {
        guard takeFailure(.missingEntitlement) else { return nil }
        return Failure(.missingEntitlement, "A script withdrew the entitlement for the access group from this call.")
    }
}

/// A store in which one write fails as if the disk were full, if the script requests it.
package final class ScriptedStore: ItemStore {
    private let store: any ItemStore
    private let world: SimulatedWorld

    /// Wraps a store of the machine of `world`.
    package init(_ store: any ItemStore, world: SimulatedWorld) { (self.store, self.world) = (store, world) }

    package func read<R>(_ body: (any ItemReading) throws(Failure) -> R) throws(Failure) -> R { try store.read(body) }

    package func problems() throws(Failure) -> [String] { try store.problems() }

    package func releaseMemory() { store.releaseMemory() }

    package func eraseOldCopies(waits: Bool) throws(Failure) -> Bool { try store.eraseOldCopies(waits: waits) }

    package func mergeLog() throws(Failure) -> Bool { try store.mergeLog() }

    package func write<R>(_ body: (any ItemWriting) throws(Failure) -> R) throws(Failure) -> R {
        try store.write { (store) throws(Failure) -> R in
            // Does all the work and then rolls it back, as for a disk that is full at the commit. A write that fails
            // for another reason writes nothing, and the fault stays for the next write.
            let result = try body(store)
            guard world.takeFailure(.diskFull) else { return result }
            throw Failure(.diskFull, "The simulated disk is full.", hint: "It has room again for the next write.")
        }
    }
}
