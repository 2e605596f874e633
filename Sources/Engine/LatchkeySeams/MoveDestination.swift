// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

/// The role of the system's keychain for the daemon of a user's own store, which moves its items there.
package protocol MoveDestination: AnyObject, Sendable {
    /// Connects to the system's keychain, after verifying who serves it.
    ///
    /// - Throws: `itemNotFound` if this machine has no system keychain, `notPermitted` if programs would not use it
    ///   after the move.
    func connect() throws(Failure) -> any MoveConnection
    /// Marks the own store as moved, durably and in one step: programs use the system's keychain from then on.
    func retireStore() throws(Failure)
    /// Ends the process after the replies that were sent so far, so that connected programs connect again.
    func endProcess()
}

/// A connection to the system's keychain. It ends when it is released; items that were not committed are then dropped.
package protocol MoveConnection: AnyObject, Sendable {
    /// Sends items and waits for the answer, at most `Limits.requestSeconds`; nil while further items are expected.
    func send(_ items: Request.ReceiveItems) throws(Failure) -> MigrationOutcome?
}
