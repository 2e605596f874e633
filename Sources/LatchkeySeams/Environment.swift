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

/// The role that executes a script's commands on a simulated machine; exists in the simulated tier only.
package protocol SimulatedControls: AnyObject, Sendable {
    /// Executes a command.
    ///
    /// - Returns: for an action of the user such as a touch, whether it was performed at once; otherwise it is queued
    ///   for the next prompt. True for every other command.
    func apply(_ command: SimulatorCommand) throws(Failure) -> Bool
    /// Returns and clears the failure that a script set for the next item request; nil if there is none.
    func failureOfItems() -> Failure?
    /// Returns the passcode to verify instead of the typed one: the correct one if the script accepts any passcode.
    func passcode(for typed: SecretBytes) -> SecretBytes
    /// The recovery code that a prompt showed last; nil if none did.
    var shownRecoveryCode: SecretBytes? { get }
    /// The current passcode; nil if the simulation has not seen it.
    var knownPasscode: SecretBytes? { get }
    /// Stores the current passcode; nil when it was removed.
    func learn(_ passcode: SecretBytes?)
    /// Returns and clears the failure of a script that ended the prompt of the evaluation just refused; nil if there is
    /// none.
    func takeScriptProblem() -> Failure?
    /// The transcript so far, one event per line.
    var transcript: [String] { get }
}
