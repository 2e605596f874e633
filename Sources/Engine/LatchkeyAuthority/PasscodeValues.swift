// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
package import LatchkeySeams
import Synchronization

/// The values of passcodes that a chip has accepted, by the challenges of the tokens that prove them. A value proves the
/// passcode to the keys of the chip, so that a passcode which was typed once can be used for several operations.
///
/// A value is refused once it is `Limits.passcodeValueSeconds` old, and wiped from memory by an alarm within as many
/// seconds after that.
package final class PasscodeValues: Sendable {
    private struct Held: Sendable {
        let value: SecretBytes
        /// Uptime at which the value is refused, in nanoseconds.
        let deadline: Int64
        let number: UInt64
    }
    private struct Table: Sendable {
        var held: [[UInt8]: Held] = [:]
        var next: UInt64 = 0
        /// The newest value when the alarm was set; nil while no alarm is set.
        var alarmNumber: UInt64?
        var alarm: (any Alarm)?
    }
    private let clock: any Clock
    private let table = Mutex(Table())

    /// Creates a table without values, whose alarms are those of `clock`.
    package init(clock: any Clock) { self.clock = clock }

    /// Whether no value is held.
    var isEmpty: Bool { table.withLock { $0.held.isEmpty } }

    /// Holds the value that a token proves. A new one replaces the oldest if there are as many as grants.
    func hold(_ value: SecretBytes, for token: [UInt8]) {
        let deadline = clock.uptime &+ Limits.passcodeValueSeconds &* 1_000_000_000
        let alarmNumber = table.withLock { table -> UInt64? in
            table.next += 1
            table.held[token] = Held(value: value, deadline: deadline, number: table.next)
            if table.held.count > KeyGrants.limit,
                let oldest = table.held.min(by: { $0.value.number < $1.value.number })
            {
                table.held[oldest.key] = nil
            }
            guard table.alarmNumber == nil else { return nil }
            table.alarmNumber = table.next
            return table.next
        }
        if let alarmNumber { setAlarm(for: alarmNumber) }
    }

    /// Returns the value that a token proves, unless it is too old.
    func value(for token: [UInt8]) -> SecretBytes? {
        let now = clock.uptime
        return table.withLock { table in table.held[token].flatMap { now < $0.deadline ? $0.value : nil } }
    }

    /// Wipes the value of a token.
    func remove(_ token: [UInt8]) { table.withLock { $0.held[token] = nil } }

    /// Wipes all values.
    package func removeAll() { table.withLock { $0.held = [:] } }

    /// Sets the alarm that wipes the values up to `number`, and all others that are too old by then.
    private func setAlarm(for number: UInt64) {
        let alarm = clock.alarm(after: Limits.passcodeValueSeconds) { [weak self] in self?.wipe(through: number) }
        // An alarm that was called before this line may have been replaced already.
        table.withLock { if $0.alarmNumber == number { $0.alarm = alarm } }
    }

    /// A clock that cannot wait calls its alarms at once; the values up to `number` are then wiped too early, so that no
    /// alarm is set again and again.
    private func wipe(through number: UInt64) {
        let now = clock.uptime
        let newest = table.withLock { table in
            table.held = table.held.filter { $0.value.number > number && $0.value.deadline > now }
            table.alarmNumber = table.held.values.map(\.number).max()
            return table.alarmNumber
        }
        if let newest { setAlarm(for: newest) }
    }
}
