// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Values that are refused at a certain age, and wiped from memory by an alarm before they are twice as old.
///
/// One alarm serves all values, because an alarm for each would cost more than a signature.
package final class ExpiringTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Entry: Sendable {
        let value: Value
        /// Uptime at which the value is refused, in nanoseconds.
        let deadline: Int64
        let number: UInt64
    }
    private struct Table: Sendable {
        var entries: [Key: Entry] = [:]
        var last: UInt64 = 0
        /// The newest value when the alarm was set; nil while no alarm is set.
        var alarmNumber: UInt64?
        var alarm: (any Alarm)?
    }
    private let clock: any Clock
    private let seconds: Int64
    private let limit: Int
    private let table = Mutex(Table())

    /// Creates an empty table.
    ///
    /// - Parameters:
    ///   - seconds: the age at which values are refused.
    ///   - limit: the maximum number of values.
    package init(clock: any Clock, seconds: Int64, limit: Int) {
        (self.clock, self.seconds, self.limit) = (clock, seconds, limit)
    }

    package var count: Int { table.withLock { $0.entries.count } }

    /// Whether the table holds a value for the key, however old.
    package func contains(_ key: Key) -> Bool { table.withLock { $0.entries[key] != nil } }

    /// Stores a value.
    ///
    /// - Parameter evictsOldest: whether it replaces the oldest one if the table is full.
    /// - Returns: whether it was stored.
    package func store(_ value: Value, for key: Key, evictsOldest: Bool) -> Bool {
        let now = clock.uptime
        let (isStored, alarmNumber): (Bool, UInt64?) = table.withLock { table in
            if table.entries.count >= limit { table.entries = table.entries.filter { $0.value.deadline > now } }
            if table.entries.count >= limit, table.entries[key] == nil {
                guard evictsOldest, let oldest = table.entries.min(by: { $0.value.number < $1.value.number }) else {
                    return (false, nil)
                }
                table.entries[oldest.key] = nil
            }
            table.last += 1
            table.entries[key] = Entry(value: value, deadline: now &+ seconds &* 1_000_000_000, number: table.last)
            guard table.alarmNumber == nil else { return (true, nil) }
            table.alarmNumber = table.last
            return (true, table.last)
        }
        if let alarmNumber { setAlarm(for: alarmNumber) }
        return isStored
    }

    /// Returns a value, unless it is too old.
    package func value(for key: Key) -> Value? {
        let now = clock.uptime
        return table.withLock { table in table.entries[key].flatMap { now < $0.deadline ? $0.value : nil } }
    }

    /// Removes a value and returns it, unless it is too old.
    @discardableResult
    package func take(_ key: Key) -> Value? {
        let found = table.withLock { $0.entries.removeValue(forKey: key) }
        return found.flatMap { clock.uptime < $0.deadline ? $0.value : nil }
    }

    package func removeAll() { table.withLock { $0.entries = [:] } }

    /// Sets the alarm that wipes the values up to `number`, and all others that are too old by then.
    private func setAlarm(for number: UInt64) {
        let alarm = clock.alarm(after: seconds) { [weak self] in self?.wipe(through: number) }
        // An alarm that was called before this line may have been replaced already.
        table.withLock { if $0.alarmNumber == number { $0.alarm = alarm } }
    }

    /// A clock that cannot wait calls its alarms at once; the values up to `number` are then wiped too early, so that no
    /// alarm is set again and again.
    private func wipe(through number: UInt64) {
        let now = clock.uptime
        let newest = table.withLock { table in
            table.entries = table.entries.filter { $0.value.number > number && $0.value.deadline > now }
            table.alarmNumber = table.entries.values.map(\.number).max()
            return table.alarmNumber
        }
        if let newest { setAlarm(for: newest) }
    }
}
