// SPDX-License-Identifier: Apache-2.0

import LatchkeyKeychain
import LatchkeyModel
import LatchkeyService
import SimulatedDriver
import TestPromises
import TestSupport
import Testing

/// The items of a user's own store move to the system's keychain: all of them, or none.
@Suite struct MigrationTests {
    private let stores: TwoStores

    init() throws { stores = try TwoStores() }

    private func report(_ reply: Reply?) throws -> MigrationReport {
        guard case .migrated(let report)? = reply else {
            throw Failure(.internalFailure, "\(String(describing: reply))")
        }
        return report
    }

    @Test func itemsAreMovedWithTheirContents() throws {
        stores.add("one", "first")
        stores.add("two", "second")
        let report = try report(try stores.move())
        #expect(report.moved == 2 && report.rewrapped == 0 && report.remaining.count == 0 && report.lost.count == 0)
        #expect(report.groups == [MigratedGroup(group: "notes", target: "user:1000", count: 2)])
        #expect(try stores.moved == ["one": "user:1000 first", "two": "user:1000 second"])
        #expect(stores.destination.steps == ["connect", "page", "commit", "retire", "end"])
    }

    @Test func aReportBeforeTheMoveChangesNothing() throws {
        stores.add("one")
        stores.add("protected", "secret", AccessControl(constraints: .userPresence))
        let reply = stores.replies(stores.ownSession(), .migrate(Request.Migrate(ticket: nil)))().last
        let report = try report(reply)
        #expect(report.moved == 1 && report.rewrapped == 1)
        #expect(report.groups == [MigratedGroup(group: "notes", target: "", count: 2)])
        #expect(stores.destination.steps.isEmpty)
        #expect(try stores.moved.isEmpty)
    }

    @Test func aProtectedItemIsSealedUnderTheNewPasscode() throws {
        let rule = AccessControl(accessibility: .whenPasscodeSetThisDeviceOnly, constraints: .userPresence)
        let session = stores.ownSession()
        #expect(stores.replies(session, .passcode(.set(TwoStores.ownPasscode)))() == [.done])
        stores.add("protected", "hidden", rule)
        let command = stores.system.session()
        let ticket = try stores.ticket(command)
        let replies = stores.replies(session, .migrate(Request.Migrate(ticket: ticket)))
        #expect(replies().isEmpty, "the own store asks for its passcode first")
        #expect(stores.destination.steps.isEmpty)
        stores.ownWorld.perform(.passcode(TwoStores.ownPasscode))
        let report = try report(replies().last)
        #expect(report.rewrapped == 1 && report.moved == 0)
        #expect(try stores.moved.isEmpty, "it needs a proof there as well")
        #expect(try stores.system.keychain.itemCount() == 1)
    }

    @Test func aWrongOwnPasscodeMovesNothing() throws {
        let session = stores.ownSession()
        #expect(stores.replies(session, .passcode(.set(TwoStores.ownPasscode)))() == [.done])
        stores.add("one")
        let command = stores.system.session()
        let replies = stores.replies(session, .migrate(Request.Migrate(ticket: try stores.ticket(command))))
        stores.ownWorld.perform(.passcode(SecretBytes("9999".utf8)))
        stores.ownWorld.perform(.cancel)
        #expect(replies().compactMap(\.status) == [.userCancel])
        #expect(stores.destination.steps.isEmpty)
    }

    @Test func aMoveThatAsksLeavesTheOwnStoreInUseIfAnItemWouldBeKept() throws {
        stores.add("one", "own")
        let mail = stores.ownSession("mail")
        #expect(stores.replies(mail, TwoStores.add("one", "of mail"))() == [.done])
        let command = stores.system.session()
        let ticket = try stores.ticket(command)
        let asking = Request.migrate(Request.Migrate(ticket: ticket, asksIfItemsRemain: true))
        guard case .migrationWouldLeaveItems(let report)? = stores.replies(stores.ownSession(), asking)().last else {
            Issue.record("moved, or refused")
            return
        }
        #expect(report.moved == 1 && report.remaining.named.map(\.reason) == [.nameTaken])
        #expect(stores.destination.steps == ["connect", "page", "commit"])
        #expect(try stores.moved.isEmpty)
        stores.add("later")
        let moving = Request.migrate(Request.Migrate(ticket: ticket))
        let moved = try self.report(stores.replies(stores.ownSession(), moving)().last)
        #expect(moved.moved == 2 && moved.remaining.count == 1)
        #expect(stores.destination.steps.suffix(4) == ["page", "commit", "retire", "end"])
    }

