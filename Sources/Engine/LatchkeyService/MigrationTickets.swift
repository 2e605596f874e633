// SPDX-License-Identifier: Apache-2.0

import LatchkeyKeychain
import LatchkeyModel
import LatchkeyPolicy
import LatchkeySeams
import Synchronization

/// The user's permission to add the items of their own store, given on the connection of the command and used on the
/// connection of the own store's daemon.
struct MigrationTicket: Sendable {
    /// The bearer token, random bytes: the connection that presents it may use the ticket.
    let secret: SecretBytes
    /// The program that the prompt named, to which the proof belongs.
    let caller: Caller
    let proof: Authorisation
    /// When the ticket expires, in nanoseconds of the boot-time clock.
    let deadline: Int64
    let lease: BackupLease
}

/// The tickets that were issued. A ticket ends with a migration that it was used for, unless that asked first and added
/// nothing; with its time, the connection that requested it, and whatever revokes proofs: a lock of the device, a new
/// enrolment, or the end of the authority's connection.
final class MigrationTickets: Sendable {
    private struct Issued: Sendable {
        let secret: SecretBytes
        let deadline: Int64
        let issuer: ObjectIdentifier
        /// nil while a migration uses the ticket, which holds its lease.
        var ticket: MigrationTicket?
        /// Migrations that it may begin.
        var roundsLeft = Limits.ticketRounds
    }
    private let issued = Mutex<[Issued]>([])

    /// Adds a ticket of a session, in place of an earlier one.
    func add(_ ticket: MigrationTicket, of session: Session) {
        issued.withLock { issued in
            issued.removeAll { $0.issuer == ObjectIdentifier(session) }
            issued.append(
                Issued(
                    secret: ticket.secret, deadline: ticket.deadline, issuer: ObjectIdentifier(session), ticket: ticket)
            )
        }
    }

    /// Takes and returns the ticket with that secret, so that no second migration uses it; nil if none is valid.
    func take(_ secret: SecretBytes, now: Int64) -> MigrationTicket? {
        issued.withLock { issued in
            issued.removeAll { now >= $0.deadline }
            // Compares every ticket in constant time, so that the time tells nothing about their bytes.
            let matches = issued.indices.filter { issued[$0].secret == secret }
            guard let index = matches.first, let ticket = issued[index].ticket.take() else { return nil }
            issued[index].roundsLeft -= 1
            return ticket
        }
    }

    /// Makes a ticket valid again that a migration has taken and added nothing with. It stays void if it ended
    /// meanwhile. A program that asks again and again learns names and dates, so a ticket has a number of rounds.
    func giveBack(_ ticket: MigrationTicket) {
        issued.withLock { issued in
            guard let index = issued.firstIndex(where: { $0.secret == ticket.secret }) else { return }
            guard issued[index].roundsLeft > 0 else {
                issued.remove(at: index)
                return
            }
            issued[index].ticket = ticket
        }
    }

    /// Removes expired tickets, and with them the places that they hold.
    func expire(now: Int64) { issued.withLock { $0.removeAll { now >= $0.deadline } } }

    /// Removes the tickets of a session that ended or whose proofs were revoked.
    func remove(of session: Session) { issued.withLock { $0.removeAll { $0.issuer == ObjectIdentifier(session) } } }
}

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
