// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

/// The time, twice: one that only goes forward, one that people read.
package protocol Clock: AnyObject, Sendable {
    /// Nanoseconds since the machine started, sleep included (`CLOCK_BOOTTIME`).
    var uptime: Int64 { get }
    /// Bytes that are others after every start of the machine; at most 64.
    var bootID: [UInt8] { get }
    /// Microseconds since 1970-01-01 00:00 UTC.
    var wallTime: Int64 { get }
    /// Calls `body` once, `seconds` from now, unless the alarm is cancelled first.
    func alarm(after seconds: Int64, _ body: @escaping @Sendable () -> Void) -> any Alarm
}

/// A call that is due later.
package protocol Alarm: AnyObject, Sendable {
    /// Makes sure that the call does not happen any more, unless it is happening.
    func cancel()
}

/// Where random bytes come from.
package protocol RandomSource: AnyObject, Sendable {
    /// `count` random bytes, fit for keys.
    func bytes(_ count: Int) throws(Failure) -> SecretBytes
}

/// Who runs work that blocks: durable writes and passcode checks, one after another.
package protocol WorkQueue: AnyObject, Sendable {
    /// Runs `work` after all work given before.
    func submit(_ extent: WorkExtent, _ work: @escaping @Sendable () -> Void)
}

/// How long work can take at most.
package enum WorkExtent: Sendable {
    /// One durable write about one item: as long as the disk takes once.
    case oneItem
    /// Any number of items, or a passcode that is stretched.
    case any
}

/// What a script may do to a simulated world; only the simulated tier has one.
package protocol SimulatedControls: AnyObject, Sendable {
    /// Carries out a command.
    /// - Returns: for a touch, whether a prompt was waiting for it; a touch that nobody waits for is kept for the next.
    func apply(_ command: SimulatorCommand) throws(Failure) -> Bool
    /// What the next request for items fails with, once, if a script said so.
    func failureOfItems() -> Failure?
    /// The passcode to check in place of what was typed: the right one, where anything is accepted.
    func passcode(for typed: SecretBytes) -> SecretBytes
    /// The recovery code that a prompt showed last; nil when none did.
    var shownRecoveryCode: SecretBytes? { get }
    /// The passcode, where it was seen.
    var knownPasscode: SecretBytes? { get }
    /// The passcode is that one from now on, or none.
    func learn(_ passcode: SecretBytes?)
    /// Why a script could not go on, once: what ended the prompt of an evaluation that was just refused.
    func takeScriptProblem() -> Failure?
    /// What happened so far, a line each.
    var transcript: [String] { get }
}
