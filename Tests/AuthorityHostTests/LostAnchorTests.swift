// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyAuthority
import LatchkeyKeychain
import LatchkeyModel
import LatchkeySeams
import SeamStandIns
import SimulatedDriver
import TestPromises
import Testing

@testable import AuthorityDaemon
@testable import SQLiteDriver

/// A store of tier `file` whose anchor is lost: the keychain does not know whether there is a passcode, `latchkey-authd` does.
@Suite struct LostAnchorTests {
    private let passwords = ScriptedPasswords("account password")

    /// Both services after the anchor was lost, and perhaps a passcode was set before.
    private func machine(withPasscode: Bool) throws -> TwoServices {
        let first = try TwoServices(WorldState(sensor: .none), passwords: passwords, firstPasscode: .own)
        if withPasscode {
            let replies = first.answers(first.session(), .passcode(.setAtPrompt))
            type("account password", on: first)
            first.enterNew("abcdef")
            #expect(replies() == [.done])
            try first.addSecret()
        }
        first.end()
        try first.disk.vault.replaceAnchor(SecretBytes([0]))
        let machine = try TwoServices(
            WorldState(sensor: .none), after: first.disk, passwords: passwords, firstPasscode: .own)
        #expect(try isRefused(machine))
        return machine
    }

    private func type(_ text: String, on machine: TwoServices) {
        machine.world.perform(.passcode(SecretBytes(text.utf8)))
    }

    /// Whether the keychain still refuses requests because of its anchor.
    private func isRefused(_ machine: TwoServices) throws -> Bool {
        try machine.keychain.anchor.condition == .anchorMissing
    }

    @Test(.promise("anchor.missing")) func noProgramDiscardsTheProtectedItemsWithoutThePasscode() throws {
        let machine = try machine(withPasscode: true)
        let replies = machine.answers(machine.session(), .discardProtected)
        type("another", on: machine)
        #expect(try replies().isEmpty && isRefused(machine))
        machine.world.perform(.cancel)
        #expect(try replies().compactMap(\.status) == [.userCancel] && isRefused(machine))
    }

    @Test func thePasscodeDiscardsTheProtectedItemsAndItself() throws {
        let machine = try machine(withPasscode: true)
        let replies = machine.answers(machine.session(), .discardProtected)
        type("abcdef", on: machine)
        #expect(try replies() == [.done] && !isRefused(machine))
        #expect(try !machine.authority.state.isPasscodeSet && machine.records() == PasscodeRecords())
        #expect(try machine.secret() == nil)
        let again = machine.answers(machine.session(), .passcode(.setAtPrompt))
        type("account password", on: machine)
        machine.enterNew("uvwxyz")
        #expect(again() == [.done])
    }

    @Test func aForgottenPasscodeIsDiscardedWithThePasswordOfTheAccount() throws {
        let machine = try machine(withPasscode: true)
        let replies = machine.answers(machine.session(), .discardForgotten)
        type("account password", on: machine)
        #expect(try replies() == [.done] && !isRefused(machine))
        #expect(try machine.records() == PasscodeRecords())
    }

    @Test func withoutAPasscodeThePasswordOfTheAccountIsAskedFor() throws {
        let machine = try machine(withPasscode: false)
        let replies = machine.answers(machine.session(), .discardProtected)
        #expect(try replies().isEmpty && isRefused(machine))
        type("account password", on: machine)
        #expect(try replies() == [.done] && !isRefused(machine))
    }

    @Test func withoutLatchkeyAuthdNothingIsDiscarded() throws {
        for withPasscode in [true, false] {
            let machine = try machine(withPasscode: withPasscode)
            machine.crashAuthority(refusing: true)
            let replies = machine.answers(machine.session(), .discardProtected)
            #expect(try replies().compactMap(\.status).count == 1 && isRefused(machine))
        }
    }

    /// Services that have ended, whose passcode was set after the time of their anchor.
    private func withAnEarlierAnchor() throws -> TwoServices {
        let services = try TwoServices(WorldState(sensor: .none), passwords: passwords, firstPasscode: .own)
        let earlier = try #require(try services.disk.vault.anchor())
        let replies = services.answers(services.session(), .passcode(.setAtPrompt))
        type("account password", on: services)
        services.enterNew("abcdef")
        #expect(replies() == [.done])
        services.end()
        try services.disk.vault.replaceAnchor(earlier)
        return services
    }

