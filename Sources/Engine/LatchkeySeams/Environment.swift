// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

/// The role that provides the boot-time clock, the wall clock and timers.
package protocol Clock: AnyObject, Sendable {
    /// Nanoseconds since the machine started, including time asleep (`CLOCK_BOOTTIME`); monotonic.
    var uptime: Int64 { get }
    /// The boot identifier, at most 64 bytes; changes on every boot.
    var bootID: [UInt8] { get }
    /// Microseconds since 1970-01-01 00:00 UTC.
    var wallTime: Int64 { get }
    /// Calls `body` once, `seconds` from now, unless the alarm is cancelled first.
    func alarm(after seconds: Int64, _ body: @escaping @Sendable () -> Void) -> any Alarm
}

/// A scheduled call of `Clock.alarm`.
package protocol Alarm: AnyObject, Sendable {
    /// Prevents the call, unless it has begun.
    func cancel()
}

/// The role that provides random bytes.
package protocol RandomSource: AnyObject, Sendable {
    /// Returns `count` random bytes that are suitable as keys.
    func bytes(_ count: Int) throws(Failure) -> SecretBytes
}

/// The role that runs blocking work, such as durable writes, one piece after the other.
package protocol WorkQueue: AnyObject, Sendable {
    /// Runs `work` after all work submitted before; possibly before this call returns.
    func submit(_ extent: WorkExtent, _ work: @escaping @Sendable () -> Void)
}

/// An upper bound of the duration of work.
package enum WorkExtent: Sendable {
    /// At most one durable write that concerns one item.
    case oneItem
    /// Unbounded: any number of items or writes.
    case any
}
