// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyService
import SimulatedDriver
import TestPromises
import Testing

/// The system's keychain accepts items with a ticket only, and each ticket once.
@Suite struct MigrationTicketTests {
    private let stores: TwoStores
    private let command: Session

    init() throws {
        stores = try TwoStores()
        command = stores.system.session()
    }

    private func item(_ account: String) -> FoundItem {
        FoundItem(
            itemClass: .genericPassword,
            attributes: [.account: .text(account), .service: .text("mail"), .accessGroup: .text("notes")],
            accessControl: AccessControl(), secret: SecretBytes("secret".utf8))
    }

    private func send(
        _ ticket: SecretBytes, _ accounts: [String] = [], isLast: Bool, asks: Bool = false, on session: Session
    ) -> Reply? {
        let request = Request.ReceiveItems(
            ticket: ticket, items: accounts.map(item), isLast: isLast, asksIfItemsRemain: asks)
        return stores.replies(session, .receiveItems(request))().last
    }

    private var itemCount: Int64 { get throws { try stores.system.keychain.itemCount() } }

    @Test func itemsAreAddedAtTheEndOnly() throws {
        let (ticket, daemon) = (try stores.ticket(command), stores.system.session())
        #expect(send(ticket, ["one"], isLast: false, on: daemon) == .done)
        #expect(send(ticket, ["two"], isLast: false, on: daemon) == .done)
        #expect(try itemCount == 0)
        guard case .migrated(let report)? = send(ticket, ["three"], isLast: true, on: daemon) else {
            Issue.record("not committed")
            return
        }
        #expect(try report.moved == 3 && itemCount == 3)
    }

    @Test func aPasscodeIsRequired() throws {
        let system = try TwoServices(WorldState(sensor: .none))
        #expect(system.answers(system.session(), .beginMigration)().compactMap(\.status) == [.passcodeNotSet])
    }

    @Test func aWrongPasscodeGivesNoTicket() throws {
        let replies = stores.replies(command, .beginMigration)
        stores.system.world.perform(.passcode(SecretBytes("wrong".utf8)))
        stores.system.world.perform(.cancel)
        #expect(replies().compactMap(\.status) == [.userCancel])
    }

    @Test(.promise("migration.ticket")) func anUnknownTicketIsRefused() throws {
        _ = try stores.ticket(command)
        let guess = SecretBytes([UInt8](repeating: 0, count: 16))
        #expect(send(guess, ["one"], isLast: true, on: stores.system.session())?.status == .invalidContext)
        #expect(try itemCount == 0)
    }

    @Test(.promise("migration.ticket")) func aTicketIsAcceptedOnce() throws {
        let (ticket, daemon) = (try stores.ticket(command), stores.system.session())
        #expect(send(ticket, ["one"], isLast: false, on: daemon) == .done)
        #expect(send(ticket, ["two"], isLast: true, on: stores.system.session())?.status == .invalidContext)
        #expect(send(ticket, isLast: true, on: daemon)?.status == nil)
        #expect(send(ticket, ["two"], isLast: true, on: daemon)?.status == .invalidContext, "twice")
        #expect(try itemCount == 1)
    }

    @Test func anotherTicketDoesNotContinueAMigration() throws {
        let (ticket, daemon) = (try stores.ticket(command), stores.system.session())
        #expect(send(ticket, ["one"], isLast: false, on: daemon) == .done)
        let other = try stores.ticket(stores.system.session())
        #expect(send(other, ["two"], isLast: true, on: daemon)?.status == .invalidContext)
        #expect(send(ticket, isLast: true, on: daemon)?.status == .invalidContext, "a failure ends the migration")
        #expect(try itemCount == 0)
    }

    @Test func aMigrationThatAsksLeavesItsTicketValidIfItAddedNothing() throws {
        let (ticket, daemon) = (try stores.ticket(command), stores.system.session())
        for _ in 0..<2 {
            let reply = send(ticket, ["a", "a"], isLast: true, asks: true, on: daemon)
            guard case .migrationWouldLeaveItems(let report)? = reply else {
                Issue.record("added, or refused")
                return
            }
            #expect(try report.remaining.named.map(\.reason) == [.nameTaken] && itemCount == 0)
        }
        #expect(send(ticket, ["a", "a"], isLast: true, on: stores.system.session())?.status == nil)
        #expect(try itemCount == 1)
        #expect(send(ticket, ["b"], isLast: true, on: daemon)?.status == .invalidContext, "it was used")
    }