    /// An anchor of a time without a passcode does not say that none is set now, and latchkey-authd cannot be asked.
    @Test(.promise("rollback.passcode")) func anOlderAnchorIsNotAcceptedWithoutLatchkeyAuthd() throws {
        let first = try withAnEarlierAnchor()
        let machine = try TwoServices(
            WorldState(sensor: .none), after: first.disk, passwords: passwords, firstPasscode: .own)
        let condition = try machine.keychain.anchor.condition
        #expect(condition.refusal != nil)
        machine.crashAuthority(refusing: true)
        #expect(machine.answers(machine.session(), .acceptStore)().compactMap(\.status) == [.daemonUnavailable])
        #expect(try machine.keychain.anchor.condition == condition)
        machine.allowConnections()
        machine.clock.advance(seconds: 2)
        let accepted = machine.answers(machine.session(), .acceptStore)
        #expect(accepted().isEmpty)
        type("abcdef", on: machine)
        #expect(accepted().isEmpty, "the passcode alone accepts nothing")
        confirm("accept", on: machine)
        #expect(try accepted() == [.done] && machine.keychain.anchor.condition == .clean)
    }

    /// The records of latchkey-authd and the older anchor have no passcode, but the audit log says that one was set: the
    /// program that put the anchor back and removed the records would choose the next passcode.
    @Test(.promise("rollback.passcode")) func anAnchorFromBeforeThePasscodeIsNotAcceptedIfTheLogHasOne() throws {
        let first = try withAnEarlierAnchor()
        try FileManager.default.removeItem(atPath: first.disk.folder.path + "/\(TwoServices.userID)")
        let machine = try TwoServices(
            WorldState(sensor: .none), after: first.disk, passwords: passwords, firstPasscode: .own)
        #expect(try machine.keychain.anchor.condition == .anchorOld)
        let accepted = machine.answers(machine.session(), .acceptStore)
        confirm("accept", on: machine)
        #expect(try accepted().compactMap(\.status) == [.anchorOld] && machine.keychain.anchor.condition == .anchorOld)
    }

    /// The same, with what shows it removed from the database: the store generation, or entries of the audit log.
    @Test(
        .promise("rollback.passcode"),
        arguments: [
            ["DELETE FROM record WHERE name = 'state'"], ["DELETE FROM audit WHERE sequence = 1"],
            ["UPDATE audit SET sealed = x'00'"], ["DELETE FROM audit"],
            [
                "DELETE FROM record WHERE name = 'state'", "DELETE FROM audit",
                "DELETE FROM record WHERE name = 'audit.end'",
            ],
        ])
    func whatIsMissingInTheLogMayBeThePasscode(changes: [String]) throws {
        let first = try withAnEarlierAnchor()
        try FileManager.default.removeItem(atPath: first.disk.folder.path + "/\(TwoServices.userID)")
        let store = try #require(first.disk.store as? SQLiteItemStore)
        for change in changes { try store.writer.execute(change) }
        let machine = try TwoServices(
            WorldState(sensor: .none), after: first.disk, passwords: passwords, firstPasscode: .own)
        let condition = try machine.keychain.anchor.condition
        #expect(condition.refusal != nil)
        let accepted = machine.answers(machine.session(), .acceptStore)
        confirm("accept", on: machine)
        let statuses = accepted().compactMap(\.status)
        #expect(statuses == [.anchorOld])
        #expect(try machine.keychain.anchor.condition == condition)
    }

    /// In these tiers too, a store without a passcode is accepted after a word at the prompt only.
    @Test(.promise("rollback.end")) func withoutAPasscodeTheWordIsAskedFor() throws {
        let first = try TwoServices(WorldState(sensor: .none), passwords: passwords, firstPasscode: .own)
        let earlier = try #require(try first.disk.vault.anchor())
        #expect(first.answers(first.session(), TwoStores.add("one", "secret"))() == [.done])
        try first.keychain.moveAnchor(isTimed: false)
        first.end()
        try first.disk.vault.replaceAnchor(earlier)
        let machine = try TwoServices(
            WorldState(sensor: .none), after: first.disk, passwords: passwords, firstPasscode: .own)
        let condition = try machine.keychain.anchor.condition
        #expect(condition == .anchorOld)
        let wrong = machine.answers(machine.session(), .acceptStore)
        #expect(wrong().isEmpty)
        confirm("yes", on: machine)
        #expect(try wrong().compactMap(\.status) == [.userCancel] && machine.keychain.anchor.condition == condition)
        let accepted = machine.answers(machine.session(), .acceptStore)
        confirm("accept", on: machine)
        #expect(try accepted() == [.done] && machine.keychain.anchor.condition == .clean)
    }

    private func confirm(_ word: String, on machine: TwoServices) {
        machine.world.perform(.recoveryCode(SecretBytes(word.utf8)))
    }
}
