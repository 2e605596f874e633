// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
import Synchronization

/// The number of the next use; shared by all modules, so that a module never accepts the use of another one.
private let nextUse = Atomic<UInt64>(1)

/// The uses of keys that a module has begun and not finished: each is taken at most once, their number is limited, and
/// one that is `Limits.begunKeyUseSeconds` old is refused.
package final class BegunKeyUses<State: Sendable>: Sendable {
    private let table: ExpiringTable<UInt64, State>

    package init(clock: any Clock) {
        table = ExpiringTable(clock: clock, seconds: Limits.begunKeyUseSeconds, limit: Limits.begunKeyUses)
    }

    package var count: Int { table.count }

    package func contains(_ use: KeyChallenge.Identifier) -> Bool { table.contains(use.number) }

    /// Stores the state of a new use.
    ///
    /// - Throws: `limitExceeded` if `Limits.begunKeyUses` uses are stored.
    package func begin(_ state: State) throws(Failure) -> KeyChallenge.Identifier {
        let number = nextUse.add(1, ordering: .relaxed).oldValue
        guard table.store(state, for: number, evictsOldest: false) else {
            throw Failure(
                .limitExceeded, "At most \(Limits.begunKeyUses) uses of keys wait for their approval.",
                hint: "Try again when earlier requests have been answered.")
        }
        return KeyChallenge.Identifier(number)
    }

    /// Removes a use and returns its state.
    ///
    /// - Throws: `timedOut` if the use is too old, ended before, or is one of another module.
    package func take(_ use: KeyChallenge.Identifier) throws(Failure) -> State {
        guard let state = table.take(use.number) else {
            throw Failure(.timedOut, "The use of the key has ended, or it was not approved in time.")
        }
        return state
    }

    /// Removes a use, if it has not ended.
    package func drop(_ use: KeyChallenge.Identifier) { table.take(use.number) }
}