    @Test func aMigrationThatAsksUsesItsTicketUpIfItAddedItems() throws {
        let (ticket, daemon) = (try stores.ticket(command), stores.system.session())
        guard case .migrated? = send(ticket, ["one"], isLast: true, asks: true, on: daemon) else {
            Issue.record("not added")
            return
        }
        #expect(send(ticket, ["two"], isLast: true, on: daemon)?.status == .invalidContext)
        #expect(try itemCount == 1)
    }

    @Test func aTicketThatEndedDuringAMigrationThatAsksIsNotValidAgain() throws {
        let (ticket, daemon) = (try stores.ticket(command), stores.system.session())
        let other = stores.system.session()
        _ = try stores.ticket(other)
        #expect(send(ticket, ["a"], isLast: false, on: daemon) == .done)
        command.close()
        guard case .migrationWouldLeaveItems? = send(ticket, ["a"], isLast: true, asks: true, on: daemon) else {
            Issue.record("added, or refused")
            return
        }
        #expect(send(ticket, ["a"], isLast: true, on: daemon)?.status == .invalidContext)
        #expect(try itemCount == 0)
    }

    @Test func aTicketExpires() throws {
        let ticket = try stores.ticket(command)
        stores.system.clock.advance(seconds: Limits.ticketSeconds)
        #expect(send(ticket, ["one"], isLast: true, on: stores.system.session())?.status == .invalidContext)
    }

    @Test func aTicketExpiresDuringAMigration() throws {
        let (ticket, daemon) = (try stores.ticket(command), stores.system.session())
        for _ in 0..<(Limits.ticketSeconds / 50) {
            #expect(send(ticket, isLast: false, on: daemon) == .done)
            stores.system.clock.advance(seconds: 50)
        }
        #expect(send(ticket, ["one"], isLast: true, on: daemon)?.status == .invalidContext)
    }

    @Test func aPauseEndsAMigration() throws {
        let (ticket, daemon) = (try stores.ticket(command), stores.system.session())
        #expect(send(ticket, ["one"], isLast: false, on: daemon) == .done)
        stores.system.clock.advance(seconds: Limits.migrationIdleSeconds)
        #expect(send(ticket, isLast: true, on: daemon)?.status == .invalidContext)
        #expect(try itemCount == 0)
    }

    @Test func theEndOfTheCommandsConnectionVoidsItsTicket() throws {
        let ticket = try stores.ticket(command)
        command.close()
        #expect(send(ticket, ["one"], isLast: true, on: stores.system.session())?.status == .invalidContext)
    }

    @Test func aLockVoidsTickets() throws {
        let ticket = try stores.ticket(command)
        #expect(stores.replies(command, .lock)() == [.done])
        let unlocked = stores.replies(command, .unlock(Prompting()))
        stores.system.world.perform(.passcode(TwoStores.passcode))
        #expect(unlocked() == [.done])
        #expect(send(ticket, ["one"], isLast: true, on: stores.system.session())?.status == .invalidContext)
    }

    @Test func theEndOfTheAuthoritysConnectionVoidsTickets() throws {
        let ticket = try stores.ticket(command)
        stores.system.crashAuthority()
        #expect(send(ticket, ["one"], isLast: true, on: stores.system.session())?.status == .invalidContext)
    }

    @Test func aSecondTicketOfAConnectionReplacesTheFirst() throws {
        let (first, second) = (try stores.ticket(command), try stores.ticket(command))
        #expect(send(first, ["one"], isLast: true, on: stores.system.session())?.status == .invalidContext)
        #expect(send(second, ["one"], isLast: true, on: stores.system.session())?.status == nil)
    }

    @Test func ticketsCountAsMigrationsUnderWayUntilTheyExpire() throws {
        let commands = (0..<Limits.backups).map { _ in stores.system.session() }
        for command in commands { _ = try stores.ticket(command) }
        #expect(stores.replies(command, .beginMigration)().compactMap(\.status) == [.limitExceeded])
        stores.system.clock.advance(seconds: Limits.ticketSeconds)
        _ = try stores.ticket(command)
    }