    // MARK: - Ends at each step

    /// The steps are connect, page, commit, retire.
    @Test(.promise("migration.ticket"), arguments: 1...4) func afterAnEndAtAnyStepASecondMoveCompletesIt(
        step: Int
    ) throws {
        stores.add("one", "first")
        stores.destination.state.withLock { $0.failingStep = step }
        let failed = try stores.move()
        #expect(failed?.status == .daemonUnavailable)
        // The own store remains in use, with everything in it.
        stores.add("two", "second")
        #expect(try stores.moved == (step < 4 ? [:] : ["one": "user:1000 first"]))
        stores.destination.state.withLock { $0.failingStep = nil }
        let report = try report(try stores.move())
        #expect(report.moved + report.present == 2 && report.present == (step < 4 ? 0 : 1))
        #expect(try stores.moved == ["one": "user:1000 first", "two": "user:1000 second"])
    }

    @Test func anItemChangedAfterAnIncompleteMoveReplacesTheOlderOne() throws {
        stores.add("one", "first")
        stores.destination.state.withLock { $0.failingStep = 4 }
        _ = try stores.move()
        let update = Request.UpdateItems(secret: SecretBytes("changed".utf8))
        stores.system.clock.advance(seconds: 60)
        #expect(stores.replies(stores.ownSession(), .updateItems(update))() == [.done])
        stores.destination.state.withLock { $0.failingStep = nil }
        let report = try report(try stores.move())
        #expect(report.moved == 1 && report.replaced.count == 1)
        #expect(try stores.moved == ["one": "user:1000 changed"])
    }

    @Test func afterTheMoveTheOwnStoreRefusesWrites() throws {
        stores.add("one")
        _ = try stores.move()
        let reply = stores.replies(stores.ownSession(), TwoStores.add("late", "x"))().last
        #expect(reply?.status == .daemonUnavailable)
    }

    @Test func aLockOfTheSystemsKeychainBeforeTheCommitEndsTheMove() throws {
        stores.add("one")
        let system = stores.system
        stores.destination.state.withLock { $0.before = { if $0 == 3 { _ = system.answers(system.session(), .lock) } } }
        #expect(try stores.move()?.status == .invalidContext)
        #expect(try stores.system.keychain.itemCount() == 0)
        #expect(stores.destination.steps == ["connect", "page", "commit"])
    }

    @Test func theEndOfTheAuthorityBeforeTheCommitEndsTheMove() throws {
        stores.add("one")
        let system = stores.system
        stores.destination.state.withLock { $0.before = { if $0 == 3 { system.crashAuthority(refusing: true) } } }
        #expect(try stores.move()?.status == .invalidContext)
        #expect(try stores.system.keychain.itemCount() == 0)
    }

    @Test func onlyAStoreOfTierUserIsMoved() throws {
        let reply = stores.replies(stores.system.session(), .migrate(Request.Migrate(ticket: nil)))().last
        #expect(reply?.status == .notPermitted)
    }

    @Test func onlyTheSystemsKeychainReceivesItems() throws {
        let page = Request.ReceiveItems(ticket: SecretBytes([UInt8](repeating: 1, count: 16)), items: [], isLast: true)
        for request in [Request.beginMigration, .mapGroups(["notes"]), .receiveItems(page)] {
            #expect(stores.replies(stores.ownSession(), request)().last?.status == .notPermitted)
        }
    }
}
