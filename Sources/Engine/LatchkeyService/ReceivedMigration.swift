// SPDX-License-Identifier: Apache-2.0

import LatchkeyKeychain
import LatchkeyModel
import LatchkeySeams

/// The items of a migration that have arrived on a connection.
struct ReceivedMigration: Sendable {
    let ticket: MigrationTicket
    /// The session's `proofEpoch` when the first items arrived.
    let epoch: UInt64
    var items: HeldItems
    /// When the migration ends without further items, in nanoseconds of the boot-time clock.
    var deadline: Int64 = 0
    /// Ends the migration at its deadline.
    var alarm: (any Alarm)?
}