    @Test func moreItemsThanTheLimitAreRefused() throws {
        let (ticket, daemon) = (try stores.ticket(command), stores.system.session())
        let page = (0..<Limits.migratedPageItems).map { "\($0)" }
        for _ in 0..<(Limits.migratedItems / Limits.migratedPageItems) {
            #expect(send(ticket, page, isLast: false, on: daemon) == .done)
        }
        #expect(send(ticket, ["one"], isLast: false, on: daemon)?.status == .limitExceeded)
        #expect(send(ticket, isLast: true, on: daemon)?.status == .invalidContext)
    }

    @Test func moreBytesThanTheLimitAreRefused() throws {
        let (ticket, daemon) = (try stores.ticket(command), stores.system.session())
        var large = item("large")
        large.secret = SecretBytes(count: Limits.secretBytes) { _ in }
        let request = Request.receiveItems(Request.ReceiveItems(ticket: ticket, items: [large], isLast: false))
        let count = Limits.migratedBytes / Limits.secretBytes
        for _ in 0..<(count - 1) { #expect(stores.replies(daemon, request)() == [.done]) }
        #expect(stores.replies(daemon, request)().last?.status == .limitExceeded)
    }

    private func events() throws -> [AuditLine] {
        try stores.system.keychain.recordGatheredRefusals()
        return try stores.system.keychain.log(Request.Log(after: 0, limit: 1024, verifies: true)).lines
    }

    /// A program that asks again and again learns names and dates.
    @Test(.promise("migration.reply")) func aTicketBeginsFewMigrations() throws {
        let (ticket, daemon) = (try stores.ticket(command), stores.system.session())
        for _ in 0..<Limits.ticketRounds {
            guard case .migrationWouldLeaveItems? = send(ticket, ["a", "a"], isLast: true, asks: true, on: daemon)
            else {
                Issue.record("added, or refused")
                return
            }
        }
        #expect(send(ticket, ["a", "a"], isLast: true, asks: true, on: daemon)?.status == .invalidContext)
        #expect(send(ticket, ["b"], isLast: true, on: daemon)?.status == .invalidContext)
        #expect(try itemCount == 0)
        // Its place is free again.
        for _ in 0..<Limits.backups { _ = try stores.ticket(stores.system.session()) }
    }

    @Test(.promise("migration.reply")) func everyMigrationThatAddedNothingIsInTheAuditLog() throws {
        let (ticket, daemon) = (try stores.ticket(command), stores.system.session())
        func refusals() throws -> UInt64 {
            try events().filter { $0.event == .refused }.reduce(0) { $0 + $1.count }
        }
        #expect(try refusals() == 0)
        for count: UInt64 in 1...3 {
            guard case .migrationWouldLeaveItems? = send(ticket, ["a", "a"], isLast: true, asks: true, on: daemon)
            else {
                Issue.record("added, or refused")
                return
            }
            #expect(try refusals() == count)
        }
        let guess = SecretBytes([UInt8](repeating: 0, count: 16))
        #expect(send(guess, ["one"], isLast: true, on: daemon)?.status == .invalidContext)
        #expect(try refusals() == 4, "an unknown ticket")
        var invalid = item("one")
        invalid.attributes?[.accessGroup] = nil
        let request = Request.ReceiveItems(ticket: ticket, items: [invalid], isLast: true)
        #expect(stores.replies(daemon, .receiveItems(request))().last?.status == .invalidParameter)
        #expect(try refusals() == 5, "an invalid item")
        #expect(try events().filter { $0.event == .refused }.allSatisfy { $0.caller == "notes" })
    }

    @Test func theUseOfATicketIsInTheAuditLog() throws {
        let (ticket, daemon) = (try stores.ticket(command), stores.system.session())
        #expect(send(ticket, ["one"], isLast: true, on: daemon)?.status == nil)
        let events = try stores.system.keychain.log(Request.Log(after: 0, limit: 1024, verifies: true)).lines
            .compactMap(\.event)
        #expect(events.suffix(3) == [.migrationAllowed, .added, .migrated])
    }
}
