// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
import Synchronization

/// The number of the next use; shared by all modules, so that a module never accepts the use of another one.
private let nextUse = Atomic<UInt64>(1)

/// The uses of keys that a module has begun and not finished: each is taken at most once, their number is limited, and
/// an old one is dropped.
///
/// A use is refused once it is `Limits.begunKeyUseSeconds` old, and wiped from memory by an alarm within as many seconds
/// after that. One alarm serves all uses, because an alarm for each would cost more than a signature.
package final class BegunKeyUses<State: Sendable>: Sendable {
    private struct Use: Sendable {
        let state: State
        /// Uptime at which the use is refused, in nanoseconds.
        let deadline: Int64
    }
    private struct Table: Sendable {
        var uses: [UInt64: Use] = [:]
        /// The newest use when the alarm was set; nil while no alarm is set.
        var alarmNumber: UInt64?
        var alarm: (any Alarm)?
    }
    private let clock: any Clock
    private let table = Mutex(Table())

    /// Creates an empty table.
    package init(clock: any Clock) { self.clock = clock }

    /// The number of uses that the table holds.
    package var count: Int { table.withLock { $0.uses.count } }

    /// Whether a use has begun and not ended.
    package func contains(_ use: KeyChallenge.Identifier) -> Bool { table.withLock { $0.uses[use.number] != nil } }

    /// Stores the state of a new use.
    ///
    /// - Throws: `limitExceeded` if `Limits.begunKeyUses` uses are stored.
    package func begin(_ state: State) throws(Failure) -> KeyChallenge.Identifier {
        let now = clock.uptime
        let number = nextUse.add(1, ordering: .relaxed).oldValue
        let use = Use(state: state, deadline: now &+ Limits.begunKeyUseSeconds &* 1_000_000_000)
        let (isStored, setsAlarm) = table.withLock { table in
            if table.uses.count >= Limits.begunKeyUses { table.uses = table.uses.filter { $0.value.deadline > now } }
            guard table.uses.count < Limits.begunKeyUses else { return (false, false) }
            table.uses[number] = use
            guard table.alarmNumber == nil else { return (true, false) }
            table.alarmNumber = number
            return (true, true)
        }
        guard isStored else {
            throw Failure(
                .limitExceeded, "At most \(Limits.begunKeyUses) uses of keys wait for their approval.",
                hint: "Try again when earlier requests have been answered.")
        }
        if setsAlarm { setAlarm(for: number) }
        return KeyChallenge.Identifier(number)
    }

    /// Removes a use and returns its state.
    ///
    /// - Throws: `timedOut` if the use is too old, ended before, or is one of another module.
    package func take(_ use: KeyChallenge.Identifier) throws(Failure) -> State {
        let found = table.withLock { $0.uses.removeValue(forKey: use.number) }
        guard let found, clock.uptime < found.deadline else {
            throw Failure(.timedOut, "The use of the key has ended, or it was not approved in time.")
        }
        return found.state
    }

    /// Removes a use, if it has not ended.
    package func drop(_ use: KeyChallenge.Identifier) {
        _ = table.withLock { $0.uses.removeValue(forKey: use.number) }
    }

    /// Sets the alarm that drops the uses up to `number`, and all others that are too old by then.
    private func setAlarm(for number: UInt64) {
        let alarm = clock.alarm(after: Limits.begunKeyUseSeconds) { [weak self] in self?.dropOld(through: number) }
        // An alarm that was called before this line may have been replaced already.
        table.withLock { if $0.alarmNumber == number { $0.alarm = alarm } }
    }

    /// A clock that cannot wait calls its alarms at once; the uses up to `number` are then dropped too early, so that
    /// no alarm is set again and again.
    private func dropOld(through number: UInt64) {
        let now = clock.uptime
        let newest = table.withLock { table in
            table.uses = table.uses.filter { $0.key > number && $0.value.deadline > now }
            table.alarmNumber = table.uses.keys.max()
            return table.alarmNumber
        }
        if let newest { setAlarm(for: newest) }
    }
}
